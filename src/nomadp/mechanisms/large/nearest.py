"""One of the so many locations nearest to a place, in a large set, without ranking the set.

The nearest locations are given numbers, each exactly one, in the order in which the tree tells
that they are near: whole nodes first, then parts of those that cross the edge. Which location
has which number depends on nothing but the place, so a uniform number is a uniform location.
Only who draws a number of the last part has to walk down to it: most draws end after a few
nodes, and the expected work grows like the logarithm of the size.

How near a location is, is the squared sine of half its angle. Where two of them differ by less
than `_DOUBT`, the reference's distances decide, and they are not for a loop to compute.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.values import Balls, withheld
from nomadp.mechanisms.large.pairs import haversines, unit_vector

__all__ = ["Scratch", "nearest_points", "new_scratch", "one_of_nearest"]

_DOUBT = 1e-12  # a share of the squared sine: far above any rounding, the reference's included
_SLACK = 1e-12  # of the Earth's radius: in a squared sine at least as much as the doubt
_HALVINGS = 4  # of the range of the edge, at each level


class Scratch(NamedTuple):
    """Where nodes and locations wait to be told near or far, and what was left in doubt."""

    node: Any  # (2, leaves): by turns
    low: Any  # (2, leaves): no location of the node is nearer
    high: Any  # (2, leaves): and none is farther
    spot: Any  # (m,): locations, and how near they are
    near: Any  # (m,)
    doubt: Any  # how many locations are in doubt, how many of them are near, the number drawn

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
    """For each (place, count, number): the location, or -1 where the reference must decide."""
    scratch = new_scratch(balls)
    for k in range(len(out)):
        out[k] = one_of_nearest(balls, index, secrets[k], scratch)


@kernel
def one_of_nearest(balls: Balls, index: Any, secret: Any, scratch: Scratch) -> Any:
    """The location with this number among the ``count`` nearest to a place.

    ``index`` tells where a location stands in the set: the lower one wins a tie. Returns -1
    where the number belongs to one of the locations in doubt; they are in ``scratch`` then.
    """
    place, count, number = secret[0], secret[1], secret[2]
    here = unit_vector(balls.rows, place)
    low, high = _bounds(balls.ball, 0, here)
    scratch.node[0, 0], scratch.low[0, 0], scratch.high[0, 0] = 0, low, high
    side, waiting, divided = 0, 1, True
    while divided:
        # One level down the ball tree, then limits for how far the last of the nearest is.
        waiting, divided = _divide(balls, here, side, waiting, scratch)
        side = 1 - side
        low, high = _edge(balls.nodes, side, waiting, count, low, high, scratch)
        # What is surely near takes the lowest numbers, what is surely far goes.
        found, waiting, count, number = _told(
            balls.nodes, side, waiting, count, number, low, high, scratch
        )
        if found >= 0:
            return found
    # Only leaves that cross the edge remain: check their locations one by one.
    listed = _list(balls, place, side, waiting, scratch)
    found, doubtful, count, number = _nearer(listed, count, number, scratch)
    if found >= 0:
        return found
    return _tied(balls.rows, index, place, doubtful, count, number, scratch)


@part
def _bounds(ball: Any, node: int, here: Any) -> Any:
    """How near the locations of a node are: at least, and at most."""
    reach = ball[node, 3] + _SLACK
    apart = _apart(ball, node, here)
    if apart * apart <= 2:
        least, most = max(0.0, apart - reach), apart + reach
        return least * least / 4, most * most / 4
    # Chords hardly grow towards the antipode: there, what counts is how far it is from that.
    apart = _apart(ball, node, (-here[0], -here[1], -here[2]))
    least, most = max(0.0, apart - reach), apart + reach
    return 1 - most * most / 4 - _DOUBT, 1 - least * least / 4 + _DOUBT


@part
def _apart(ball: Any, node: int, here: Any) -> float:
    x, y, z = ball[node, 0] - here[0], ball[node, 1] - here[1], ball[node, 2] - here[2]
    return math.sqrt(x * x + y * y + z * z)


@part
def _divide(balls: Balls, here: Any, side: int, count: int, scratch: Scratch) -> Any:
    """Every node that waits replaced by its children; how many wait now, and if any is new."""
    other, found, divided = 1 - side, 0, False
    for k in range(count):
        node = scratch.node[side, k]
        left = balls.nodes[node, 2]
        if left == 0:
            scratch.node[other, found] = node
            scratch.low[other, found], scratch.high[other, found] = (
                scratch.low[side, k],
                scratch.high[side, k],
            )
            found += 1
            continue
        divided = True
        for child in range(left, left + 2):
            low, high = _bounds(balls.ball, child, here)
            scratch.node[other, found] = child
            scratch.low[other, found], scratch.high[other, found] = low, high
            found += 1
    return found, divided


@part
def _edge(
    nodes: Any, side: int, size: int, count: int, low: float, beyond: float, scratch: Scratch
) -> Any:
    """Limits around the last of the ``count`` nearest, inside of those that are known."""
    high, before = beyond, low
    node, lows, highs = scratch.node[side], scratch.low[side], scratch.high[side]
    for _ in range(_HALVINGS):
        middle, upper = (low + beyond) / 2, (before + high) / 2
        possible = certain = 0
        for k in range(size):
            held = nodes[node[k], 1] - nodes[node[k], 0]
            possible += held if lows[k] <= middle else 0
            certain += held if highs[k] <= upper else 0
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
def _told(
    nodes: Any,
    side: int,
    waiting: int,
    count: int,
    number: int,
    nearest: float,
    farthest: float,
    scratch: Scratch,
) -> Any:
    """Give numbers to near nodes and drop far ones: the location, or -1 and what is left."""
    node, low, high = scratch.node[side], scratch.low[side], scratch.high[side]
    kept = 0
    for k in range(waiting):
        if high[k] < nearest:
            first, size = nodes[node[k], 0], nodes[node[k], 1] - nodes[node[k], 0]
            if number < size:
                return np.int64(first + number), kept, count, number
            count, number = count - size, number - size
        elif low[k] <= farthest:
            node[kept], low[kept], high[kept] = node[k], low[k], high[k]
            kept += 1
    return np.int64(-1), kept, count, number


@part
def _list(balls: Balls, place: int, side: int, count: int, scratch: Scratch) -> int:
    """Write the locations of the nodes that wait, and how near they are; returns how many."""
    found = 0
    for k in range(count):
        node = scratch.node[side, k]
        for location in range(balls.nodes[node, 0], balls.nodes[node, 1]):
            near, _ = haversines(balls.rows, place, location)
            scratch.spot[found], scratch.near[found] = location, near
            found += 1
    return found


@part
def _ranked(values: Any, rank: int) -> Any:
    """The value that sorting would put at ``rank``, by Hoare's selection; moves ``values``.

    It is np.partition's, which takes numba longer to compile than everything else here.
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
def _nearer(listed: int, count: int, number: int, scratch: Scratch) -> Any:
    """The same for locations: the one with this number, or what is left in doubt."""
    last = _ranked(scratch.near[:listed].copy(), count - 1)
    doubtful = 0
    for k in range(listed):
        if scratch.near[k] < last * (1 - _DOUBT):
            if number == 0:
                return np.int64(scratch.spot[k]), doubtful, count, number
            count, number = count - 1, number - 1
        elif scratch.near[k] <= last * (1 + _DOUBT):
            scratch.spot[doubtful] = scratch.spot[k]
            doubtful += 1
    return np.int64(-1), doubtful, count, number


@kernel
def _tied(
    rows: Any, index: Any, place: int, doubtful: int, count: int, number: int, scratch: Scratch
) -> Any:
    """Of locations in doubt: all if all are near, the first in the set if they are level."""
    if doubtful == count:
        return np.int64(scratch.spot[number])
    near, far = haversines(rows, place, scratch.spot[0])
    for k in range(1, doubtful):
        other = haversines(rows, place, scratch.spot[k])
        if other[0] != near or other[1] != far:
            scratch.doubt[0], scratch.doubt[1], scratch.doubt[2] = doubtful, count, number
            return np.int64(-1)
    wanted = _ranked(index[scratch.spot[:doubtful]], number)
    for k in range(doubtful):
        if index[scratch.spot[k]] == wanted:
            return np.int64(scratch.spot[k])
    return np.int64(-1)
