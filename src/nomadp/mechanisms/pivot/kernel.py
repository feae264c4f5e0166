"""TP and ATP over square tables: first the anchors, then one copy of every trajectory.

These loops restate the program of tp.py: the same steps, in the same order, with the same laws.
"""

from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel
from nomadp.mechanisms.fast.draws import near, response, within
from nomadp.mechanisms.fast.values import Batch, Drawn, Plan, Tables

__all__ = ["draw_anchors", "draw_copies"]


@kernel
def draw_anchors(batch: Batch, tables: Tables, plan: Plan, drawn: Drawn, anchors: Any) -> None:
    """Perturb the mean location of each trajectory (ATP)."""
    everywhere = np.arange(len(tables.distance_km)).astype(np.int32)
    scale = plan.anchor[0] / (2 * plan.diameter_km) if plan.diameter_km > 0 else 0.0
    law = (scale, 0.0, plan.anchor[1])
    for k in range(len(anchors)):
        row_km = tables.distance_km[batch.means[k]]
        anchors[k], drawn.used[k] = near(batch.words[k], drawn.used[k], everywhere, row_km, law)


@kernel
def draw_copies(
    batch: Batch,
    tables: Tables,
    plan: Plan,
    drawn: Drawn,
    copy: int,
    anchors: Any,
    radii_km: Any,
) -> None:
    """Draw one copy of every trajectory, in the disc around its anchor (-1: no disc)."""
    everywhere = np.arange(len(tables.distance_km)).astype(np.int32)
    scratch = np.empty(len(everywhere) + 1, dtype=np.int32)
    for k in range(len(anchors)):
        start, end = batch.offsets[k], batch.offsets[k + 1]
        if copy == 1 and plan.alone and end - start == 1:
            continue
        domain, span_km = everywhere, plan.diameter_km
        if anchors[k] >= 0:
            row_km, order = tables.distance_km[anchors[k]], tables.order[anchors[k]]
            domain = order[: within(row_km, order, radii_km[k])]
            span_km = min(plan.diameter_km, 2 * radii_km[k])
        drawn.used[k] = _copy(
            batch.words[k],
            drawn.used[k],
            batch.locations[start:end],
            tables,
            plan,
            copy,
            (anchors[k], radii_km[k], span_km),
            domain,
            scratch,
            drawn.copies[copy, start:end],
        )


@kernel
def _copy(
    words: Any,
    used: int,
    places: Any,
    tables: Tables,
    plan: Plan,
    copy: int,
    disc: Any,
    domain: Any,
    scratch: Any,
    out: Any,
) -> int:
    """One copy of one trajectory; returns the words used so far."""
    size = len(places)
    # Pivots, over the whole domain: the even positions of copy 0, the odd ones of copy 1.
    for i in range(copy, size, 2):
        row_km = tables.distance_km[places[i]]
        law = _law(plan.pivot[copy, size], row_km, disc)
        out[i], used = near(words, used, domain, row_km, law)
    # Targets, over the locations in the sectors that their neighbouring pivots report.
    for i in range(1 - copy, size, 2):
        row_km = tables.distance_km[places[i]]
        law = _law(plan.point[copy, size], row_km, disc)
        before = out[i - 1] if i > 0 else -1
        after = out[i + 1] if plan.both and i + 1 < size else -1
        first = second = 0
        heavy = plan.heavy[copy, size]
        if before >= 0:
            sector = np.int64(tables.sectors[before, places[i]])
            first = response(words, used, sector, plan.sectors, heavy)
            used += 1
        if after >= 0:
            sector = np.int64(tables.sectors[after, places[i]])
            second = response(words, used, sector, plan.sectors, heavy)
            used += 1
        count = _inside(domain, tables.sectors, (before, after), (first, second), scratch)
        # An empty domain is public, and replaced by the whole region.
        inside = scratch[:count] if count else domain
        out[i], used = near(words, used, inside, row_km, law)
    return used


@kernel
def _law(law: Any, row_km: Any, disc: Any) -> Any:
    """Scale, offset and ceiling of the exponential law for one secret."""
    # As in laws/exponential.py: distances from the edge of the disc, if the secret is outside.
    anchor, radius_km, span_km = disc
    offset = max(0.0, row_km[anchor] - radius_km) if anchor >= 0 else 0.0
    return (law[0] / (2 * span_km) if span_km > 0 else 0.0, offset, law[1])


@kernel
def _inside(domain: Any, sectors: Any, pivots: Any, reported: Any, scratch: Any) -> int:
    """Write the locations in all reported sectors to ``scratch``; return their number."""
    # Every location is written, and the counter moves only if it is inside: a branch on such
    # conditions would often be mispredicted.
    if pivots[0] < 0 and pivots[1] < 0:
        return 0
    if pivots[0] < 0 or pivots[1] < 0:
        only = 0 if pivots[1] < 0 else 1
        row, sector = sectors[pivots[only]], reported[only]
        count = 0
        for place in domain:
            scratch[count] = place
            count += row[place] == sector
        return count
    row, other = sectors[pivots[0]], sectors[pivots[1]]
    count = 0
    for place in domain:
        scratch[count] = place
        count += (row[place] == reported[0]) & (other[place] == reported[1])
    return count
