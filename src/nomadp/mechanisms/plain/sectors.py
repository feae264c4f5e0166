"""The sectors that pivots report, and the locations that lie in all of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Booleans, response
from nomadp.mechanisms.fast.values import Tables
from nomadp.mechanisms.plain.region import Disc
from nomadp.mechanisms.plain.rows import Domain, Rows

__all__ = ["Sight", "draw_directions", "in_sectors"]


class Sight(NamedTuple):
    """Targets, the pivots before and after each (-1: there is none), and the truth's weight."""

    place: Ints
    pivots: tuple[Ints, Ints]
    heavy: Ints


def draw_directions(
    rows: Rows, which: Ints, sight: Sight, tables: Tables, sectors: int
) -> list[Ints]:
    """The sector reported from each pivot that there is."""
    reported = []
    for pivot in sight.pivots:
        sector = np.zeros(len(which), dtype=np.int64)
        there = np.flatnonzero(pivot >= 0)
        if len(there):
            seen = tables.sectors[pivot[there], sight.place[there]].astype(np.int64)
            word = rows.take(which[there])
            sector[there] = response(word, seen, sectors, sight.heavy[there])
        reported.append(sector)
    return reported


def in_sectors(
    disc: Disc, sight: Sight, reported: list[Ints], tables: Tables, *, with_truth: bool
) -> Domain:
    """The locations of each disc in all reported sectors; all of it where there is none.

    ``with_truth`` is Algorithm 1 as published: not private (see published.py).
    """
    held = _seen(sight, reported, tables)
    place, inside = _ordered(disc, tables)
    if disc.anchor is not None:
        row = len(tables.order) * np.arange(len(held))
        held = inside & held.reshape(-1)[row[:, None] + place]
    size = np.count_nonzero(held, axis=1)
    is_empty = size == 0
    if with_truth:
        before, after = sight.pivots
        is_empty &= (before >= 0) == (after >= 0)
    held[is_empty], size[is_empty] = inside[is_empty], disc.domain.size[is_empty]
    listed = Domain(place[held], np.cumsum(size) - size, size)
    return _with_the_truth(listed, sight.place) if with_truth else listed


def _seen(sight: Sight, reported: list[Ints], tables: Tables) -> Booleans:
    """Whether all pivots of a target see a location in the sector they reported."""
    seen = np.ones((len(sight.place), len(tables.sectors)), dtype=np.bool_)
    for pivot, sector in zip(sight.pivots, reported, strict=True):
        if (pivot >= 0).any():
            here = tables.sectors[pivot] == sector.astype(tables.sectors.dtype)[:, None]
            seen &= here | (pivot < 0)[:, None]
    return seen


def _ordered(disc: Disc, tables: Tables) -> tuple[Ints | NDArray[np.int32], Booleans]:
    """The locations in the order of each disc's domain, and which of them lie in it."""
    size = disc.domain.size
    column = np.arange(size.max())
    inside = column < size[:, None]
    if disc.anchor is None:
        return np.broadcast_to(column, inside.shape), inside
    return tables.order[disc.anchor, : len(column)], inside


def _with_the_truth(listed: Domain, truth: Ints) -> Domain:
    """The same lists, and each truth at the end of its own unless it is there already."""
    row = np.repeat(np.arange(len(truth)), listed.size)
    new = np.setdiff1d(np.arange(len(truth)), row[listed.members == truth[row]])
    end = listed.start + listed.size
    members: Ints = np.insert(listed.members.astype(np.int64), end[new], truth[new])
    size = listed.size + np.isin(np.arange(len(truth)), new)
    return Domain(members, np.cumsum(size) - size, size)
