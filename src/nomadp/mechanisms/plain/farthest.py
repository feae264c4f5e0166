"""How far the farthest location of a large set is, from many locations at a time.

All nodes that may hold it are followed down the tree together. Of several locations that are
equally far up to rounding the kernel keeps one, which depends on its way through the tree: so
where several are, it is asked itself, and the distance is the same to the last bit.
"""

import math

import numpy as np

from nomadp.geometry import EARTH_RADIUS_KM, Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Booleans
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.large import farthest as one_by_one
from nomadp.mechanisms.plain.ragged import pieces, runs
from nomadp.mechanisms.plain.sights import haversines, unit_vectors

__all__ = ["farthest_km"]

_DIAMETER_KM = 2 * EARTH_RADIUS_KM
_SLACK = 1e-12  # of the Earth's radius: far above any rounding
_WIDE = 0.7  # the radius of a ball that holds a quarter of the Earth, about
_AT_ONCE = 2**12  # locations from which others are far
_LISTED = 2**19  # pairs of locations looked at together
_GUESSES = 16  # locations of a leaf that are looked at first


def farthest_km(balls: Balls, place: Ints) -> Floats:
    """The largest distance from each location."""
    places, which = np.unique(place, return_inverse=True)
    far_km = [
        _farthest_km(balls, places[start : start + _AT_ONCE])
        for start in range(0, len(places), _AT_ONCE)
    ]
    return np.concatenate(far_km)[which]


def _farthest_km(balls: Balls, place: Ints) -> Floats:
    owner, node = _leaves(balls, place)
    start, end, _ = balls.nodes[node].T.astype(np.int64)
    of_place = np.bincount(owner, weights=end - start, minlength=len(place)).astype(np.int64)
    first = np.searchsorted(owner, np.arange(len(place) + 1))
    far_km = np.empty(len(place))
    for piece in pieces(of_place, _LISTED):
        some = slice(first[piece.start], first[piece.stop])
        location, leaf = runs(start[some], (end - start)[some])
        whose = owner[some][leaf]
        near_far = haversines(balls.rows, place[whose], location)
        begin = np.cumsum(of_place[piece]) - of_place[piece]
        far_km[piece] = _largest_km(balls, place[piece], near_far, begin)
    return far_km


def _largest_km(
    balls: Balls, place: Ints, near_far: tuple[Floats, Floats], begin: Ints
) -> Floats:
    """The largest distance in each run of pairs, each of which begins somewhere."""
    near, far = near_far
    owner = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(near)))
    ratio = np.divide(near, far, out=np.full(len(near), np.inf), where=far > 0)
    largest = np.maximum.reduceat(ratio, begin)
    top = np.flatnonzero(ratio >= largest[owner] * (1 - _SLACK))
    first = top[np.searchsorted(owner[top], np.arange(len(begin)))]
    leader = first[owner[top]]
    ties = (near[top] != near[leader]) | (far[top] != far[leader])
    # The library's arctangent, as in the kernel: numpy's may differ in the last bit.
    angle = map(math.atan2, np.sqrt(near[first]).tolist(), np.sqrt(far[first]).tolist())
    most_km = _DIAMETER_KM * np.fromiter(angle, dtype=np.float64, count=len(first))
    pending = np.empty(one_by_one.DEEPEST, dtype=np.int32)
    for k in np.unique(owner[top[ties]]).tolist():
        most_km[k] = one_by_one.farthest_km(balls, place[k], pending)
    return most_km


def _leaves(balls: Balls, place: Ints) -> tuple[Ints, Ints]:
    """Leaves that may hold the location farthest from each place: whose, and which."""
    here = np.stack(unit_vectors(balls.rows, place))
    best = _first_guess(balls, place, here)
    owner, node = np.arange(len(place)), np.zeros(len(place), dtype=np.int64)
    whose, leaves = [], []
    while len(owner):
        may = _may_beat(balls.ball[node], here[:, owner], best[:, owner])
        owner, node = owner[may], node[may]
        left = balls.nodes[node, 2].astype(np.int64)
        is_leaf = left == 0
        whose.append(owner[is_leaf])
        leaves.append(node[is_leaf])
        owner, left = np.repeat(owner[~is_leaf], 2), np.repeat(left[~is_leaf], 2)
        node = left + np.arange(len(left)) % 2
    owner = np.concatenate(whose)
    order = np.argsort(owner, kind="stable")
    return owner[order], np.concatenate(leaves)[order]


def _first_guess(balls: Balls, place: Ints, here: Floats) -> Floats:
    """How far some far location is from here and from the antipode, as chords: (2, places)."""
    ball, nodes = balls.ball, balls.nodes
    # In a set as wide as the Earth, far away is near the antipode, which sorts better.
    sign = -1.0 if ball[0, 3] > _WIDE else 1.0
    node = np.zeros(len(place), dtype=np.int64)
    while True:
        left = nodes[node, 2].astype(np.int64)
        if not left.any():
            break
        second, first = (_promise(ball[left + k], here, sign) for k in (1, 0))
        node = np.where(left == 0, node, left + (second > first))
    start, end, _ = nodes[node].T.astype(np.int64)
    location = np.minimum(start[:, None] + np.arange(_GUESSES), end[:, None] - 1)
    near, far = haversines(balls.rows, np.repeat(place, _GUESSES), location.reshape(-1))
    near, far = near.reshape(-1, _GUESSES), far.reshape(-1, _GUESSES)
    every, chosen = np.arange(len(place)), near.argmax(axis=1)
    return np.asarray(2 * np.sqrt([near[every, chosen], far[every, chosen]]))


def _may_beat(ball: Floats, here: Floats, best: Floats) -> Booleans:
    """Seen from here a ball ends at most at the distance of its centre plus its radius.

    Seen from the antipode it begins at least at the distance minus the radius.
    """
    reach = ball[:, 3] + _SLACK
    ends, begins = best[0] - reach, best[1] + reach
    from_there = ((ball[:, :3].T + here) ** 2).sum(axis=0)
    from_here = ((ball[:, :3].T - here) ** 2).sum(axis=0)
    may_end = (ends <= 0) | (from_here >= ends * ends)
    return np.asarray(may_end & (from_there <= begins * begins))


def _promise(ball: Floats, here: Floats, sign: float) -> Floats:
    """The larger, the sooner a node is searched: its centre's distance, or its opposite."""
    return np.asarray(sign * ((ball[:, :3].T - sign * here) ** 2).sum(axis=0))
