"""What one trajectory became, and what several did."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nomadp.errors import DomainError
from nomadp.laws import Ints

if TYPE_CHECKING:
    from nomadp.mechanisms.base import Mechanism

__all__ = ["Report", "Reported", "SimulatedReport"]


class Reported(NamedTuple):
    """What several trajectories report, one after the other."""

    locations: Ints
    """Or labels, of a direct question."""
    numbers: Ints | None
    """One for each report, where a mechanism releases one (see `report_number`)."""


@dataclass(frozen=True)
class _Drawn:
    """What one trajectory became."""

    mechanism: "Mechanism"
    values: tuple[int, ...]
    """What is reported: locations, or what a direct question releases."""
    number: int | None = None
    """What was released, where that is one number (ATLAS: a row of the atlas)."""

    @property
    def locations(self) -> tuple[int, ...]:
        """Indices into the mechanism's public set, as many as the trajectory has."""
        if self.mechanism.asks:
            raise DomainError(
                f"a report of {self.mechanism.name} is an answer to a direct question and "
                "holds no locations; read its values, or its labels"
            )
        return self.values

    @property
    def labels(self) -> tuple[str, ...]:
        """What the report of a direct question supports; the truth is likelier among it."""
        return self.mechanism.labels_of(self.values)

    @property
    def location_ids(self) -> tuple[str, ...]:
        """The reported locations by their public ids."""
        return tuple(self.mechanism.locations.ids[k] for k in self.locations)


class Report(_Drawn):
    """What one trajectory reports under its mechanism's epsilon: it may leave the device.

    `Mechanism.report` makes it. It has ``mechanism``, ``locations`` (indices), ``location_ids``
    and, for ATLAS, the ``number`` of the row that was released; that of a direct question has
    ``labels``. Both are made of its ``values``.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> report = exp.report(city.trajectories[0])
    >>> len(report.location_ids) == len(city.trajectories[0])
    True
    """


class SimulatedReport(_Drawn):
    """The same, drawn from a seed or not private: for experiments, and no `Report`.

    `Mechanism.simulate` makes it. Whoever knows the seed can test guesses of the trajectory.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> simulated = exp.simulate(city.trajectories[0], seed=1)
    >>> isinstance(simulated, nomadp.Report)
    False
    """
