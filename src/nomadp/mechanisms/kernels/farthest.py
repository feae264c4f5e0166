"""How far the farthest location of a large set is."""

import math
from typing import Any

from nomadp.mechanisms.kernels.compiling import part
from nomadp.mechanisms.kernels.sights import haversines, km_between, unit_vector
from nomadp.mechanisms.kernels.values import Balls

__all__ = ["DEEPEST", "farthest_km"]

_SLACK = 1e-12  # of the Earth's radius: far above any rounding
DEEPEST = 128  # twice the bits of a key, and each level of the tree takes at least one


@part
def farthest_km(balls: Balls, place: int, pending: Any) -> float:
    """The largest distance from a location, exactly, by branch and bound.

    ``pending`` has room for nodes that wait, at least `DEEPEST`.
    """
    nodes, here = balls.nodes, unit_vector(balls.rows, place)
    pending[0] = 0
    waiting = 1
    best = (0.0, 0.0, 1.0)
    while waiting > 0:
        waiting -= 1
        node = pending[waiting]
        if not _may_beat(balls.ball, node, here, best):
            continue
        left = nodes[node, 2]
        if left == 0:
            best = _farther(balls.rows, place, (nodes[node, 0], nodes[node, 1]), best)
            continue
        # What promises more is put on top.
        top = 1 if _apart(balls.ball, left + 1, here) > _apart(balls.ball, left, here) else 0
        pending[waiting], pending[waiting + 1] = left + 1 - top, left + top
        waiting += 2
    return best[0]


@part
def _may_beat(ball: Any, node: int, here: Any, best: Any) -> bool:
    """Seen from here a ball ends at most at the distance of its centre plus its radius.

    Seen from the antipode it begins at least at the distance minus the radius, which is what
    tells near-antipodes apart. ``best`` is (km, squared sine, squared cosine of half).
    """
    reach = ball[node, 3] + _SLACK
    if _apart(ball, node, here) + reach < 2 * math.sqrt(best[1]):
        return False
    opposite = (-here[0], -here[1], -here[2])
    return _apart(ball, node, opposite) - reach <= 2 * math.sqrt(best[2])


@part
def _apart(ball: Any, node: int, here: Any) -> float:
    x, y, z = ball[node, 0] - here[0], ball[node, 1] - here[1], ball[node, 2] - here[2]
    return math.sqrt(x * x + y * y + z * z)


@part
def _farther(rows: Any, place: int, span: Any, best: Any) -> Any:
    for other in range(span[0], span[1]):
        near, far = haversines(rows, place, other)
        if near > best[1] - _SLACK:
            km = km_between(rows, place, other)
            if km > best[0]:
                best = (km, near, far)
    return best
