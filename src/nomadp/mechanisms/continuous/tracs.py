"""TraCS (PETS 2026): points of the unit square, perturbed by continuous laws.

C reports the two coordinates of every point. D reports the direction of a point from the last
reported one, and its distance relative to the border of the square. Both laws have the same
shape: the density is s = e^(share/2) near the truth and 1/s elsewhere, so that the densities of
any two inputs differ by a factor of at most e^share.
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
    """A number in [0, 1], reported from a window around it with probability s / (s + 1).

    The window stays inside [0, 1]. With width 1 / (s + 1), its density is s, and the density of
    the rest is 1 / s.
    """

    share: Fraction

    @property
    def odds(self) -> float:
        """s, the odds of the window against the rest."""
        return math.exp(float(self.share) / 2)

    @property
    def width(self) -> float:
        """The width of the window."""
        return 1 / (self.odds + 1)

    def start(self, value: float) -> float:
        """The start of the window."""
        return min(max(value - self.width / 2, 0.0), 1 - self.width)

    def density(self, value: float, reported: float) -> float:
        inside = 0 <= reported - self.start(value) <= self.width
        return self.odds if inside else 1 / self.odds

    def draw(self, value: float, uniform: float) -> float:
        """The reported number for one uniform number, by inverse transform sampling."""
        near = self.odds / (self.odds + 1)
        start = self.start(value)
        if uniform < near:
            return start + self.width * uniform / near
        rest = (1 - self.width) * (uniform - near) / (1 - near)
        return rest if rest < start else rest + self.width


@dataclass(frozen=True)
class Circular:
    """An angle, reported from a window centred on it with probability s / (s + 1).

    The mean error is pi / (s + 1).
    """

    share: Fraction

    def density(self, angle: float, reported: float) -> float:
        turned = ((reported - angle) / TURN + 0.5) % 1.0  # in turns, with the truth at 1/2
        return Linear(self.share).density(0.5, turned) / TURN

    def draw(self, angle: float, uniform: float) -> float:
        """The reported angle in [0, 2 pi) for one uniform number."""
        turned = Linear(self.share).draw(0.5, uniform)
        return (angle + TURN * (turned - 0.5)) % TURN


DIRECTION_PART = Fraction(355, 468)  # pi / (pi + 1), with pi = 355/113: a split is exact

_WARNING = (
    "its laws are continuous and drawn in floats, for which the guarantee of the formula is "
    "not proved (the ratio of densities is tested, the program is not audited)"
)

Point = tuple[float, float]
CENTRE: Point = (0.5, 0.5)
_PARALLEL = 1e-9  # a direction this close to that of a side is parallel to it


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
        share = self.epsilon / length
        bearing = Step("bearing", 0, length, DIRECTION_PART * share)
        distance = Step("distance", 0, length, share - bearing.share)
        return Split(self.epsilon, (bearing, distance))

    def moved(self, points: Floats, drawing: Drawing) -> Floats:
        shares = self.split(len(points)).shares()
        circular, linear = Circular(shares["bearing"]), Linear(shares["distance"])
        # The first reference is the centre of the square, each further one a reported point.
        # Both are public, so a point's budget is used for that point alone.
        reference, moved = CENTRE, []
        for point in points.tolist():
            angle, fraction = to_polar(reference, point)
            angle = circular.draw(angle, drawing.uniform())
            fraction = linear.draw(fraction, drawing.uniform())
            reference = from_polar(reference, angle, fraction)
            moved.append(reference)
        return np.array(moved)


def to_polar(reference: Point, point: Point) -> tuple[float, float]:
    """The direction of a point, and its distance relative to the border in this direction."""
    east, north = point[0] - reference[0], point[1] - reference[1]
    distance = math.hypot(east, north)
    if distance == 0:
        return 0.0, 0.0  # no direction: any is as good, as long as it is randomised like others
    angle = math.atan2(north, east) % TURN
    border = border_distance(reference, angle)
    return angle, min(distance / border, 1.0) if border > 0 else 0.0


def from_polar(reference: Point, angle: float, fraction: float) -> Point:
    """The point in this direction, at this fraction of the distance to the border."""
    distance = fraction * border_distance(reference, angle)
    x, y = reference[0] + distance * math.cos(angle), reference[1] + distance * math.sin(angle)
    return min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)


def border_distance(reference: Point, angle: float) -> float:
    """The distance from a point of the unit square to its border, in this direction."""
    # The distance along the direction to each side that it approaches; the nearer side counts.
    distances = [
        ((1.0 if slope > 0 else 0.0) - coordinate) / slope
        for coordinate, slope in zip(reference, (math.cos(angle), math.sin(angle)), strict=True)
        if abs(slope) > _PARALLEL
    ]
    return max(min(distances), 0.0)
