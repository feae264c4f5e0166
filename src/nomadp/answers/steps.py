"""The colour steps of shares on maps. Uncertain shares have fewer steps.

This is a value-suppressing uncertainty palette (Correll, Moritz and Heer 2018): the wider the
interval, the fewer steps of colour. A share is hatched if its interval is wider than one step
and it does not differ significantly from the baseline. If intervals are unknown, all shares
have two steps.
"""

from typing import Any, NamedTuple

import numpy as np

from nomadp.geometry import Floats
from nomadp.theme import theme

__all__ = ["HATCHED", "UNKNOWN", "Steps", "steps_of"]

CERTAIN = "certain"
UNKNOWN = "fair"
"""The certainty whose colours shares without intervals have."""
HATCHED = "hatched"
"""The class of a share that is too uncertain to show."""


class Steps(NamedTuple):
    """The colour of each row of an estimate."""

    names: tuple[str, ...]
    """One of certain-1 to certain-4, fair-1, fair-2, unsure-1 and hatched for each row."""
    edges: Floats
    """The shares at which the second, third and fourth step of certain shares begin."""
    has_intervals: bool = True


def steps_of(
    value: Floats, ci_low: Floats, ci_high: Floats, significant: Any, top: float | None = None
) -> Steps:
    """Four steps for an interval of at most one step, and fewer for wider intervals.

    Each step is twice as wide as the previous one; the last begins at half of ``top``, by
    default the largest share. If no row is significant, all rows are hatched.
    """
    if top is None:
        top = float(value.max()) if len(value) else 0.0
    none_significant = not np.any(significant)
    edges = np.array(theme()["edges"]) * top
    # Positions on the scale in units of steps; a fifth step is for limits above the top.
    scale = np.array([0.0, *edges, top, 2 * top])
    position, start, end = (
        np.interp(shares, scale, np.arange(6.0)) for shares in (value, ci_low, ci_high)
    )
    names: list[str] = []
    if np.isnan(ci_low).any():
        steps = theme()["certainty"][UNKNOWN]["steps"]
        names = [f"{UNKNOWN}-{1 + min(int(at * steps / 4), steps - 1)}" for at in position]
        return Steps(tuple(names), edges, has_intervals=False)
    rules = theme()["certainty"]
    for at, width, is_significant in zip(position, end - start, significant, strict=True):
        certainty = next(name for name in rules if width <= rules[name]["widest"] + 1e-9)
        steps = rules[certainty]["steps"]
        step = 1 + min(int(at * steps / 4), steps - 1)
        is_hatched = none_significant or (not is_significant and certainty != CERTAIN)
        names.append(HATCHED if is_hatched else f"{certainty}-{step}")
    return Steps(tuple(names), edges)
