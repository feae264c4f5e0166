"""The exponential law over domains of a large set: kernels/proposals.py in numpy.

A proposal takes one word, and what is drawn is the first that is accepted. All draws make
their proposals together; where few of them are left, each makes several at once, of which
only those up to the first accepted one count.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Booleans, Words, below, split, weights
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.plain.covers import Covers
from nomadp.mechanisms.plain.marks import Bytes, counted, spot
from nomadp.mechanisms.plain.ragged import pieces
from nomadp.mechanisms.plain.rows import Domain, Near, Rows
from nomadp.mechanisms.plain.sights import Domains, holds, km_between

__all__ = ["Draws", "anywhere", "inside"]

_FEW = 16  # one cell in so many: where no more are marked, they are measured first
_FEW_TRIES = 8  # proposals from marked cells before a domain gets a cover
_TRIES = 12  # proposals before a cover is refined
_PROPOSALS = 2**12  # looked at together
_TRIES_MAX = 32
_CELLS = 2**17  # from which covers begin together
_LISTED = 2**20  # locations looked at together

Propose = Callable[[Ints, Words], tuple[Ints, Words]]
"""A location (-1: outside of the domain) of each of these draws, and the rest of its word."""


class Draws(NamedTuple):
    """Draws to be made: which row each takes its words from, and its law."""

    rows: Rows
    which: Ints
    near: Near
    balls: Balls

    def some(self, some: Ints) -> "Draws":
        return Draws(self.rows, self.which[some], self.near.some(some), self.balls)


def anywhere(draws: Draws) -> Ints:
    """One location of the whole set for each draw."""
    size, drawn = len(draws.balls.rows), np.full(len(draws.which), -1)
    _accepted(draws, np.arange(len(drawn)), lambda _, words: split(words, size), drawn)
    return drawn


def inside(draws: Draws, domains: Domains, cells: Bytes) -> Ints:
    """One location of each domain, of which no other cells hold any; -1 where it has none."""
    drawn, balls, marks = np.full(len(draws.which), -1), draws.balls, counted(cells)

    def propose(which: Ints, words: Words) -> tuple[Ints, Words]:
        proposed, rest = spot(balls, marks, which, words)
        there = np.flatnonzero(proposed >= 0)
        held = holds(balls, domains, which[there], proposed[there])
        proposed[there[~held]] = -1
        return proposed, rest

    are_few = _FEW * marks.marked <= len(balls.discs)
    pending, missed = np.flatnonzero(~are_few), [np.flatnonzero(are_few & (marks.marked > 0))]
    while len(pending):
        pending, has_hits = _some_tries(draws, pending, (_FEW_TRIES, propose), drawn)
        missed.append(pending[~has_hits])
        pending = pending[has_hits]
    covered = np.concatenate(missed)
    for piece in pieces(marks.marked[covered], _CELLS):
        some = covered[piece]
        drawn[some] = _covered(draws.some(some), domains.some(some), cells[some])
    return drawn


def _covered(draws: Draws, domains: Domains, cells: Bytes) -> Ints:
    """The same, from covers that are refined for as long as nothing of a domain turns up."""
    balls, covers = draws.balls, Covers(draws.balls, domains, cells)
    drawn = np.full(len(draws.which), -1)

    def propose(which: Ints, words: Words) -> tuple[Ints, Words]:
        rank, rest = split(words, covers.total[which])
        proposed = covers.located(which, rank)
        return np.where(holds(balls, domains, which, proposed), proposed, -1), rest

    pending = np.flatnonzero(covers.total > 0)
    while len(pending):
        left, has_hits = _some_tries(draws, pending, (_TRIES, propose), drawn)
        can_go = covers.open[left] > 0
        _listed(draws, domains, (covers, left[~has_hits & ~can_go]), drawn)
        pending = left[has_hits | can_go]
        covers.keep(pending)
        covers.refine(left[~has_hits & can_go])
        pending = pending[covers.total[pending] > 0]
    return drawn


def _listed(draws: Draws, domains: Domains, searched: tuple[Covers, Ints], drawn: Ints) -> None:
    """Draw from domains that are listed, because nothing of them turned up in covers."""
    covers, every = searched
    for piece in pieces(covers.total[every], _LISTED):
        which = every[piece]
        location, owner = covers.held(which)
        held = holds(draws.balls, domains, which[owner], location)
        size = np.bincount(owner[held], minlength=len(which))
        listed = Domain(location[held], np.cumsum(size) - size, size)
        found = np.full(len(which), -1)

        def propose(some: Ints, words: Words, known: Domain = listed) -> tuple[Ints, Words]:
            rank, rest = split(words, known.size[some])
            return known.members[known.start[some] + rank].astype(np.int64), rest

        _accepted(draws.some(which), np.flatnonzero(size), propose, found)
        drawn[which] = found


def _accepted(draws: Draws, pending: Ints, propose: Propose, drawn: Ints) -> None:
    """Propose until everything pending is drawn."""
    while len(pending):
        pending, _ = _some_tries(draws, pending, (_TRIES_MAX, propose), drawn)


def _some_tries(
    draws: Draws, pending: Ints, tries: tuple[int, Propose], drawn: Ints
) -> tuple[Ints, Booleans]:
    """So many proposals of each that is pending, or fewer if one is accepted.

    Returns what is still pending, and whether any of its proposals lay in the domain.
    """
    most, propose = tries
    has_hits, done = np.zeros(len(pending), dtype=np.bool_), 0
    while len(pending) and done < most:
        at_once = min(max(_PROPOSALS // len(pending), 1), most - done)
        accepted, proposed = _tried(draws, np.repeat(pending, at_once), at_once, propose)
        has_hits |= (proposed >= 0).any(axis=1)
        first, found = accepted.argmax(axis=1), accepted.any(axis=1)
        draws.rows.used[draws.which[pending]] += np.where(found, first + 1, at_once)
        drawn[pending[found]] = proposed[found, first[found]]
        pending, has_hits, done = pending[~found], has_hits[~found], done + at_once
    return pending, has_hits


def _tried(draws: Draws, which: Ints, at_once: int, propose: Propose) -> tuple[Booleans, Ints]:
    """Whether proposals are accepted, and what they are; ``at_once`` of each draw in a row."""
    rows, near, step = draws.rows, draws.near, np.arange(len(which)) % at_once
    row = draws.which[which]
    proposed, rest = propose(which, rows.ahead(row, step))
    hit = np.flatnonzero(proposed >= 0)
    place, scale, offset_km, ceiling = near.some(which[hit])
    apart_km = km_between(draws.balls.rows, place, proposed[hit]) - offset_km
    accepted = np.zeros(len(which), dtype=np.bool_)
    accepted[hit] = below(rest[hit], ceiling) < weights(apart_km, scale, ceiling)
    # Whoever lacks a word takes anything, and the count says that it was too much.
    missing = rows.lack(row, step)
    accepted[missing], proposed[missing] = True, 0
    return accepted.reshape(-1, at_once), proposed.reshape(-1, at_once)
