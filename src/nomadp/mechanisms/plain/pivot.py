"""TP and ATP: pivots, directions and targets of both copies, all trajectories at once.

Positions are taken in turn: the i-th of every trajectory that has one. Trajectories come in
parts, so that the squares of trajectories and locations stay small.
"""

from typing import NamedTuple

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.kernels.values import Batch, Drawn, Plan, Tables
from nomadp.mechanisms.plain.draws import below
from nomadp.mechanisms.plain.region import Disc, Journeys, draw_discs
from nomadp.mechanisms.plain.rows import Near, Rows, draw_near
from nomadp.mechanisms.plain.sectors import Sight, draw_directions, in_sectors

__all__ = ["pivot_sampling"]

_AT_ONCE = 2**21  # trajectories times locations


class Part(NamedTuple):
    """Some of the trajectories, with what is drawn for them."""

    rows: Rows
    secret: Journeys
    tables: Tables
    plan: Plan


class Copy(NamedTuple):
    """One copy of some trajectories: which of its part they are, and where they are drawn."""

    number: int
    which: Ints
    disc: Disc
    out: Ints  # of the points of all trajectories


def pivot_sampling(batch: Batch, tables: Tables, plan: Plan, drawn: Drawn) -> None:
    """Both copies of every trajectory, and its coins."""
    count = len(batch.offsets) - 1
    means = batch.means if len(batch.means) else np.zeros(count, dtype=np.int64)
    step = max(1, _AT_ONCE // len(tables.distance_km))
    for first in range(0, count, step):
        some = slice(first, min(first + step, count))
        secret = Journeys(batch.offsets[first : some.stop + 1], batch.locations, means[some])
        part = Part(Rows(batch.words[some]), secret, tables, plan)
        _draw(part, drawn)
        drawn.used[some] = part.rows.used


def _draw(part: Part, drawn: Drawn) -> None:
    offsets = part.secret.offsets
    is_once = (np.diff(offsets) == 1) & part.plan.alone
    twice = np.flatnonzero(~is_once)
    _draw_copy(part, 0, np.arange(len(is_once)), drawn.copies[0])
    _draw_copy(part, 1, twice, drawn.copies[1])
    once = offsets[:-1][is_once]
    drawn.copies[1, once] = drawn.copies[0, once]
    if part.plan.coin:
        size = np.diff(offsets)[twice]
        row = np.repeat(twice, size)
        step = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
        drawn.coins[offsets[row] + step] = below(part.rows.ahead(row, step), 2)
        part.rows.used[twice] += size


def _draw_copy(part: Part, number: int, which: Ints, out: Ints) -> None:
    if not len(which):
        return
    offsets = part.secret.offsets
    disc = draw_discs(part.rows, which, part.secret, part.tables, part.plan)
    copy = Copy(number, which, disc, out)
    size = offsets[which + 1] - offsets[which]
    for i in range(number, int(size.max()), 2):
        _pivots(part, copy, i, np.flatnonzero(size > i))
    for i in range(1 - number, int(size.max()), 2):
        _targets(part, copy, i, np.flatnonzero(size > i))


def _pivots(part: Part, copy: Copy, position: int, some: Ints) -> None:
    """The pivots at one position, of some trajectories of the copy."""
    rows, (offsets, _, _), tables, plan = part
    which = copy.which[some]
    point = offsets[which] + position
    near = _law(part, copy, some, point, plan.pivot)
    domain = copy.disc.some(some).domain
    copy.out[point] = draw_near(rows, which, near, domain, tables.distance_km)


def _targets(part: Part, copy: Copy, position: int, some: Ints) -> None:
    """The targets at one position: directions from their pivots, and a location in them."""
    rows, (offsets, locations, _), tables, plan = part
    which = copy.which[some]
    point = offsets[which] + position
    before = copy.out[point - 1] if position else np.full(len(some), -1)
    has_next = (point + 1 < offsets[which + 1]) & plan.both
    after = np.where(has_next, copy.out[np.where(has_next, point + 1, point)], -1)
    heavy = plan.heavy[copy.number, offsets[which + 1] - offsets[which]]
    sight = Sight(locations[point], (before, after), heavy)
    reported = draw_directions(rows, which, sight, tables, plan.sectors)
    disc = copy.disc.some(some)
    domain = disc.domain
    if plan.union or (before >= 0).any() or has_next.any():
        domain = in_sectors(disc, sight, reported, tables, with_truth=plan.union)
    near = _law(part, copy, some, point, plan.point)
    copy.out[point] = draw_near(rows, which, near, domain, tables.distance_km)


def _law(part: Part, copy: Copy, some: Ints, point: Ints, laws: Floats) -> Near:
    """The exponential law of each of these points, inside its disc."""
    offsets, locations, _ = part.secret
    which, (_, anchor, radius_km, span_km) = copy.which[some], copy.disc
    place, law = locations[point], laws[copy.number, offsets[which + 1] - offsets[which]]
    double = 2 * span_km[some]
    scale = np.divide(law[:, 0], double, out=np.zeros(len(some)), where=double > 0)
    offset_km = np.zeros(len(some))
    if anchor is not None and not part.plan.union:
        from_anchor = part.tables.distance_km[place, anchor[some]] - radius_km[some]
        offset_km = np.maximum(0.0, from_anchor)
    return Near(place, scale, offset_km, law[:, 1].astype(np.int64))
