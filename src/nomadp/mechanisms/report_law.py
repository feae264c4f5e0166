"""How reports are read: the released values, and the law from which they were drawn."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from nomadp.errors import DomainError
from nomadp.laws import Channel, Ints
from nomadp.locations import LocationSet

__all__ = ["PointLaw", "ReportLaw", "Reported"]


class Reported(NamedTuple):
    """The reports of several trajectories, concatenated."""

    locations: Ints
    """Locations, or labels if the mechanism is a frequency oracle."""
    numbers: Ints | None
    """One for each report, if the mechanism releases a single number (`report_number`)."""


class ReportLaw(ABC):
    """The law of all reports of one length."""

    locations: LocationSet
    channel: Channel
    """The channel of each draw: one for a report, or one for each of its points."""
    whole: ClassVar[bool]
    """True if a report is one value; False if it is one value for each point."""

    @property
    def n_control_points(self) -> int | None:
        """Number of control points of a trajectory, if a report is one value.

        Lengths with the same number share one channel.
        """
        return None

    @abstractmethod
    def values(self, places: Ints, numbers: Ints | None = None) -> Ints:
        """The released values, from rows of reported locations and their numbers.

        One for each row or for each point; -1 if no trajectory produces such a report.
        """


@dataclass(frozen=True, eq=False)
class PointLaw(ReportLaw):
    """The law of mechanisms that perturb each point separately, over all locations."""

    locations: LocationSet
    channel: Channel
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not np.array_equal(self.channel.outputs, np.arange(len(self.locations))):
            raise DomainError(
                "the outputs of a law of single points must be all "
                f"{len(self.locations)} locations, in their order",
                code="law_outputs_mismatch",
                size=len(self.locations),
            )

    def values(self, places: Ints, numbers: Ints | None = None) -> Ints:
        return places
