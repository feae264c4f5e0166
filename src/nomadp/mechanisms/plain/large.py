"""TP and ATP over a large set: the steps of pivot.py, on balls instead of tables.

A trajectory whose row of words has run out is left as it is: it will be drawn again.
"""

from typing import NamedTuple

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import response
from nomadp.mechanisms.fast.values import Balls, Batch, Drawn, Plan
from nomadp.mechanisms.plain.discs import LargeDisc, draw_large_discs
from nomadp.mechanisms.plain.marks import Bytes, mark, narrow
from nomadp.mechanisms.plain.pivot import Copy, Part, draw_both, near_disc, parts, sight_at
from nomadp.mechanisms.plain.proposals import Draws, inside
from nomadp.mechanisms.plain.sectors import Sight
from nomadp.mechanisms.plain.sights import Domains, domains_of, km_between, sectors_between

__all__ = ["pivot_sampling"]

_AT_ONCE = 2**13  # trajectories


class Region(NamedTuple):
    """The discs of a copy, as domains, and the cells that they may meet."""

    disc: LargeDisc
    domains: Domains
    cells: Bytes

    def some(self, some: Ints) -> "Region":
        return Region(self.disc.some(some), self.domains.some(some), self.cells[some])


LargePart = Part[Balls]
LargeCopy = Copy[Region]


def pivot_sampling(batch: Batch, balls: Balls, plan: Plan, drawn: Drawn) -> None:
    """Both copies of every trajectory, and its coins."""
    for some, part in parts(batch, balls, plan, _AT_ONCE):
        draw_both(part, _draw_copy, drawn)
        drawn.used[some] = part.rows.used


def _draw_copy(part: LargePart, number: int, which: Ints, out: Ints) -> None:
    rows, secret, balls, plan = part
    disc = draw_large_discs(rows, which, secret, balls, plan)
    domains = domains_of(disc.anchor, disc.radius_km)
    copy = LargeCopy(number, which, Region(disc, domains, mark(balls, domains)), out)
    size = np.diff(secret.offsets)[which]
    for draw, first in ((_pivots, number), (_targets, 1 - number)):
        for i in range(first, int(size.max()), 2):
            some = np.flatnonzero((size > i) & rows.last(which))
            if len(some):
                draw(part, copy, i, some)


def _pivots(part: LargePart, copy: LargeCopy, position: int, some: Ints) -> None:
    """The pivots at one position, of some trajectories of the copy."""
    point = part.secret.offsets[copy.which[some]] + position
    region = copy.disc.some(some)
    draws = _draws(part, copy, some, (point, part.plan.pivot))
    copy.out[point] = inside(draws, region.domains, region.cells)


def _targets(part: LargePart, copy: LargeCopy, position: int, some: Ints) -> None:
    """The targets at one position: directions from their pivots, and a location in them."""
    point = part.secret.offsets[copy.which[some]] + position
    region = copy.disc.some(some)
    draws = _draws(part, copy, some, (point, part.plan.point))
    sight = sight_at(part, copy, position, some)
    reported = _directions(draws, sight)
    domains = region.domains._replace(pivots=sight.pivots, reported=reported)
    found = inside(draws, domains, narrow(part.public, domains, region.cells))
    # Emptiness is public: it follows from released pivots and sectors alone.
    nothing = np.flatnonzero(found < 0)
    if len(nothing):
        whole = region.some(nothing)
        found[nothing] = inside(draws.some(nothing), whole.domains, whole.cells)
    copy.out[point] = found


def _directions(draws: Draws, sight: Sight) -> tuple[Ints, Ints]:
    """The sector reported from each pivot that there is."""
    balls, reported = draws.balls, np.zeros((2, len(draws.which)), dtype=np.int64)
    for sector, pivot in zip(reported, sight.pivots, strict=True):
        there = np.flatnonzero(pivot >= 0)
        seen = sectors_between(balls.rows, pivot[there], sight.place[there], balls.borders)
        word = draws.rows.take(draws.which[there])
        sector[there] = response(word, seen, len(balls.borders), sight.heavy[there])
    return reported[0], reported[1]


def _draws(part: LargePart, copy: LargeCopy, some: Ints, law: tuple[Ints, Floats]) -> Draws:
    """Draws at these points, by the laws of their trajectories' lengths."""
    point, laws = law
    which, disc, balls = copy.which[some], copy.disc.disc.some(some), part.public
    place, from_anchor_km = part.secret.locations[point], None
    if disc.anchor is not None:
        from_anchor_km = km_between(balls.rows, place, disc.anchor)
    of_length = laws[copy.number, np.diff(part.secret.offsets)[which]]
    near = near_disc(place, of_length, disc, from_anchor_km)
    return Draws(part.rows, which, near, balls)
