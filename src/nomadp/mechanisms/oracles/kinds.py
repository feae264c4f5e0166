"""The frequency oracles: origin-destination pairs, origins, destinations and visits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nomadp.drawing import Choose, Part
from nomadp.laws import Ints, Uniform
from nomadp.mechanisms.base import Trajectory
from nomadp.mechanisms.oracles.base import FrequencyOracle
from nomadp.zones import Zones

__all__ = ["Ends", "Starts", "Trips", "Visits"]


@dataclass(frozen=True, kw_only=True)
class Trips(FrequencyOracle):
    """The origin-destination pair: the zones of a trajectory's first and last point."""

    name: ClassVar[str] = "trips"

    zones: str | Zones = "grid:4"

    def place(self, zones: Ints) -> Any:
        return zones[0] * len(self.partition) + zones[-1]

    @property
    def places(self) -> int:
        return len(self.partition) ** 2

    def place_name(self, place: int) -> str:
        start, end = divmod(place, len(self.partition))
        return f"{self.partition.names[start]} > {self.partition.names[end]}"


@dataclass(frozen=True, kw_only=True)
class OneZone(FrequencyOracle):
    """One zone of a trajectory."""

    @property
    def places(self) -> int:
        return len(self.partition)

    def place_name(self, place: int) -> str:
        return self.partition.names[place]


@dataclass(frozen=True, kw_only=True)
class Starts(OneZone):
    """The origin: the zone of a trajectory's first point."""

    name: ClassVar[str] = "starts"

    def place(self, zones: Ints) -> Any:
        return zones[0]


@dataclass(frozen=True, kw_only=True)
class Ends(OneZone):
    """The destination: the zone of a trajectory's last point."""

    name: ClassVar[str] = "ends"

    def place(self, zones: Ints) -> Any:
        return zones[-1]


@dataclass(frozen=True, kw_only=True)
class Visits(OneZone):
    """A visited zone: that of one random point, whose position is never released."""

    name: ClassVar[str] = "visits"

    def place(self, zones: Ints) -> Any:
        return zones[0]

    def parts(self, trajectory: Trajectory) -> Sequence[Part[int]]:
        return [(self._visit, trajectory)]

    def _visit(self, read: Trajectory, choose: Choose) -> int:
        # The position is drawn without looking at the trajectory, so the report is a mixture of
        # laws that each satisfy epsilon; the position itself is not part of the report.
        length = len(read) - self.timed
        point = choose("point", Uniform(length), None)
        rows = [point, length] if self.timed else [point]
        return self._report(self._labels(read[rows]), choose)
