"""TP and ATP over a large set: the steps of kernel.py, on cells instead of tables."""

from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.draws import response
from nomadp.mechanisms.fast.values import Balls, Batch, Drawn, Plan
from nomadp.mechanisms.large.cell_sets import cells_in_disc, cells_in_sectors, new_cell_set
from nomadp.mechanisms.large.pairs import domain_of, km_between, sector_between
from nomadp.mechanisms.large.rejection import anywhere, inside

__all__ = ["draw_anchors", "draw_copies"]


@kernel
def draw_anchors(batch: Batch, balls: Balls, plan: Plan, drawn: Drawn, anchors: Any) -> None:
    """Perturb the mean location of each trajectory (ATP)."""
    scale = plan.anchor[0] / (2 * plan.diameter_km) if plan.diameter_km > 0 else 0.0
    law = (scale, 0.0, plan.anchor[1])
    for k in range(len(anchors)):
        anchors[k], drawn.used[k] = anywhere(
            batch.words[k], drawn.used[k], batch.means[k], law, balls
        )


@kernel
def draw_copies(
    batch: Batch, balls: Balls, plan: Plan, drawn: Drawn, copy: int, anchors: Any, radii_km: Any
) -> None:
    """Draw one copy of every trajectory, in the disc around its anchor (-1: no disc)."""
    cells = new_cell_set(balls), new_cell_set(balls)
    scratch = np.empty(len(balls.rows), dtype=np.int32), np.empty(len(balls.rows), np.int64)
    for k in range(len(anchors)):
        start, end = batch.offsets[k], batch.offsets[k + 1]
        if copy == 1 and plan.alone and end - start == 1:
            continue
        span_km = plan.diameter_km
        if anchors[k] >= 0:
            span_km = min(span_km, 2 * radii_km[k])
        drawn.used[k] = _copy(
            batch.words[k],
            drawn.used[k],
            batch.locations[start:end],
            balls,
            plan,
            copy,
            (anchors[k], radii_km[k], span_km),
            cells,
            scratch,
            drawn.copies[copy, start:end],
        )


@part
def _copy(
    words: Any,
    used: int,
    places: Any,
    balls: Balls,
    plan: Plan,
    copy: int,
    disc: Any,
    cells: Any,
    scratch: Any,
    out: Any,
) -> int:
    """One copy of one trajectory; returns the words used so far."""
    size = len(places)
    region = domain_of((disc[0], disc[1]), (-1, -1), (0, 0))
    cells_in_disc(balls, region, cells[0])
    # Pivots, over the whole region: the even positions of copy 0, the odd ones of copy 1.
    for i in range(copy, size, 2):
        law = _law(plan.pivot[copy, size], places[i], balls, disc)
        out[i], used = inside(words, used, places[i], law, balls, region, cells[0], scratch)
    # Targets, over the locations in the sectors that their neighbouring pivots report.
    for i in range(1 - copy, size, 2):
        # Out of words: pivots may be missing, and this row is drawn again with more words.
        if used > len(words):
            return used
        law = _law(plan.point[copy, size], places[i], balls, disc)
        pivots = (out[i - 1] if i > 0 else -1, out[i + 1] if plan.both and i + 1 < size else -1)
        reported, used = _directions(
            words, used, places[i], pivots, balls, plan.heavy[copy, size]
        )
        drawn = -1
        if pivots[0] >= 0 or pivots[1] >= 0:
            domain = domain_of((disc[0], disc[1]), pivots, reported)
            cells_in_sectors(balls, domain, cells[0], cells[1])
            drawn, used = inside(words, used, places[i], law, balls, domain, cells[1], scratch)
        if drawn < 0:
            # An empty domain is public, and replaced by the whole region.
            drawn, used = inside(words, used, places[i], law, balls, region, cells[0], scratch)
        out[i] = drawn
    return used


@part
def _law(law: Any, place: int, balls: Balls, disc: Any) -> Any:
    """Scale, offset and ceiling of the exponential law for one secret."""
    anchor, radius_km, span_km = disc
    offset = 0.0
    if anchor >= 0:
        offset = max(0.0, km_between(balls.rows, place, anchor) - radius_km)
    return (law[0] / (2 * span_km) if span_km > 0 else 0.0, offset, law[1])


@part
def _directions(
    words: Any, used: int, place: int, pivots: Any, balls: Balls, heavy: int
) -> Any:
    """The sector that each pivot reports, and the words used so far; -1 is no pivot."""
    count = len(balls.borders)
    first = second = 0
    if pivots[0] >= 0:
        sector = sector_between(balls.rows, pivots[0], place, balls.borders)
        first = response(words, used, sector, count, heavy)
        used += 1
    if pivots[1] >= 0:
        sector = sector_between(balls.rows, pivots[1], place, balls.borders)
        second = response(words, used, sector, count, heavy)
        used += 1
    return (first, second), used
