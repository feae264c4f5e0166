"""Two continuous laws of one shape (TraCS): near the truth with density s, elsewhere 1/s.

With s = e^(share/2) the densities of any two inputs differ by at most e^share. That is the
formula; what runs is floats, so the laws are for experiments only.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Circular", "Linear"]

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
        return Linear(self.share).density(0.5, self._seen(angle, reported)) / TURN

    def draw(self, angle: float, uniform: float) -> float:
        """The reported angle in [0, 2 pi) that one uniform number picks."""
        seen = Linear(self.share).draw(0.5, uniform)
        return (angle + TURN * (seen - 0.5)) % TURN

    def _seen(self, angle: float, reported: float) -> float:
        """The reported angle as a part of a turn, with the truth at one half."""
        return ((reported - angle) / TURN + 0.5) % 1.0
