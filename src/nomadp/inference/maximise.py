"""Where a smooth value is highest: L-BFGS (Liu and Nocedal 1989), in plain arrays.

The common ones hand tiny matrices to a linear algebra library that wakes threads for them; on
a busy machine that takes ten times as long as the rest of learning.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nomadp.inference.estimate import Floats

__all__ = ["Maximum", "maximise"]

ROUNDS_MAX = 200
TOLERANCE = 1e-8
"""The climb ends when a round gains less than this part of the value."""
LEVEL = 1e-7
"""Or when nothing is steeper than this."""
MEMORY = 10
"""Rounds that tell how the slope bends."""
ENOUGH, FLATTER = 1e-4, 0.9
"""Of what the slope promises, the least gain; and of the slope, what may be left of it."""
TRIES = 40

Value = Callable[[Floats], tuple[float, Floats]]
"""Of a place: how high it is, and its slope."""
_Bends = deque[tuple[Floats, Floats, float]]


class Maximum(NamedTuple):
    place: Floats
    history: tuple[float, ...]
    """The value before the first round and after each."""
    converged: bool
    """False when the climb ended because its rounds did."""


class _Here(NamedTuple):
    place: Floats
    value: float
    slope: Floats


def maximise(value: Value, start: Floats) -> Maximum:
    """From ``start`` upwards, until more rounds gain nothing."""
    here = _Here(start, *value(start))
    history, bends = [here.value], _Bends(maxlen=MEMORY)
    for _ in range(ROUNDS_MAX):
        if np.abs(here.slope).max(initial=0.0) <= LEVEL:
            return Maximum(here.place, tuple(history), converged=True)
        there = _stepped(value, here, bends)
        if there is None:  # no step gains anything that rounding leaves
            return Maximum(here.place, tuple(history), converged=True)
        gain, scale = there.value - here.value, max(abs(there.value), abs(here.value), 1.0)
        move, bend = there.place - here.place, here.slope - there.slope
        curvature = _dot(move, bend)
        if curvature > np.finfo(float).eps * _dot(bend, bend):
            bends.append((move, bend, curvature))
        here = there
        history.append(here.value)
        if gain <= TOLERANCE * scale:
            return Maximum(here.place, tuple(history), converged=True)
    return Maximum(here.place, tuple(history), converged=False)


def _stepped(value: Value, here: _Here, bends: _Bends) -> _Here | None:
    """A step that gains enough and leaves it flatter (Wolfe's conditions), by halving."""
    way = _way(here.slope, bends)
    steep = _dot(here.slope, way)
    if steep <= 0:
        bends.clear()
        way, steep = here.slope, _dot(here.slope, here.slope)
    low, high, best = 0.0, np.inf, None
    length = 1.0 if bends else min(1.0, 1 / float(np.sqrt(steep)))
    for _ in range(TRIES):
        place = here.place + length * way
        there = _Here(place, *value(place))
        if not there.value >= here.value + ENOUGH * length * steep:
            high = length
        elif _dot(there.slope, way) > FLATTER * steep:
            low, best = length, there
        else:
            return there
        length = (low + high) / 2 if high < np.inf else 2 * low
    return best


def _way(slope: Floats, bends: _Bends) -> Floats:
    """Upwards, as far as the last rounds say that it goes on: the two loops of L-BFGS."""
    way, parts = slope.copy(), []
    for move, bend, curvature in reversed(bends):
        part = _dot(move, way) / curvature
        way -= part * bend
        parts.append(part)
    if bends:
        _, bend, curvature = bends[-1]
        way *= curvature / _dot(bend, bend)
    for (move, bend, curvature), part in zip(bends, reversed(parts), strict=True):
        way += (part - _dot(bend, way) / curvature) * move
    return way


def _dot(one: Floats, other: Floats) -> float:
    return float(np.einsum("i,i->", one, other))  # without the library's threads
