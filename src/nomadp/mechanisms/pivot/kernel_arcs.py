"""The angles of many squared sines at once: an arcsine that a processor does side by side.

A library's arcsine takes one value at a time, and the calibration of a radius asks for the
distances to a whole sample.
"""

import math
from typing import Any

from nomadp.mechanisms.fast.compiling import part

__all__ = ["SERIES", "to_angles"]

# Interpolates arcsin(t) / t at 19 Chebyshev points of t^2 from 0 to 1/2, as a polynomial in
# 4 t^2 - 1, the highest power first. It errs by less than the last two bits.
SERIES = (
    1.294087904918515e-11,
    4.207679353989645e-11,
    7.597606552881001e-11,
    2.514428331625947e-10,
    9.606986257778525e-10,
    3.2125465398641487e-09,
    1.0699801762268182e-08,
    3.646596273974707e-08,
    1.2584618618630428e-07,
    4.402075904513191e-07,
    1.5669625983394028e-06,
    5.701781075076665e-06,
    2.134555260606702e-05,
    8.302317819140265e-05,
    0.0003408637234163692,
    0.001519668539582746,
    0.007798902238973735,
    0.05375149359132718,
    1.0471975511965979,
)


@part
def to_angles(squares: Any, room: Any) -> None:
    """Replace each squared sine, from 0 to 1, by its angle; ``room`` is two rows as long."""
    size = len(squares)
    at, value = room[0], room[1]
    for k in range(size):
        at[k] = 4 * min(squares[k], 1 - squares[k]) - 1
        value[k] = SERIES[0]
    for term in range(1, len(SERIES)):
        following = SERIES[term]
        for k in range(size):
            value[k] = value[k] * at[k] + following
    for k in range(size):
        smaller = math.sqrt(min(squares[k], 1 - squares[k])) * value[k]
        squares[k] = smaller if squares[k] <= 0.5 else math.pi / 2 - smaller
