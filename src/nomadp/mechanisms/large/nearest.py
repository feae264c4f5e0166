"""One of the ``count`` locations nearest to a place, in a large set, without ranking the set.

Each of the nearest locations gets one number, in the order in which the search of the tree
finds that they are near: first whole nodes, then parts of the nodes that cross the edge. The
numbering depends on the place alone, so a uniform number is a uniform location. Only a draw of
a number in the last part has to descend to the leaves. Most draws end after a few nodes, and
the expected work grows like the logarithm of the size.

Nearness is measured as the squared sine of half the angle. Where two of these differ by less
than `_DOUBT`, the distances of the reference decide, which a kernel cannot compute.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.values import Balls, withheld
from nomadp.mechanisms.large.pairs import haversines, unit_vector

__all__ = ["Scratch", "nearest_points", "new_scratch", "one_of_nearest"]

_DOUBT = 1e-12  # relative to the squared sine: far above any rounding, also the reference's
_SLACK = 1e-12  # of the Earth's radius: in a squared sine at least as much as the doubt
_HALVINGS = 4  # bisections of the limits around the edge, at each level of the tree


class Scratch(NamedTuple):
    """Working memory: nodes and locations that are not yet classified, and those in doubt."""

    node: Any  # (2, leaves): the two sides take turns, level by level
    low: Any  # (2, leaves): no location of the node is nearer
    high: Any  # (2, leaves): and none is farther
    location: Any  # (m,)
    near: Any  # (m,): squared sine of half the angle to the location
    doubt: (
        Any  # numbers of locations in doubt and of near ones among them, and the number drawn
    )

    def __repr__(self) -> str:
        return withheld(self)


@kernel
def new_scratch(balls: Balls) -> Scratch:
    leaves, size = len(balls.nodes) // 2 + 2, len(balls.rows)
    return Scratch(
        np.empty((2, leaves), dtype=np.int32),
        np.empty((2, leaves)),
        np.empty((2, leaves)),
        np.empty(size, dtype=np.int32),
        np.empty(size),
        np.zeros(3, dtype=np.int64),
    )


@kernel
def nearest_points(balls: Balls, index: Any, secrets: Any, out: Any) -> None:
    """For each (place, count, number), the location, or -1 where the reference must decide."""
    scratch = new_scratch(balls)
    for k in range(len(out)):
        out[k] = one_of_nearest(balls, index, secrets[k], scratch)


@kernel
def one_of_nearest(balls: Balls, index: Any, secret: Any, scratch: Scratch) -> Any:
    """The location with this number among the ``count`` nearest to a place.

    ``index`` maps locations to indices in the set: the lower one wins a tie. Returns -1 if the
    number belongs to one of the locations in doubt, which are then in ``scratch``.
    """
    place, count, number = secret[0], secret[1], secret[2]
    origin = unit_vector(balls.rows, place)
    low, high = _bounds(balls.ball, 0, origin)
    scratch.node[0, 0], scratch.low[0, 0], scratch.high[0, 0] = 0, low, high
    side, waiting, divided = 0, 1, True
    while divided:
        # Step 1: one level down the tree. Step 2: bound the distance of the count-th nearest.
        waiting, divided = _expand(balls, origin, side, waiting, scratch)
        side = 1 - side
        low, high = _edge_limits(balls.nodes, side, waiting, count, low, high, scratch)
        # Step 3: surely near nodes take the lowest numbers, surely far nodes are dropped.
        location, waiting, count, number = _number_nodes(
            balls.nodes, side, waiting, count, number, low, high, scratch
        )
        if location >= 0:
            return location
    # Step 4: only leaves that cross the edge remain; check their locations one by one.
    listed = _list(balls, place, side, waiting, scratch)
    location, doubtful, count, number = _number_locations(listed, count, number, scratch)
    if location >= 0:
        return location
    return _number_tied(balls.rows, index, place, doubtful, count, number, scratch)


@part
def _bounds(ball: Any, node: int, origin: Any) -> Any:
    """Bounds of the squared sines from the origin to the locations of a node."""
    # By the triangle inequality. A chord is twice the sine of half its angle.
    reach = ball[node, 3] + _SLACK
    chord = _chord(ball, node, origin)
    if chord * chord <= 2:
        least, most = max(0.0, chord - reach), chord + reach
        return least * least / 4, most * most / 4
    # Beyond a quarter turn, chords to the antipode are sharper: they give the squared cosine.
    chord = _chord(ball, node, (-origin[0], -origin[1], -origin[2]))
    least, most = max(0.0, chord - reach), chord + reach
    return 1 - most * most / 4 - _DOUBT, 1 - least * least / 4 + _DOUBT


@part
def _chord(ball: Any, node: int, origin: Any) -> float:
    x, y, z = ball[node, 0] - origin[0], ball[node, 1] - origin[1], ball[node, 2] - origin[2]
    return math.sqrt(x * x + y * y + z * z)


@part
def _expand(balls: Balls, origin: Any, side: int, count: int, scratch: Scratch) -> Any:
    """Replace waiting nodes by their children; returns their number, and whether any is new."""
    other, total, divided = 1 - side, 0, False
    for k in range(count):
        node = scratch.node[side, k]
        left = balls.nodes[node, 2]
        if left == 0:
            scratch.node[other, total] = node
            scratch.low[other, total], scratch.high[other, total] = (
                scratch.low[side, k],
                scratch.high[side, k],
            )
            total += 1
            continue
        divided = True
        for child in range(left, left + 2):
            low, high = _bounds(balls.ball, child, origin)
            scratch.node[other, total] = child
            scratch.low[other, total], scratch.high[other, total] = low, high
            total += 1
    return total, divided


@part
def _edge_limits(
    nodes: Any, side: int, size: int, count: int, low: float, beyond: float, scratch: Scratch
) -> Any:
    """Limits of the distance of the last of the ``count`` nearest, within the known limits."""
    # Two bisections. If fewer than `count` locations are possible up to a distance, the edge is
    # farther; if at least `count` are certain, it is nearer.
    high, before = beyond, low
    node, lows, highs = scratch.node[side], scratch.low[side], scratch.high[side]
    for _ in range(_HALVINGS):
        middle, upper = (low + beyond) / 2, (before + high) / 2
        possible = certain = 0
        for k in range(size):
            locations = nodes[node[k], 1] - nodes[node[k], 0]
            possible += locations if lows[k] <= middle else 0
            certain += locations if highs[k] <= upper else 0
        if possible < count:
            low = middle
        else:
            beyond = middle
        if certain >= count:
            high = upper
        else:
            before = upper
    return low, high


@part
def _number_nodes(
    nodes: Any,
    side: int,
    waiting: int,
    count: int,
    number: int,
    nearest: float,
    farthest: float,
    scratch: Scratch,
) -> Any:
    """Number the locations of near nodes, and drop far nodes.

    Returns the location with this number, or -1 and the remaining nodes, count and number.
    """
    node, low, high = scratch.node[side], scratch.low[side], scratch.high[side]
    remaining = 0
    for k in range(waiting):
        if high[k] < nearest:
            first, size = nodes[node[k], 0], nodes[node[k], 1] - nodes[node[k], 0]
            if number < size:
                return np.int64(first + number), remaining, count, number
            count, number = count - size, number - size
        elif low[k] <= farthest:
            node[remaining], low[remaining], high[remaining] = node[k], low[k], high[k]
            remaining += 1
    return np.int64(-1), remaining, count, number


@part
def _list(balls: Balls, place: int, side: int, count: int, scratch: Scratch) -> int:
    """Write the locations of waiting nodes and their distances; returns their number."""
    total = 0
    for k in range(count):
        node = scratch.node[side, k]
        for location in range(balls.nodes[node, 0], balls.nodes[node, 1]):
            near, _ = haversines(balls.rows, place, location)
            scratch.location[total], scratch.near[total] = location, near
            total += 1
    return total


@part
def _select(values: Any, rank: int) -> Any:
    """The value that sorting would put at ``rank`` (Hoare's quickselect); reorders ``values``.

    np.partition does the same, but takes numba longer to compile than everything else here.
    """
    low, high = 0, len(values) - 1
    while low < high:
        pivot, left, right = values[(low + high) // 2], low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while pivot < values[right]:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left, right = left + 1, right - 1
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            break
    return values[rank]


@kernel
def _number_locations(listed: int, count: int, number: int, scratch: Scratch) -> Any:
    """Number near locations, as `_number_nodes` does; those at the edge remain, in doubt."""
    last = _select(scratch.near[:listed].copy(), count - 1)
    doubtful = 0
    for k in range(listed):
        if scratch.near[k] < last * (1 - _DOUBT):
            if number == 0:
                return np.int64(scratch.location[k]), doubtful, count, number
            count, number = count - 1, number - 1
        elif scratch.near[k] <= last * (1 + _DOUBT):
            scratch.location[doubtful] = scratch.location[k]
            doubtful += 1
    return np.int64(-1), doubtful, count, number


@kernel
def _number_tied(
    rows: Any, index: Any, place: int, doubtful: int, count: int, number: int, scratch: Scratch
) -> Any:
    """Number the locations in doubt, if that needs no distances of the reference."""
    # If all of them are near, any order will do. If all are equally far, the reference takes
    # the ones with the lowest indices. Otherwise its distances decide.
    if doubtful == count:
        return np.int64(scratch.location[number])
    near, far = haversines(rows, place, scratch.location[0])
    for k in range(1, doubtful):
        other = haversines(rows, place, scratch.location[k])
        if other[0] != near or other[1] != far:
            scratch.doubt[0], scratch.doubt[1], scratch.doubt[2] = doubtful, count, number
            return np.int64(-1)
    nth_index = _select(index[scratch.location[:doubtful]], number)
    for k in range(doubtful):
        if index[scratch.location[k]] == nth_index:
            return np.int64(scratch.location[k])
    return np.int64(-1)
