"""Nodes of the tree that together hold a whole domain, and few others.

A cover is made of whole nodes, so it costs nothing to propose one of its locations uniformly.
It may hold too much, never too little: a node goes only when its ball lies beyond an edge by
more than any rounding. Being a superset is all the law needs; being tight is only speed.
"""

import math
from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.values import Balls, Domain
from nomadp.mechanisms.large.cell_sets import first_cell, lowest
from nomadp.mechanisms.large.pairs import holds, unit_vector

__all__ = ["begin", "held", "located", "members", "new_cover", "refine"]

_SLACK = 1e-12  # of the Earth's radius: six micrometres, far above any rounding
_NODE, _CROSSES, _SHIFT, _UPTO = 0, 1, 2, 3  # what an entry holds
_SIDE, _COUNT, _TOTAL, _OPEN, _LIKELY, _PATIENCE = 0, 1, 2, 3, 4, 5  # what is known of all
_PATIENT = 6  # a rejected proposal costs about as much as so many entries of a descent
_MOST_PATIENT = 2**20
_ONE = np.uint64(1)
_NO_EDGE = 4.0  # farther than anything on the unit sphere


@kernel
def new_cover(balls: Balls) -> Any:
    """Room for a cover: two lists of entries by turns, what is known of them, and the edges.

    An entry is a node, whether it crosses an edge, what to add to a rank to get a location,
    and how many locations the entries up to it hold.
    """
    entries = np.empty((2, len(balls.nodes) // 2 + 2, 4), dtype=np.int32)
    return entries, np.zeros(6, dtype=np.int64), np.empty((5, 4))


@part
def refine(balls: Balls, cover: Any) -> None:
    """Replace nodes that cross an edge by their children, one level down at least.

    Each call is ready to go deeper than the one before.
    """
    _, known, _ = cover
    known[_PATIENCE] = min(4 * known[_PATIENCE], _MOST_PATIENT)
    _descend(balls, cover)
    _settle(balls, cover)


@part
def _settle(balls: Balls, cover: Any) -> None:
    """Go down for as long as the proposals this may save cost more than the descent.

    On a sphere balls are loose, and one rule for the number of entries fits no two sets.
    """
    _, known, _ = cover
    while known[_OPEN] > 0 and known[_PATIENCE] * (known[_TOTAL] - known[_LIKELY]) > (
        known[_COUNT] * known[_LIKELY]
    ):
        _descend(balls, cover)


@part
def _descend(balls: Balls, cover: Any) -> None:
    """One level down, wherever a node crosses an edge. Open is what may still be narrowed."""
    entries, known, edges = cover
    ball, nodes = balls.ball, balls.nodes
    source = known[_SIDE]
    target = 1 - source
    count = total = still_open = likely = 0
    for k in range(known[_COUNT]):
        node = entries[source, k, _NODE]
        first, end = node, node + 1
        divided = entries[source, k, _CROSSES] == 1 and nodes[node, 2] > 0
        if divided:
            first, end = nodes[node, 2], nodes[node, 2] + 2
        for child in range(first, end):
            crosses = entries[source, k, _CROSSES]
            start, size = nodes[child, 0], nodes[child, 1] - nodes[child, 0]
            inner = size
            if divided:
                depth, reach = _depth(ball, child, edges), ball[child, 3] + _SLACK
                if depth < -reach:
                    continue
                crosses = 1 if depth <= reach else 0
                if crosses == 1:
                    inner = _likely(size, depth, reach)
            elif crosses == 1:
                inner = size // 2
            likely += inner
            entries[target, count, _NODE], entries[target, count, _CROSSES] = child, crosses
            entries[target, count, _SHIFT] = start - total
            total += size
            entries[target, count, _UPTO] = total
            count += 1
            if crosses == 1 and nodes[child, 2] > 0:
                still_open += size
    known[_SIDE], known[_COUNT] = target, count
    known[_TOTAL], known[_OPEN], known[_LIKELY] = total, still_open, likely


@part
def _likely(size: int, depth: float, reach: float) -> Any:
    """A guess how many locations of a ball that crosses an edge lie inside: only speed."""
    return np.int64(size * ((depth + reach) / (2 * reach)))


@part
def _depth(ball: Any, node: int, edges: Any) -> float:
    """How deep inside the domain a node's centre lies: at most so far from every edge."""
    x, y, z = ball[node, 0], ball[node, 1], ball[node, 2]
    dx, dy, dz = x - edges[0, 0], y - edges[0, 1], z - edges[0, 2]
    apart = math.sqrt(dx * dx + dy * dy + dz * dz)
    depth = edges[0, 3] - apart if edges[0, 3] >= 0 else edges[0, 3] + apart
    for k in range(1, 5):
        depth = min(depth, x * edges[k, 0] + y * edges[k, 1] + z * edges[k, 2] + edges[k, 3])
    return depth


@part
def begin(balls: Balls, domain: Domain, marks: Any, cover: Any) -> None:
    """Cover a domain, coarsely, beginning at the cells that are marked."""
    entries, known, edges = cover
    _edges(balls, domain, edges)
    count = total = still_open = likely = 0
    for k in range(len(marks[0])):
        bits = marks[0][k]
        while bits > 0:
            node = first_cell(balls) + 64 * k + lowest(bits)
            bits &= bits - _ONE
            depth, reach = _depth(balls.ball, node, edges), balls.ball[node, 3] + _SLACK
            if depth < -reach:
                continue
            start, size = balls.nodes[node, 0], balls.nodes[node, 1] - balls.nodes[node, 0]
            entries[0, count, _NODE], entries[0, count, _CROSSES] = node, depth <= reach
            entries[0, count, _SHIFT] = start - total
            total += size
            entries[0, count, _UPTO] = total
            count += 1
            likely += size if depth > reach else _likely(size, depth, reach)
            if depth <= reach and balls.nodes[node, 2] > 0:
                still_open += size
    known[_SIDE], known[_COUNT], known[_TOTAL] = 0, count, total
    known[_OPEN], known[_LIKELY], known[_PATIENCE] = still_open, likely, _PATIENT
    _settle(balls, cover)


@part
def _edges(balls: Balls, domain: Domain, edges: Any) -> None:
    """The edges of a domain: its disc's and those of its sectors."""
    edges[0, 0] = edges[0, 1] = edges[0, 2] = 0.0
    edges[0, 3] = _NO_EDGE
    if domain.anchor >= 0:
        x, y, z = unit_vector(balls.rows, domain.anchor)
        if domain.edge <= 0.5:
            edges[0, 0], edges[0, 1], edges[0, 2] = x, y, z
            edges[0, 3] = 2 * math.sqrt(domain.edge)
        else:
            # Chords hardly grow towards the antipode: a wide disc is what is far from there.
            edges[0, 0], edges[0, 1], edges[0, 2] = -x, -y, -z
            edges[0, 3] = -2 * math.sqrt(1 - domain.edge)
    for k in range(2):
        _sides(balls, domain.pivots[k], domain.reported[k], (edges, 2 * k + 1))


@part
def _sides(balls: Balls, pivot: int, sector: int, where: Any) -> None:
    """The two half-spaces whose intersection is a sector: directions that point inwards.

    A border's great circle lies in a plane through the Earth's centre.
    """
    rows, borders = balls.rows, balls.borders
    edges, first = where
    for k in range(2):
        edge = first + k
        edges[edge, 0] = edges[edge, 1] = edges[edge, 2] = 0.0
        edges[edge, 3] = _NO_EDGE
        if pivot >= 0:
            sin_lng = 2 * rows[pivot, 2] * rows[pivot, 3]
            cos_lng = rows[pivot, 3] * rows[pivot, 3] - rows[pivot, 2] * rows[pivot, 2]
            border, inwards = (sector + k) % len(borders), 2 * k - 1
            north, east = inwards * borders[border, 0], inwards * borders[border, 1]
            edges[edge, 0] = -north * rows[pivot, 4] * cos_lng - east * sin_lng
            edges[edge, 1] = -north * rows[pivot, 4] * sin_lng + east * cos_lng
            edges[edge, 2] = north * rows[pivot, 5]
            edges[edge, 3] = 0.0


@part
def held(cover: Any) -> Any:
    """How many locations the cover holds, and whether it can still be refined."""
    _, known, _ = cover
    return known[_TOTAL], known[_OPEN] > 0


@part
def members(balls: Balls, domain: Domain, cover: Any, scratch: Any) -> int:
    """Write the domain itself to ``scratch``; returns how many locations it has."""
    found = 0
    for rank in range(cover[1][_TOTAL]):
        location = located(cover, rank)
        if holds(balls, domain, location):
            scratch[found] = location
            found += 1
    return found


@part
def located(cover: Any, rank: int) -> int:
    """The location of a rank among all that the cover holds."""
    entries, known, _ = cover
    here = entries[known[_SIDE]]
    low, high = 0, known[_COUNT] - 1
    while low < high:
        middle = (low + high) // 2
        if rank < here[middle, _UPTO]:
            high = middle
        else:
            low = middle + 1
    return rank + here[low, _SHIFT]
