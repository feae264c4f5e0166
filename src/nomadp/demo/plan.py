"""How large the demonstration is: everything that fixes its numbers, in one value."""

from dataclasses import dataclass

from nomadp.audit import AuditRequest
from nomadp.budget import as_epsilon

__all__ = ["FULL", "QUICK", "DemoPlan", "Setting"]

Setting = tuple[str, str]
"""A mechanism and an epsilon."""


@dataclass(frozen=True)
class DemoPlan:
    """The same plan gives the same numbers, whatever the machine."""

    seed: int = 1
    places: int = 1000
    trips: int = 2000
    evaluated: int = 600
    """Journeys behind every point of the charts."""
    shown: int = 24
    """Journeys on the map."""
    draws: int = 8
    """Reports of each shown journey, to show how random one report is."""
    mechanisms: tuple[str, ...] = ("exp", "tp", "atp", "atlas")
    epsilons: tuple[str, ...] = ("1", "2", "4", "8", "10")
    radii_km: tuple[float, ...] = (0.5, 1.0, 2.0)
    audited_epsilons: tuple[str, ...] = ("1", "4")
    audited_lengths: tuple[int, ...] = (1, 2, 3)
    sampler_draws: int = 1_000_000
    command: str = "nomadp demo"

    @property
    def settings(self) -> list[Setting]:
        """Every mechanism at every epsilon."""
        return [(name, epsilon) for name in self.mechanisms for epsilon in self.epsilons]

    @property
    def audits(self) -> list[AuditRequest]:
        """The audit in parts that can be walked at the same time; the gallery is the last."""
        parts = [
            AuditRequest(
                mechanisms=(name,),
                epsilons=(as_epsilon(epsilon),),
                lengths=(length,),
                published=(),
                gallery=(),
                draws=0,
                path_draws=0,
            )
            for name in self.mechanisms
            for epsilon in self.audited_epsilons
            for length in self.audited_lengths
        ]
        gallery = AuditRequest(
            mechanisms=(), epsilons=(as_epsilon(1),), draws=self.sampler_draws
        )
        return [*parts, gallery]


FULL = DemoPlan()
QUICK = DemoPlan(
    places=150,
    trips=120,
    evaluated=60,
    shown=8,
    draws=3,
    audited_epsilons=("1",),
    audited_lengths=(1, 2),
    sampler_draws=100_000,
    command="nomadp demo --quick",
)
