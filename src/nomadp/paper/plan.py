"""How much is run: everything that fixes the size of an experiment, in one value."""

from dataclasses import asdict, dataclass
from typing import Any

from nomadp.mechanisms import PUBLISHED

__all__ = ["FULL", "QUICK", "Plan"]


@dataclass(frozen=True)
class Plan:
    """The paper's own amounts by default."""

    runs: int = 5
    """Repetitions of every cell, each with its own seed."""
    epsilons: tuple[str, ...] = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
    trajectories: int | None = None
    """At most so many of each data set, taken evenly; None means all of them."""
    audited_epsilons: tuple[str, ...] = ("0.5", "1", "2", "4", "6", "8", "10")
    audited_length: int = 2
    audited_published: tuple[str, ...] = tuple(PUBLISHED)
    """Forms that are not private, audited to show how much they are not."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


FULL = Plan()
QUICK = Plan(
    runs=2,
    epsilons=("1", "4", "10"),
    trajectories=150,
    audited_epsilons=("1", "4"),
    audited_published=("tp-as-published-not-private",),
)
"""The same experiments, small enough to look at while one waits."""
