"""TP and ATP: pivots, directions and targets of both copies."""

from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel
from nomadp.mechanisms.fast.draws import near, response, toss, within
from nomadp.mechanisms.fast.values import Batch, Drawn, Plan, Tables
from nomadp.mechanisms.pivot.kernel_region import draw_anchor, draw_radius

__all__ = ["pivot_sampling"]


@kernel
def pivot_sampling(batch: Batch, tables: Tables, plan: Plan, drawn: Drawn) -> None:
    """Both copies of every trajectory, and its coins."""
    scratch = np.empty(len(tables.distance_km) + 1, dtype=np.int32)
    everywhere = np.arange(len(tables.distance_km)).astype(np.int32)
    for k in range(len(batch.offsets) - 1):
        start, end = batch.offsets[k], batch.offsets[k + 1]
        places, words = batch.locations[start:end], batch.words[k]
        mean = batch.means[k] if len(batch.means) else 0
        used = 0
        for copy in range(1 if plan.alone and end - start == 1 else 2):
            out = drawn.copies[copy, start:end]
            used = _copy(
                copy, (words, used, places, mean), tables, plan, (out, scratch, everywhere)
            )
        drawn.used[k] = toss(words, used, (start, end), plan, drawn)


@kernel
def _copy(copy: int, secret: Any, tables: Tables, plan: Plan, buffers: Any) -> int:
    """One copy of one trajectory; returns the words used so far."""
    words, used, places, mean = secret
    out, scratch, everywhere = buffers
    anchor, radius_km, span_km = -1, 0.0, plan.diameter_km
    domain = everywhere
    if plan.anchor[1] > 0:
        anchor, used = draw_anchor(words, used, mean, tables, plan)
        radius_km = plan.calibration[2]
        if radius_km < 0:
            radius_km = draw_radius(words[used:], anchor, places, tables, plan)
            used += 1
        row_km, order = tables.distance_km[anchor], tables.order[anchor]
        domain = order[: within(row_km, order, radius_km)]
        span_km = min(plan.diameter_km, 2 * radius_km)
    size = len(places)
    disc = (anchor, radius_km, span_km)
    for i in range(copy, size, 2):
        row_km = tables.distance_km[places[i]]
        law = _law(plan.pivot[copy, size], row_km, disc)
        out[i], used = near(words, used, domain, row_km, law)
    for i in range(1 - copy, size, 2):
        row_km = tables.distance_km[places[i]]
        law = _law(plan.point[copy, size], row_km, disc)
        pivots = (out[i - 1] if i > 0 else -1, out[i + 1] if plan.both and i + 1 < size else -1)
        reported, used = _directions(words, used, places[i], pivots, (tables, plan, copy, size))
        found = _inside(domain, tables.sectors, pivots, reported, scratch)
        inside = scratch[:found] if found else domain
        out[i], used = near(words, used, inside, row_km, law)
    return used


@kernel
def _law(law: Any, row_km: Any, disc: Any) -> Any:
    """Scale, offset and ceiling of the exponential law for one secret."""
    anchor, radius_km, span_km = disc
    offset = max(0.0, row_km[anchor] - radius_km) if anchor >= 0 else 0.0
    return (law[0] / (2 * span_km) if span_km > 0 else 0.0, offset, law[1])


@kernel
def _directions(words: Any, used: int, place: int, pivots: Any, public: Any) -> Any:
    """The reported sector from each pivot there is, and the words used so far."""
    tables, plan, copy, size = public
    heavy = plan.heavy[copy, size]
    first = second = 0
    if pivots[0] >= 0:
        seen = np.int64(tables.sectors[pivots[0], place])
        first = response(words, used, seen, plan.sectors, heavy)
        used += 1
    if pivots[1] >= 0:
        seen = np.int64(tables.sectors[pivots[1], place])
        second = response(words, used, seen, plan.sectors, heavy)
        used += 1
    return (first, second), used


@kernel
def _inside(domain: Any, sectors: Any, pivots: Any, reported: Any, scratch: Any) -> int:
    """Write the locations in all reported sectors to ``scratch``; returns how many."""
    if pivots[0] < 0 and pivots[1] < 0:
        return 0
    if pivots[0] < 0 or pivots[1] < 0:
        only = 0 if pivots[1] < 0 else 1
        row, sector = sectors[pivots[only]], reported[only]
        found = 0
        for place in domain:
            scratch[found] = place
            found += row[place] == sector
        return found
    row, other = sectors[pivots[0]], sectors[pivots[1]]
    found = 0
    for place in domain:
        scratch[found] = place
        found += (row[place] == reported[0]) & (other[place] == reported[1])
    return found
