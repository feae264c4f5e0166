"""How uncertainty takes colours away, on every map.

The palette suppresses values (Correll, Moritz and Heer, 2018): the wider an interval, the fewer
steps of colour there are. A share whose interval is wider than a step, and cannot be told from
what anybody would say without reports, has none: it is hatched. Where no interval is known, all
have two steps.
"""

from typing import Any, NamedTuple

import numpy as np

from nomadp.geometry import Floats
from nomadp.theme import theme

__all__ = ["HATCHED", "UNKNOWN", "Steps", "steps_of"]

CERTAIN = "certain"
UNKNOWN = "fair"
"""How certain shares look whose intervals are not known."""
HATCHED = "hatched"
"""The class of a share of which there is too little to say."""


class Steps(NamedTuple):
    """What each row of an answer looks like."""

    names: tuple[str, ...]
    """Of the colour: certain-1 to certain-4, fair-1, fair-2, unsure-1 or hatched."""
    edges: Floats
    """The shares at which the four steps of the certain begin, but for the first."""
    has_intervals: bool = True


def steps_of(
    value: Floats, ci_low: Floats, ci_high: Floats, significant: Any, top: float | None = None
) -> Steps:
    """Four steps where the interval is at most a step wide, fewer where it is wider.

    Each step is twice the one before: the last begins at half of ``top``, by default the
    greatest share. Where reports tell nothing apart, all are hatched.
    """
    if top is None:
        top = float(value.max()) if len(value) else 0.0
    nothing = not np.any(significant)
    edges = np.array(theme()["edges"]) * top
    # Where a share lies on the scale, in steps; one more, for intervals beyond the greatest.
    scale = np.array([0.0, *edges, top, 2 * top])
    at, start, end = (
        np.interp(each, scale, np.arange(6.0)) for each in (value, ci_low, ci_high)
    )
    names: list[str] = []
    if np.isnan(ci_low).any():
        steps = theme()["certainty"][UNKNOWN]["steps"]
        names = [f"{UNKNOWN}-{1 + min(int(place * steps / 4), steps - 1)}" for place in at]
        return Steps(tuple(names), edges, has_intervals=False)
    for place, width, apart in zip(at, end - start, significant, strict=True):
        rules = theme()["certainty"].items()
        word, rule = next(each for each in rules if width <= each[1]["widest"] + 1e-9)
        step = 1 + min(int(place * rule["steps"] / 4), rule["steps"] - 1)
        hidden = nothing or (not apart and word != CERTAIN)
        names.append(HATCHED if hidden else f"{word}-{step}")
    return Steps(tuple(names), edges)
