"""What reports are, and how they are read back: what each says was released, by which law."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from nomadp.errors import DomainError
from nomadp.laws import Channel, Ints
from nomadp.locations import LocationSet

__all__ = ["PointLaw", "ReportLaw", "Reported"]


class Reported(NamedTuple):
    """What several trajectories report, one after the other."""

    locations: Ints
    """Or labels, of a direct question."""
    numbers: Ints | None
    """One for each report, where a mechanism releases one (see `report_number`)."""


class ReportLaw(ABC):
    """The law of all reports of one length."""

    locations: LocationSet
    channel: Channel
    """What was drawn from: once for a report, or once for each of its points."""
    whole: ClassVar[bool]
    """True: a report is one value. False: it is one for each point, by the same channel."""

    @property
    def seen(self) -> int | None:
        """Through how many points a trajectory is reported, where a report is one value.

        Lengths for which that is the same have one channel.
        """
        return None

    @abstractmethod
    def values(self, places: Ints, numbers: Ints | None = None) -> Ints:
        """What was released, for rows of reported locations and the numbers they came with.

        One for each row or for each point; -1 where no trajectory gives such a report.
        """


@dataclass(frozen=True, eq=False)
class PointLaw(ReportLaw):
    """Each point on its own, by a channel from and to all locations; a point is its value."""

    locations: LocationSet
    channel: Channel
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not np.array_equal(self.channel.outputs, np.arange(len(self.locations))):
            raise DomainError(
                "a law of single points must lead to every location of its set of "
                f"{len(self.locations)}, in their order, and does not",
                code="law_outputs_mismatch",
                size=len(self.locations),
            )

    def values(self, places: Ints, numbers: Ints | None = None) -> Ints:
        return places
