"""The farthest location of a large set, by branch and bound on its ball tree."""

import math
from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.large.pairs import haversines, unit_vector

__all__ = ["farthest_locations"]

_SLACK = 1e-12  # of the Earth's radius: far above any rounding
_DOUBT = 1e-13  # relative to the angle: above any rounding, and below the slack
_WIDE = 0.7  # about the radius of a ball that contains a quarter of the Earth
_DEEPEST = 128  # twice the bits of a key: each level of the tree decides at least one bit


@kernel
def farthest_locations(balls: Balls, places: Any, out: Any) -> None:
    """The location farthest from each place, or -1 where rounding could decide between two."""
    pending = np.empty(_DEEPEST, dtype=np.int32)
    for k in range(len(places)):
        out[k] = _farthest(balls, places[k], pending)


@part
def _farthest(balls: Balls, place: int, pending: Any) -> Any:
    ball, nodes = balls.ball, balls.nodes
    x, y, z = unit_vector(balls.rows, place)
    # In a set as wide as the Earth, search near the antipode: chords to it distinguish far
    # locations better.
    aim = (-x, -y, -z, -1.0) if ball[0, 3] > _WIDE else (x, y, z, 1.0)
    # Depth-first branch and bound: a stack of nodes that may contain a farther location. The
    # best one has the squared sine `near` and cosine `far`; `second` is the next best angle.
    pending[0] = 0
    waiting = 1
    best, near, far, second = place, 0.0, 1.0, -1.0
    while waiting > 0:
        waiting -= 1
        node = pending[waiting]
        if not _may_beat(ball, node, (x, y, z), (2 * math.sqrt(near), 2 * math.sqrt(far))):
            continue
        left = nodes[node, 2]
        if left > 0:
            # The more promising child is searched first, so that more nodes can be skipped.
            top = 1 if _promise(ball, left + 1, aim) > _promise(ball, left, aim) else 0
            pending[waiting], pending[waiting + 1] = left + 1 - top, left + top
            waiting += 2
            continue
        for other in range(nodes[node, 0], nodes[node, 1]):
            sine, cosine = haversines(balls.rows, place, other)
            if sine == near and cosine == far:
                continue  # equal to the bit, also for the reference: the same distance
            # Compare squared tangents without dividing.
            if sine * far > near * cosine:
                best, near, far, sine, cosine = other, sine, cosine, near, far
            second = max(second, _angle(sine, cosine))
    return best if second < _angle(near, far) * (1 - _DOUBT) or near == 0 else -1


@part
def _angle(near: float, far: float) -> float:
    return math.atan2(math.sqrt(near), math.sqrt(far))


@part
def _may_beat(ball: Any, node: int, place: Any, best: Any) -> bool:
    """Whether a ball may contain a location that is farther than the best one.

    ``best`` has the chords from the best location to the place and to its antipode. A ball
    ends at most at its centre's distance plus its radius. It begins, seen from the antipode, at
    least at its centre's distance minus its radius, which is the sharper test near there.
    """
    reach = ball[node, 3] + _SLACK
    ends, begins = best[0] - reach, best[1] + reach
    x, y, z = ball[node, 0] + place[0], ball[node, 1] + place[1], ball[node, 2] + place[2]
    if x * x + y * y + z * z > begins * begins:
        return False
    x, y, z = ball[node, 0] - place[0], ball[node, 1] - place[1], ball[node, 2] - place[2]
    return ends <= 0 or x * x + y * y + z * z >= ends * ends


@part
def _promise(ball: Any, node: int, aim: Any) -> float:
    """The priority of a node: its centre's squared distance, or minus that to the antipode."""
    x, y, z = ball[node, 0] - aim[0], ball[node, 1] - aim[1], ball[node, 2] - aim[2]
    return aim[3] * (x * x + y * y + z * z)
