"""TraCS (PETS 2026): points of the unit square perturbed by continuous laws.

C reports the two coordinates of every point. D reports where a point lies as seen from the
last reported one: the direction, and how far along the way to the square's border. The two
laws have one shape: near the truth the density is s = e^(share/2), elsewhere 1/s, so that those
of any two inputs differ by at most e^share.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Drawing
from nomadp.geometry import Floats
from nomadp.mechanisms.continuous.base import ContinuousMechanism

__all__ = ["Circular", "CoordinateTracs", "DirectionTracs", "Linear", "border_distance"]

TURN = 2 * math.pi


@dataclass(frozen=True)
class Linear:
    """A number in [0, 1]: probably within a window that holds it and stays inside."""

    share: Fraction

    @property
    def odds(self) -> float:
        """s, which is also the odds of the window against the rest."""
        return math.exp(float(self.share) / 2)

    @property
    def width(self) -> float:
        """Of the window."""
        return 1 / (self.odds + 1)

    def start(self, value: float) -> float:
        """Where the window begins."""
        return min(max(value - self.width / 2, 0.0), 1 - self.width)

    def density(self, value: float, reported: float) -> float:
        inside = 0 <= reported - self.start(value) <= self.width
        return self.odds if inside else 1 / self.odds

    def draw(self, value: float, uniform: float) -> float:
        """The reported number that one uniform number picks."""
        near = self.odds / (self.odds + 1)
        start = self.start(value)
        if uniform < near:
            return start + self.width * uniform / near
        rest = (1 - self.width) * (uniform - near) / (1 - near)
        return rest if rest < start else rest + self.width


@dataclass(frozen=True)
class Circular:
    """An angle: probably within a window centred on it. The mean error is pi / (s + 1)."""

    share: Fraction

    def density(self, angle: float, reported: float) -> float:
        seen = ((reported - angle) / TURN + 0.5) % 1.0  # as a part of a turn, the truth at 1/2
        return Linear(self.share).density(0.5, seen) / TURN

    def draw(self, angle: float, uniform: float) -> float:
        """The reported angle in [0, 2 pi) that one uniform number picks."""
        seen = Linear(self.share).draw(0.5, uniform)
        return (angle + TURN * (seen - 0.5)) % TURN


DIRECTION_PART = Fraction(355, 468)  # pi / (pi + 1), with pi = 355/113: a split is exact

_WARNING = (
    "its laws are continuous and drawn in floats, for which the guarantee of the formula is "
    "not proved (the ratio of densities is tested, the program is not audited)"
)

Point = tuple[float, float]
CENTRE: Point = (0.5, 0.5)
_ALONG = 1e-9  # a direction this close to a side's own runs along it and never meets it


@dataclass(frozen=True, kw_only=True)
class CoordinateTracs(ContinuousMechanism):
    """TraCS-C: each coordinate on its own."""

    name: ClassVar[str] = "tracs-c"
    warning: ClassVar[str] = _WARNING

    def split(self, length: int) -> Split:
        share = self.epsilon / (2 * length)
        return Split(self.epsilon, (Step("coordinate", 0, 2 * length, share),))

    def moved(self, points: Floats, drawing: Drawing) -> Floats:
        linear = Linear(self.split(len(points)).shares()["coordinate"])
        return np.array(
            [[linear.draw(c, drawing.uniform()) for c in point] for point in points.tolist()]
        )


@dataclass(frozen=True, kw_only=True)
class DirectionTracs(ContinuousMechanism):
    """TraCS-D: direction and relative distance from the last reported point."""

    name: ClassVar[str] = "tracs-d"
    warning: ClassVar[str] = _WARNING

    def split(self, length: int) -> Split:
        each = self.epsilon / length
        bearing = Step("bearing", 0, length, DIRECTION_PART * each)
        return Split(self.epsilon, (bearing, Step("distance", 0, length, each - bearing.share)))

    def moved(self, points: Floats, drawing: Drawing) -> Floats:
        shares = self.split(len(points)).shares()
        circular, linear = Circular(shares["bearing"]), Linear(shares["distance"])
        here, moved = CENTRE, []
        for point in points.tolist():
            angle, part = seen_from(here, point)
            angle = circular.draw(angle, drawing.uniform())
            part = linear.draw(part, drawing.uniform())
            here = ahead(here, angle, part)
            moved.append(here)
        return np.array(moved)


def seen_from(here: Point, point: Point) -> tuple[float, float]:
    """The direction of a point, and how far along the way to the border it lies."""
    east, north = point[0] - here[0], point[1] - here[1]
    distance = math.hypot(east, north)
    if distance == 0:
        return 0.0, 0.0  # no direction: any will do, as long as it is randomised like all
    angle = math.atan2(north, east) % TURN
    border = border_distance(here, angle)
    return angle, min(distance / border, 1.0) if border > 0 else 0.0


def ahead(here: Point, angle: float, part: float) -> Point:
    """The point that lies so far along the way to the border."""
    distance = part * border_distance(here, angle)
    x, y = here[0] + distance * math.cos(angle), here[1] + distance * math.sin(angle)
    return min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)


def border_distance(here: Point, angle: float) -> float:
    """From a point of the unit square to its border, in this direction."""
    ways = [
        ((1.0 if part > 0 else 0.0) - at) / part
        for at, part in zip(here, (math.cos(angle), math.sin(angle)), strict=True)
        if abs(part) > _ALONG
    ]
    return max(min(ways), 0.0)
