"""Maximise a smooth function with L-BFGS (Liu and Nocedal 1989), in plain arrays.

Common implementations call a linear algebra library for tiny matrices, which wakes its threads;
on a busy machine that takes ten times as long as the rest of the fit.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nomadp.inference.estimate import Floats

__all__ = ["Maximum", "maximise"]

ROUNDS_MAX = 200
TOLERANCE = 1e-8
"""Converged when an iteration gains less than this part of the value."""
GRADIENT_TOLERANCE = 1e-7
"""Or when no component of the gradient is larger than this."""
MEMORY = 10
"""Past steps that approximate the inverse Hessian."""
ARMIJO, CURVATURE = 1e-4, 0.9
"""Constants of the Wolfe conditions, the usual values for quasi-Newton methods (Nocedal and
Wright 2006, section 3.1)."""
TRIES = 40  # trial steps of a line search

Objective = Callable[[Floats], tuple[float, Floats]]
"""Maps a point to the value and the gradient there."""
_Pairs = deque[tuple[Floats, Floats, float]]
"""Past steps s, negative changes of the gradient y, and s . y, oldest first."""


class Maximum(NamedTuple):
    """Where the maximisation ended."""

    place: Floats
    history: tuple[float, ...]
    """The value at the start and after each iteration."""
    converged: bool
    """False when it stopped after `ROUNDS_MAX` iterations."""


class _Point(NamedTuple):
    place: Floats
    value: float
    gradient: Floats


def maximise(objective: Objective, start: Floats) -> Maximum:
    """Ascend from ``start`` until an iteration gains nothing."""
    current = _Point(start, *objective(start))
    history, pairs = [current.value], _Pairs(maxlen=MEMORY)
    for _ in range(ROUNDS_MAX):
        if np.abs(current.gradient).max(initial=0.0) <= GRADIENT_TOLERANCE:
            return Maximum(current.place, tuple(history), converged=True)
        new = _line_search(objective, current, pairs)
        if new is None:  # no step gains more than rounding takes
            return Maximum(current.place, tuple(history), converged=True)
        gain, scale = new.value - current.value, max(abs(new.value), abs(current.value), 1.0)
        step, bend = new.place - current.place, current.gradient - new.gradient
        curvature = _dot(step, bend)
        # Only pairs with positive curvature keep the Hessian approximation definite.
        if curvature > np.finfo(float).eps * _dot(bend, bend):
            pairs.append((step, bend, curvature))
        current = new
        history.append(current.value)
        if gain <= TOLERANCE * scale:
            return Maximum(current.place, tuple(history), converged=True)
    return Maximum(current.place, tuple(history), converged=False)


def _line_search(objective: Objective, current: _Point, pairs: _Pairs) -> _Point | None:
    """A step that satisfies the weak Wolfe conditions, by bisection."""
    direction = _direction(current.gradient, pairs)
    slope = _dot(current.gradient, direction)
    if slope <= 0:  # no ascent direction: forget the past and follow the gradient
        pairs.clear()
        direction, slope = current.gradient, _dot(current.gradient, current.gradient)
    low, high, best = 0.0, np.inf, None
    length = 1.0 if pairs else min(1.0, 1 / float(np.sqrt(slope)))
    for _ in range(TRIES):
        place = current.place + length * direction
        trial = _Point(place, *objective(place))
        if not trial.value >= current.value + ARMIJO * length * slope:
            high = length  # gains too little (Armijo): shorter
        elif _dot(trial.gradient, direction) > CURVATURE * slope:
            low, best = length, trial  # still as steep: longer
        else:
            return trial
        length = (low + high) / 2 if high < np.inf else 2 * low
    return best


def _direction(gradient: Floats, pairs: _Pairs) -> Floats:
    """The approximate Newton direction: the two-loop recursion of L-BFGS."""
    direction, parts = gradient.copy(), []
    for step, bend, curvature in reversed(pairs):
        part = _dot(step, direction) / curvature
        direction -= part * bend
        parts.append(part)
    if pairs:  # the initial inverse Hessian: a multiple of the identity
        _, bend, curvature = pairs[-1]
        direction *= curvature / _dot(bend, bend)
    for (step, bend, curvature), part in zip(pairs, reversed(parts), strict=True):
        direction += (part - _dot(bend, direction) / curvature) * step
    return direction


def _dot(first: Floats, second: Floats) -> float:
    return float(np.einsum("i,i->", first, second))  # without the library's threads
