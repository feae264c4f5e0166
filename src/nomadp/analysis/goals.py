"""Which epsilon reaches a goal: worth the other way round.

Searched on a stated grid by halving, which takes for granted that more epsilon does not make
answers worse. The one that is found was simulated, and so was the one below it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from nomadp.analysis.worth import Quality, Worth, worth_of
from nomadp.budget import MAX_EPSILON
from nomadp.mechanisms import Mechanism

__all__ = ["STEP", "STEPS", "Goal", "Needed", "needed_epsilon"]

STEP = Fraction(1, 10)
STEPS = int(MAX_EPSILON / STEP)
ROUNDS = STEPS.bit_length() + 1
"""Simulations a search takes at most."""

Progress = Callable[[int], None]
"""Told how many simulations were finished since it was last called."""


@dataclass(frozen=True)
class Goal:
    """A mean error of at most ``error_km``, or ``percent`` of points within ``within_km``."""

    error_km: float | None = None
    percent: float | None = None
    within_km: float | None = None

    def __post_init__(self) -> None:
        if (self.error_km is None) == (self.percent is None):
            raise ValueError("a goal must be either an error in km or a percentage of points")
        if (self.percent is None) != (self.within_km is None):
            raise ValueError("a percentage of points must come with the radius that holds them")

    @property
    def radii_km(self) -> tuple[float, ...]:
        return () if self.within_km is None else (self.within_km,)

    def is_reached(self, quality: Quality) -> bool:
        """By a quality that was measured at the goal's own radius."""
        if self.error_km is not None:
            return quality.error_km <= self.error_km
        return self.percent is not None and quality.within_percent[0] >= self.percent

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Needed:
    """The answer: an epsilon of the grid, none at all, or none that is large enough."""

    verdict: Literal["found", "not needed", "out of reach"]
    epsilon: Fraction | None
    at: Worth
    """At that epsilon; at the largest one where none was found or needed."""
    below: Worth | None = None
    """One step below, where the goal is missed."""


def needed_epsilon(
    mechanism: Mechanism, length: int, goal: Goal, progress: Progress | None = None
) -> Needed:
    """The smallest epsilon of the grid at which the best answer reaches the goal.

    The mechanism's own epsilon is not used.
    """

    def at(step: int) -> Worth:
        tried = mechanism.with_params(epsilon=STEP * step)
        found = worth_of(tried, length, goal.radii_km)
        if progress is not None:
            progress(1)
        return found

    above = at(STEPS)
    if goal.is_reached(above.answers["constant"]):
        return Needed("not needed", None, above)
    if not goal.is_reached(above.best):
        return Needed("out of reach", None, above)
    missed, reached, below = 0, STEPS, None
    while reached - missed > 1:
        middle = (missed + reached) // 2
        found = at(middle)
        if goal.is_reached(found.best):
            reached, above = middle, found
        else:
            missed, below = middle, found
    return Needed("found", STEP * reached, above, below)
