"""One of the so many locations nearest to a place, for many places at once.

The walk of kernels/nearest.py, level by level: the nodes that wait for all places stand in one
list, run after run. Numbers are given in the kernel's order and every rounding is the kernel's,
so that a number names the same location whether numba is there or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Booleans
from nomadp.mechanisms.fast.values import Balls

__all__ = ["nearest_points"]

_AT_ONCE = 2**15  # nodes or locations that wait: few enough to stay near the processor
# As in the kernel, where the reasons are.
_DOUBT = 1e-12
_SLACK = 1e-12
_HALVINGS = 4

Items = Ints | NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Tasks:
    """What is asked, and what is left to tell; rewritten while nodes are told near or far."""

    place: Ints
    here: Floats  # (3, tasks): the places as points of the unit sphere
    count: Ints
    number: Ints
    edge: Floats  # (2, tasks): limits around the last of the nearest
    found: Ints  # the location, or -1


@dataclass(frozen=True, eq=False, repr=False)
class Waiting:
    """Nodes or locations that are neither near nor far yet: a run of them for each task."""

    task: Ints
    size: Ints  # of each run: nobody waits for nothing
    item: Items
    low: Floats  # how near the item is, at least
    high: Floats  # and at most

    @cached_property
    def start(self) -> Ints:
        return np.cumsum(self.size) - self.size

    @cached_property
    def run(self) -> Ints:
        """The run of each item."""
        return np.repeat(np.arange(len(self.size)), self.size)

    def total(self, of_items: Items | Booleans) -> Ints:
        """The sum over each run."""
        if not len(self.size):
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat(of_items, self.start, dtype=np.int64)

    def kept(self, is_kept: Booleans) -> "Waiting":
        """Only these items, and only the tasks that still have one."""
        size = self.total(is_kept)
        some, items = size > 0, np.flatnonzero(is_kept)
        return Waiting(
            self.task[some], size[some], self.item[items], self.low[items], self.high[items]
        )

    def parts(self, cost: Ints) -> "Iterator[Waiting]":
        """Runs after runs, about `_AT_ONCE` of the cost in each part; a run stays whole."""
        if not len(self.task):
            return
        ends = np.cumsum(cost)
        pieces = -(-int(ends[-1]) // _AT_ONCE)
        piece = (ends - 1) * pieces // ends[-1]
        cuts = np.flatnonzero(np.diff(piece, prepend=-1, append=pieces))
        for first, end in pairwise(cuts):
            items = slice(self.start[first], self.start[end - 1] + self.size[end - 1])
            yield Waiting(
                self.task[first:end],
                self.size[first:end],
                self.item[items],
                self.low[items],
                self.high[items],
            )


def nearest_points(balls: Balls, index: Ints, secrets: Ints, out: Ints) -> None:
    """For each (place, count, number): the location, or -1 where the reference must decide.

    ``index`` tells where a location stands in the set: the lower one wins a tie.
    """
    for first in range(0, len(out), _AT_ONCE):
        place, count, number = secrets[first : first + _AT_ONCE].T.copy()
        found = out[first : first + _AT_ONCE]
        found[:] = -1
        here = _unit_vectors(balls.rows, place)
        root = np.zeros(len(place), dtype=np.int32)
        low, high = _bounds(balls.ball, root, here)
        tasks = Tasks(place, here, count, number, np.stack([low, high]), found)
        one = np.ones(len(place), dtype=np.int64)
        _find(balls, index, tasks, Waiting(np.arange(len(place)), one, root, low, high))


def _find(balls: Balls, index: Ints, tasks: Tasks, waiting: Waiting) -> None:
    """Every task's location; one part goes down to the end before the next one begins."""
    pending = [waiting]
    while pending:
        waiting, divided = _divide(balls, tasks, pending.pop())
        first, held = _runs(balls.nodes, waiting.item)
        _narrow(tasks, waiting, held)
        waiting = _told(tasks, waiting, first, held)
        is_new = np.isin(waiting.task, divided, assume_unique=True)[waiting.run]
        below, ended = waiting.kept(is_new), waiting.kept(~is_new)
        pending.extend(below.parts(below.size))
        listed = ended.total(_runs(balls.nodes, ended.item)[1])
        for part in ended.parts(listed):
            _settle(balls, index, tasks, part)


def _runs(nodes: NDArray[np.int32], item: Items) -> tuple[Ints, Ints]:
    """The first location of each node, and how many it holds."""
    first, end, _ = nodes[item].T.astype(np.int64)
    return first, end - first


def _bounds(ball: Floats, node: Items, here: Floats) -> tuple[Floats, Floats]:
    """How near the locations of each node are to a point: at least, and at most."""
    around = ball[node].T
    reach, apart = around[3] + _SLACK, _apart(around, here)
    least, most = np.maximum(0.0, apart - reach), apart + reach
    low, high = least * least / 4, most * most / 4
    beyond = np.flatnonzero(apart * apart > 2)
    if len(beyond):
        # Chords hardly grow towards the antipode: there, what counts is how far it is from it.
        apart, reach = _apart(around[:, beyond], -here[:, beyond]), reach[beyond]
        least, most = np.maximum(0.0, apart - reach), apart + reach
        low[beyond] = 1 - most * most / 4 - _DOUBT
        high[beyond] = 1 - least * least / 4 + _DOUBT
    return low, high


def _apart(around: Floats, here: Floats) -> Floats:
    x, y, z = around[0] - here[0], around[1] - here[1], around[2] - here[2]
    apart: Floats = np.sqrt(x * x + y * y + z * z)
    return apart


def _divide(balls: Balls, tasks: Tasks, waiting: Waiting) -> tuple[Waiting, Ints]:
    """Every node replaced by its children, and the tasks of which any node had some."""
    left = balls.nodes[waiting.item, 2]
    is_parent = left > 0
    count = 1 + is_parent
    item = np.repeat(np.where(is_parent, left, waiting.item), count)
    item[(np.cumsum(count) - 1)[is_parent]] += 1
    low, high = np.repeat(waiting.low, count), np.repeat(waiting.high, count)
    size, parents = waiting.total(count), waiting.total(is_parent)
    new = np.flatnonzero(np.repeat(is_parent, count))
    here = np.repeat(tasks.here[:, waiting.task], 2 * parents, axis=1)
    low[new], high[new] = _bounds(balls.ball, item[new], here)
    return Waiting(waiting.task, size, item, low, high), waiting.task[parents > 0]


def _narrow(tasks: Tasks, waiting: Waiting, held: Items) -> None:
    """Limits around the last of the nearest, inside of those that are known."""
    low, beyond = tasks.edge[:, waiting.task]
    high, before = beyond, low
    count = tasks.count[waiting.task]
    for _ in range(_HALVINGS):
        middle, upper = (low + beyond) / 2, (before + high) / 2
        possible = waiting.total(held * (waiting.low <= middle[waiting.run]))
        certain = waiting.total(held * (waiting.high <= upper[waiting.run]))
        is_below, is_above = possible < count, certain >= count
        low, beyond = np.where(is_below, middle, low), np.where(is_below, beyond, middle)
        high, before = np.where(is_above, upper, high), np.where(is_above, before, upper)
    tasks.edge[:, waiting.task] = low, high


def _told(tasks: Tasks, waiting: Waiting, first: Items, held: Items) -> Waiting:
    """Give numbers to near items and drop far ones: what still waits, for whom it must.

    An item is a run of ``held`` locations that begins with ``first``.
    """
    run, task = waiting.run, waiting.task
    low, high = tasks.edge[:, task]
    is_near = waiting.high < low[run]
    given = np.cumsum(held * is_near, dtype=np.int64)
    before = given[waiting.start] - (held * is_near)[waiting.start]
    given -= before[run]  # numbers up to and with this item
    number = tasks.number[task][run]
    mine = np.flatnonzero(is_near & (number < given) & (number >= given - held))
    tasks.found[task[run[mine]]] = (first + number - given + held)[mine]
    near = given[waiting.start + waiting.size - 1]
    tasks.count[task] -= near
    tasks.number[task] -= near
    is_open = (tasks.found[task] < 0)[run]
    return waiting.kept(is_open & ~is_near & (waiting.low <= high[run]))


def _settle(balls: Balls, index: Ints, tasks: Tasks, nodes: Waiting) -> None:
    """The same for the locations of nodes that have no children."""
    listed = _list(balls, tasks, nodes)
    # Complex numbers are sorted by their real part first: every run for itself.
    near = np.empty(len(listed.item), dtype=np.complex128)
    near.real, near.imag = listed.run, listed.low
    near.sort()
    last = near.imag[listed.start + tasks.count[listed.task] - 1]
    tasks.edge[:, listed.task] = last * (1 - _DOUBT), last * (1 + _DOUBT)
    one = np.ones(len(listed.item), dtype=np.int64)
    doubtful = _told(tasks, listed, listed.item, one)
    _settle_ties(balls.rows, index, tasks, doubtful)


def _list(balls: Balls, tasks: Tasks, nodes: Waiting) -> Waiting:
    """The locations of nodes that wait, and how near they are."""
    first, held = _runs(balls.nodes, nodes.item)
    spot = np.repeat(first - np.cumsum(held) + held, held) + np.arange(held.sum())
    size = nodes.total(held)
    here, there = balls.rows[np.repeat(tasks.place[nodes.task], size)].T, balls.rows[spot].T
    near = _near(here, there)
    return Waiting(nodes.task, size, spot, near, near)


def _settle_ties(rows: Floats, index: Ints, tasks: Tasks, doubtful: Waiting) -> None:
    """Of locations in doubt: all if all are near, the first in the set if they are level."""
    run, start, task = doubtful.run, doubtful.start, doubtful.task
    number = tasks.number[task]
    are_near = doubtful.size == tasks.count[task]
    near, far = doubtful.low, _far(rows[tasks.place[task][run]].T, rows[doubtful.item].T)
    is_other = (near != near[start][run]) | (far != far[start][run])
    are_level = doubtful.total(is_other) == 0
    ranked = doubtful.item[np.lexsort((index[doubtful.item], run))]
    first = np.where(are_level, ranked[start + number], -1)
    tasks.found[task] = np.where(are_near, doubtful.item[start + number], first)


def _near(a: Floats, b: Floats) -> Floats:
    """The squared sine of half the angle between two locations."""
    sin_lng, cos_lng = b[2] * a[3] - b[3] * a[2], b[3] * a[3] + b[2] * a[2]
    lat = (b[0] * a[1] - b[1] * a[0]) * cos_lng
    lng = (a[1] * b[1] - a[0] * b[0]) * sin_lng
    near: Floats = lat * lat + lng * lng
    return near


def _far(a: Floats, b: Floats) -> Floats:
    """Its squared cosine."""
    sin_lng, cos_lng = b[2] * a[3] - b[3] * a[2], b[3] * a[3] + b[2] * a[2]
    lat = (b[1] * a[1] + b[0] * a[0]) * cos_lng
    lng = (a[0] * b[1] + a[1] * b[0]) * sin_lng
    far: Floats = lat * lat + lng * lng
    return far


def _unit_vectors(rows: Floats, place: Ints) -> Floats:
    """The locations as points of the unit sphere, (3, places)."""
    _, _, sin_half, cos_half, sin_lat, cos_lat = rows[place].T
    sin_lng = 2 * sin_half * cos_half
    cos_lng = cos_half * cos_half - sin_half * sin_half
    return np.stack([cos_lat * cos_lng, cos_lat * sin_lng, sin_lat])
