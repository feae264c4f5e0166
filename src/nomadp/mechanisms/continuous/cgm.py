"""CGM, the correlated Gaussian mechanism (PVLDB 2021): (epsilon, delta), not pure epsilon.

Each coordinate of the trajectory is a stream in [0, 1] whose steps are clipped to a public
bound. Because such a stream cannot jump, noise that is partly carried over from step to step
has the same privacy loss as fresh noise of larger variance.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from nomadp.budget import Split, Step, as_fraction, shown
from nomadp.drawing import Drawing
from nomadp.errors import BudgetError, DomainError
from nomadp.extras import require
from nomadp.geometry import Floats
from nomadp.mechanisms.continuous.base import ContinuousMechanism

__all__ = ["CorrelatedGaussian", "correlated_noise", "gaussian_multiplier"]

DELTA_MIN = Fraction(1, 10**30)
WIDTH = 1.0  # B, the range of a coordinate


@dataclass(frozen=True, kw_only=True)
class CorrelatedGaussian(ContinuousMechanism):
    """CGM: clipped coordinate streams plus Gaussian noise carried over from step to step."""

    name: ClassVar[str] = "cgm"
    warning: ClassVar[str] = (
        "its formula guarantees only (epsilon, delta), not pure epsilon, and its Gaussian "
        "noise is drawn in floats, for which the guarantee is not proved"
    )

    delta: Fraction | float | str = "0.1"
    step_bound: float = 0.1
    """The largest step of a coordinate, relative to the set's width (C)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delta", _as_delta(self.delta))
        if not 0 < self.step_bound < WIDTH / 2:
            raise DomainError(
                f"step_bound must be above 0 and below 1/2, got step_bound={self.step_bound}",
                code="parameter_out_of_range",
                parameter="step_bound",
            )

    def split(self, length: int) -> Split:
        """One step: a Gaussian release of the whole stream is not a sum of epsilons."""
        return Split(self.epsilon, (Step("stream", 0, 1, self.epsilon),))

    def moved(self, points: Floats, drawing: Drawing) -> Floats:
        require("analysis")
        from scipy.special import ndtri  # slow to import, and only this mechanism needs it

        multiplier = gaussian_multiplier(float(self.epsilon), float(self.delta))
        weights, deviations = correlated_noise(len(points), multiplier, self.step_bound)
        uniforms = [(drawing.uniform(), drawing.uniform()) for _ in points]
        normal = ndtri(np.array(uniforms)) * deviations[:, None]
        clipped, noise = np.empty_like(points), np.empty_like(points)
        for t, point in enumerate(points):
            previous, carried = (clipped[t - 1], noise[t - 1]) if t else (point, 0.0)
            # Clip to the clipped predecessor: only then are all steps of the stream bounded.
            clipped[t] = np.clip(point, previous - self.step_bound, previous + self.step_bound)
            noise[t] = weights[t] * carried + normal[t]  # n_t = c_t n_(t-1) + z_t
        moved: Floats = clipped + noise
        return moved


def correlated_noise(
    length: int, multiplier: float, step_bound: float
) -> tuple[list[float], Floats]:
    """For each step, the weight of the previous noise and the fresh noise's deviation.

    Each coordinate of each step gets the same part of the whole trajectory's budget.
    """
    free = WIDTH - 2 * step_bound  # a
    per_step = 1 / (multiplier**2 * 2 * length)  # rho_t: 1 / sigma^2 over 2 n coordinates
    weights, deviations = [0.0], [WIDTH / math.sqrt(per_step)]
    variance = WIDTH**2 / per_step  # v_t
    for _ in range(1, length):
        weights.append(free * WIDTH / (variance * per_step + free**2))  # c_t
        deviations.append((WIDTH - weights[-1] * free) / math.sqrt(per_step))  # s_t
        variance = 1 / (per_step / WIDTH**2 + (free / WIDTH) ** 2 / variance)
    return weights, np.array(deviations)


@lru_cache(maxsize=256)
def gaussian_multiplier(epsilon: float, delta: float) -> float:
    """The smallest noise, per unit of sensitivity, that is (epsilon, delta)-private.

    It solves the exact condition by bisection (the analytic Gaussian mechanism: Balle and Wang,
    ICML 2018).
    """
    # Double the upper end until it is private, then halve the interval down to adjacent floats.
    low, high = 0.0, 1.0
    while _smallest_delta(epsilon, high) > delta:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        private = _smallest_delta(epsilon, middle) <= delta
        low, high = (low, middle) if private else (middle, high)
    return high


def _smallest_delta(epsilon: float, sigma: float) -> float:
    """The smallest delta for which noise of this deviation is (epsilon, delta)-private."""
    shift, lean = 1 / (2 * sigma), epsilon * sigma
    return _normal_cdf(shift - lean) - math.exp(epsilon) * _normal_cdf(-shift - lean)


def _normal_cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _as_delta(value: Fraction | float | str) -> Fraction:
    delta = as_fraction(value)
    if delta is None or not DELTA_MIN <= delta < 1:
        raise BudgetError(
            f"delta must be a number between 0 and 1, at least {float(DELTA_MIN):g}, got "
            f"delta={shown(value)}",
            code="delta_out_of_range",
        )
    return delta
