"""TP and ATP: pivots, directions and targets of both copies, all trajectories at once.

Positions are taken in turn: the i-th of every trajectory that has one. Trajectories come in
parts, so that the squares of trajectories and locations stay small.
"""

from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import below
from nomadp.mechanisms.fast.values import Batch, Drawn, Plan, Tables
from nomadp.mechanisms.plain.region import Disc, Journeys, draw_discs, points_of
from nomadp.mechanisms.plain.rows import Near, Rows, draw_near
from nomadp.mechanisms.plain.sectors import Sight, draw_directions, in_sectors

__all__ = ["Copy", "Part", "draw_both", "near_disc", "parts", "pivot_sampling", "sight_at"]

Public = TypeVar("Public")
Region = TypeVar("Region")

_AT_ONCE = 2**21  # trajectories times locations


class Part(NamedTuple, Generic[Public]):
    """Some of the trajectories, with what is drawn for them."""

    rows: Rows
    secret: Journeys
    public: Public
    plan: Plan


class Copy(NamedTuple, Generic[Region]):
    """One copy of some trajectories: which of its part they are, and where they are drawn."""

    number: int
    which: Ints
    disc: Region
    out: Ints  # of the points of all trajectories


DrawCopy = Callable[[Part[Public], int, Ints, Ints], None]
"""Draws a copy, by number, of these trajectories of a part, to where it is told."""


def pivot_sampling(batch: Batch, tables: Tables, plan: Plan, drawn: Drawn) -> None:
    """Both copies of every trajectory, and its coins."""
    for some, part in parts(batch, tables, plan, _AT_ONCE // len(tables.distance_km)):
        draw_both(part, _draw_copy, drawn)
        drawn.used[some] = part.rows.used


def parts(
    batch: Batch, public: Public, plan: Plan, at_once: int
) -> Iterator[tuple[slice, Part[Public]]]:
    """So many trajectories at once, and which they are."""
    count, step = len(batch.offsets) - 1, max(1, at_once)
    means = batch.means if len(batch.means) else np.zeros(count, dtype=np.int64)
    for first in range(0, count, step):
        some = slice(first, min(first + step, count))
        secret = Journeys(batch.offsets[first : some.stop + 1], batch.locations, means[some])
        yield some, Part(Rows(batch.words[some]), secret, public, plan)


def draw_both(part: Part[Public], draw_copy: DrawCopy[Public], drawn: Drawn) -> None:
    """Both copies of every trajectory of a part, and its coins."""
    offsets = part.secret.offsets
    is_once = (np.diff(offsets) == 1) & part.plan.alone
    twice = np.flatnonzero(~is_once)
    draw_copy(part, 0, np.arange(len(is_once)), drawn.copies[0])
    if len(twice):
        draw_copy(part, 1, twice, drawn.copies[1])
    once = offsets[:-1][is_once]
    drawn.copies[1, once] = drawn.copies[0, once]
    if part.plan.coin:
        point, owner, begin = points_of(twice, part.secret)
        step = np.arange(len(point)) - begin[owner]
        drawn.coins[point] = below(part.rows.ahead(twice[owner], step), 2)
        part.rows.used[twice] += np.diff(offsets)[twice]


def _draw_copy(part: Part[Tables], number: int, which: Ints, out: Ints) -> None:
    offsets = part.secret.offsets
    disc = draw_discs(part.rows, which, part.secret, part.public, part.plan)
    copy = Copy(number, which, disc, out)
    size = offsets[which + 1] - offsets[which]
    for i in range(number, int(size.max()), 2):
        _pivots(part, copy, i, np.flatnonzero(size > i))
    for i in range(1 - number, int(size.max()), 2):
        _targets(part, copy, i, np.flatnonzero(size > i))


def _pivots(part: Part[Tables], copy: Copy[Disc], position: int, some: Ints) -> None:
    """The pivots at one position, of some trajectories of the copy."""
    which = copy.which[some]
    point = part.secret.offsets[which] + position
    near = _law(part, copy, some, point, part.plan.pivot)
    domain = copy.disc.some(some).domain
    copy.out[point] = draw_near(part.rows, which, near, domain, part.public.distance_km)


def _targets(part: Part[Tables], copy: Copy[Disc], position: int, some: Ints) -> None:
    """The targets at one position: directions from their pivots, and a location in them."""
    rows, (offsets, _, _), tables, plan = part
    which = copy.which[some]
    point = offsets[which] + position
    sight = sight_at(part, copy, position, some)
    reported = draw_directions(rows, which, sight, tables, plan.sectors)
    disc = copy.disc.some(some)
    domain = disc.domain
    if plan.union or any((pivot >= 0).any() for pivot in sight.pivots):
        domain = in_sectors(disc, sight, reported, tables, with_truth=plan.union)
    near = _law(part, copy, some, point, plan.point)
    copy.out[point] = draw_near(rows, which, near, domain, tables.distance_km)


def sight_at(part: Part[Public], copy: Copy[Region], position: int, some: Ints) -> Sight:
    """The targets at one position of some trajectories of the copy, and their pivots."""
    offsets, locations, _ = part.secret
    which = copy.which[some]
    point = offsets[which] + position
    before = copy.out[point - 1] if position else np.full(len(some), -1)
    has_next = (point + 1 < offsets[which + 1]) & part.plan.both
    after = np.where(has_next, copy.out[np.where(has_next, point + 1, point)], -1)
    heavy = part.plan.heavy[copy.number, offsets[which + 1] - offsets[which]]
    return Sight(locations[point], (before, after), heavy)


def _law(part: Part[Tables], copy: Copy[Disc], some: Ints, point: Ints, laws: Floats) -> Near:
    """The exponential law of each of these points, inside its disc."""
    place, anchor = part.secret.locations[point], copy.disc.anchor
    law = laws[copy.number, np.diff(part.secret.offsets)[copy.which[some]]]
    from_anchor_km = None
    if anchor is not None and not part.plan.union:
        from_anchor_km = part.public.distance_km[place, anchor[some]]
    return near_disc(place, law, copy.disc.some(some), from_anchor_km)


class _Round(Protocol):
    """How wide a disc is."""

    @property
    def radius_km(self) -> Floats: ...
    @property
    def span_km(self) -> Floats: ...


def near_disc(place: Ints, law: Floats, disc: _Round, from_anchor_km: Floats | None) -> Near:
    """The law at these places, ``law`` being shares and ceilings: it falls from where the
    disc begins, if there is an anchor.
    """
    double = 2 * disc.span_km
    scale = np.divide(law[:, 0], double, out=np.zeros(len(place)), where=double > 0)
    offset_km = np.zeros(len(place))
    if from_anchor_km is not None:
        offset_km = np.maximum(0.0, from_anchor_km - disc.radius_km)
    return Near(place, scale, offset_km, law[:, 1].astype(np.int64))
