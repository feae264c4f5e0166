"""How far the farthest location of a large set is."""

import math
from typing import Any

from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.mechanisms.fast.compiling import part
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.large.pairs import haversines, unit_vector

__all__ = ["DEEPEST", "farthest_km"]

_DIAMETER_KM = 2 * EARTH_RADIUS_KM
_SLACK = 1e-12  # of the Earth's radius: far above any rounding
_WIDE = 0.7  # the radius of a ball that holds a quarter of the Earth, about
DEEPEST = 128  # twice the bits of a key, and each level of the tree takes at least one


@part
def farthest_km(balls: Balls, place: int, pending: Any) -> float:
    """The largest distance from a location, up to the last bits, by branch and bound.

    ``pending`` has room for nodes that wait, at least `DEEPEST`.
    """
    ball, nodes = balls.ball, balls.nodes
    x, y, z = unit_vector(balls.rows, place)
    # In a set as wide as the Earth, far away is near the antipode, which sorts better.
    aim = (-x, -y, -z, -1.0) if ball[0, 3] > _WIDE else (x, y, z, 1.0)
    pending[0] = 0
    waiting, near, far = 1, 0.0, 1.0
    from_here, from_there = 0.0, 2.0
    while waiting > 0:
        waiting -= 1
        node = pending[waiting]
        if not _may_beat(ball, node, (x, y, z), (from_here, from_there)):
            continue
        left = nodes[node, 2]
        if left == 0:
            near, far = _farther(
                balls.rows, place, (nodes[node, 0], nodes[node, 1]), (near, far)
            )
            from_here, from_there = 2 * math.sqrt(near), 2 * math.sqrt(far)
            continue
        # What promises more is put on top.
        top = 1 if _promise(ball, left + 1, aim) > _promise(ball, left, aim) else 0
        pending[waiting], pending[waiting + 1] = left + 1 - top, left + top
        waiting += 2
    return _DIAMETER_KM * math.atan2(math.sqrt(near), math.sqrt(far))


@part
def _may_beat(ball: Any, node: int, here: Any, best: Any) -> bool:
    """Seen from here a ball ends at most at the distance of its centre plus its radius.

    Seen from the antipode it begins at least at the distance minus the radius, which is what
    tells near-antipodes apart. ``best`` is how far the best is from here and from there.
    """
    reach = ball[node, 3] + _SLACK
    ends, begins = best[0] - reach, best[1] + reach
    x, y, z = ball[node, 0] + here[0], ball[node, 1] + here[1], ball[node, 2] + here[2]
    if x * x + y * y + z * z > begins * begins:
        return False
    x, y, z = ball[node, 0] - here[0], ball[node, 1] - here[1], ball[node, 2] - here[2]
    return ends <= 0 or x * x + y * y + z * z >= ends * ends


@part
def _promise(ball: Any, node: int, aim: Any) -> float:
    """The larger, the sooner a node is searched: its centre's distance, or its opposite."""
    x, y, z = ball[node, 0] - aim[0], ball[node, 1] - aim[1], ball[node, 2] - aim[2]
    return aim[3] * (x * x + y * y + z * z)


@part
def _farther(rows: Any, place: int, span: Any, best: Any) -> Any:
    """The better of the best and of a run: the larger tangent of half the angle."""
    near, far = best
    for other in range(span[0], span[1]):
        sine, cosine = haversines(rows, place, other)
        if sine * far > near * cosine:
            near, far = sine, cosine
    return near, far
