"""The base class of frequency oracles: one label of a trajectory, perturbed with all of
epsilon.

The label is a zone or a pair of zones, optionally combined with the part of the day or the
weekday. A report has the same size for trajectories of all lengths, so the guarantee covers the
length, too.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Part
from nomadp.errors import DomainError
from nomadp.laws import Ints, LabelLaw, law_of_labels
from nomadp.locations import LocationSet
from nomadp.mechanisms.base import Mechanism, Trajectory
from nomadp.mechanisms.report_law import ReportLaw
from nomadp.trajectory import HOURS, TrajectorySet
from nomadp.zones import Zones, zones_of

__all__ = ["WHEN", "LabelReports", "FrequencyOracle"]


class Slots(NamedTuple):
    """A division of the week into recurring runs of hours."""

    hours: int
    """Number of hours of each slot."""
    names: tuple[str, ...]

    def of(self, hour: Ints) -> Ints:
        slot: Ints = hour // self.hours % len(self.names)
        return slot


WHEN = {
    "day-part": Slots(6, ("0-6 h", "6-12 h", "12-18 h", "18-24 h")),
    "weekday": Slots(24, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")),
}


@dataclass(frozen=True, kw_only=True)
class FrequencyOracle(Mechanism):
    """Reports one label by subset selection or projective geometry response."""

    is_oracle: ClassVar[bool] = True

    zones: str | Zones = "grid:16"
    """The public partition: a rule such as grid:16 or h3:8, or a `Zones` object."""
    when: str | None = None
    """The time division that the label includes: None, day-part or weekday."""

    def __post_init__(self) -> None:
        super().__post_init__()
        zones: Any = self.zones
        if isinstance(zones, str):
            object.__setattr__(self, "zones", zones_of(self.locations, zones))
        elif not isinstance(zones, Zones) or zones.locations != self.locations:
            raise DomainError(
                "zones must be a rule such as grid:16, or Zones of the same location set",
                code="not_zones",
            )
        if self.when is not None and self.when not in WHEN:
            raise DomainError(
                f"when must be {' or '.join(WHEN)}, or left out, got "
                f"when={str(self.when)[:80]}",
                code="unknown_time_division",
                choices=tuple(WHEN),
            )
        # Building the law checks the number of labels.
        self.channel  # noqa: B018 - refuse now if there are more labels than a law supports

    @property
    def partition(self) -> Zones:
        """The zones of the labels."""
        return self.zones  # type: ignore[return-value]  # a rule was followed at construction

    @abstractmethod
    def place(self, zones: Ints) -> Any:
        """The place label, from the zones of a trajectory's points (first axis)."""

    @property
    @abstractmethod
    def places(self) -> int:
        """Number of place labels."""

    @abstractmethod
    def place_name(self, place: int) -> str:
        """The name of a place label."""

    @property
    def slots(self) -> Slots | None:
        """The time slots, if labels include the time."""
        return None if self.when is None else WHEN[self.when]

    @property
    def label_count(self) -> int:
        return self.places * (1 if self.slots is None else len(self.slots.names))

    def label_name(self, label: int) -> str:
        """The name of a label; label ``place * slots + slot`` combines a place and a slot."""
        if self.slots is None:
            return self.place_name(label)
        place, slot = divmod(label, len(self.slots.names))
        return f"{self.place_name(place)}, {self.slots.names[slot]}"

    @property
    def timed(self) -> bool:
        return self.when is not None

    def read(self, trajectory: Trajectory, hour: Any = None) -> Trajectory:
        """The trajectory and, if labels include the time, its hour as one more entry."""
        if not self.timed:
            return trajectory
        if hour is None:
            raise DomainError(
                f"every trajectory must have an hour, because when={self.when}; use data with "
                "times, or leave out when",
                code="hour_missing",
            )
        if isinstance(hour, bool) or int(hour) != hour or not 0 <= hour < HOURS:
            raise DomainError(
                f"an hour must be a whole number from 0 to {HOURS - 1}, counted from Monday; "
                "its value is withheld because it is private",
                code="hour_out_of_range",
            )
        return np.append(trajectory, int(hour))

    def inputs(self, length: int) -> Trajectory:
        trajectories = super().inputs(length)
        if self.slots is None:
            return trajectories
        # One hour of each slot represents it: the label depends on the slot alone.
        hours = self.slots.hours * np.arange(len(self.slots.names))
        columns = trajectories.shape[1]
        return np.vstack([np.tile(trajectories, len(hours)), np.repeat(hours, columns)])

    def _labels(self, read: Trajectory) -> Ints:
        points, hour = (read[:-1], read[-1]) if self.timed else (read, None)
        return self.labels_at(self.partition.of[points], hour)

    def labels_at(self, zones: Ints, hours: Ints | None) -> Ints:
        """Labels, from the zones of points (first axis) and the hours if they are used."""
        # Labels number pairs of a place and a slot, with the slot varying fastest.
        place: Ints = self.place(zones)
        if self.slots is None or hours is None:
            return place
        return place * len(self.slots.names) + self.slots.of(hours)

    @cached_property
    def channel(self) -> LabelLaw:
        """The law of the report."""
        return law_of_labels(self.label_count, self.epsilon)

    def split(self, length: int) -> Split:
        # One draw at any length: the law does not depend on it.
        self.check_length(length)
        return Split(self.epsilon, (Step("label", 0, 1, self.epsilon),))

    def parts(self, trajectory: Trajectory) -> Sequence[Part[int]]:
        return [(self._report, self._labels(trajectory))]

    def _report(self, label: Ints, choose: Choose) -> int:
        return choose("label", self.channel, label)

    def finish(self, released: Sequence[Any], choose: Choose) -> tuple[Any, ...]:
        return self.channel.report(released[0])

    @property
    def report_size(self) -> int:
        return self.channel.entry_size

    def report_offsets(self, offsets: Ints) -> Ints:
        return np.arange(len(offsets)) * self.channel.entries

    def report_law(self, length: int) -> "LabelReports":
        return LabelReports(self.locations, self.channel)

    def support_of(self, values: Ints, counts: Ints) -> Ints:
        """Number of reports that support each label: a sufficient statistic for estimates.

        ``values`` are the distinct values of all reports, and ``counts`` how often each occurs
        (`Counts`).
        """
        return self.channel.support(values, counts)

    def labels_of(self, values: tuple[int, ...]) -> tuple[str, ...]:
        support = self.support_of(np.array(values), np.ones(len(values), dtype=np.int64))
        return tuple(self.label_name(k) for k in np.flatnonzero(support).tolist())

    def hours_of(self, trajectories: TrajectorySet) -> Ints | None:
        """The hours of trajectories if labels include the time; refused if they are unknown."""
        if self.timed and trajectories.hours is None:
            self.read(trajectories.locations[:0])
        return trajectories.hours if self.timed else None

    def get_params(self) -> dict[str, Any]:
        """The zones by their rule, which names those of polygons by their hash."""
        return super().get_params() | {"zones": self.partition.rule}


@dataclass(frozen=True, eq=False)
class LabelReports(ReportLaw):
    """The report of a frequency oracle, which does not depend on the trajectory's length."""

    locations: LocationSet
    channel: LabelLaw
    whole: ClassVar[bool] = False

    def values(self, places: Ints, numbers: Ints | None = None) -> Ints:
        return np.where(self.channel.possible(places)[:, None], places, -1)
