"""CGM, the correlated Gaussian mechanism (PVLDB 2021): (epsilon, delta), not pure.

Each coordinate of the trajectory is a stream in [0, 1] whose steps are clipped to a public
bound. Because a stream cannot jump, noise that is partly carried over from step to step
costs no more than fresh noise of larger variance.
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

__all__ = ["CorrelatedGaussian", "carried_noise", "gaussian_multiplier"]

DELTA_MIN = Fraction(1, 10**30)
WIDTH = 1.0  # of the range of a coordinate: B


@dataclass(frozen=True, kw_only=True)
class CorrelatedGaussian(ContinuousMechanism):
    """CGM: clipped coordinate streams plus Gaussian noise carried over from step to step."""

    name: ClassVar[str] = "cgm"
    warning: ClassVar[str] = (
        "its formula guarantees (epsilon, delta) and so fails with probability delta, and its "
        "Gaussian noise is drawn in floats, for which the guarantee is not proved"
    )

    delta: Fraction | float | str = "0.1"
    step_bound: float = 0.1
    """How far a coordinate may move in one step, as a part of the set's width."""

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
        kept, fresh = carried_noise(len(points), multiplier, self.step_bound)
        uniforms = [(drawing.uniform(), drawing.uniform()) for _ in points]
        normal = ndtri(np.array(uniforms)) * fresh[:, None]
        clipped, noise = np.empty_like(points), np.empty_like(points)
        for t, point in enumerate(points):
            last, carried = (clipped[t - 1], noise[t - 1]) if t else (point, 0.0)
            clipped[t] = np.clip(point, last - self.step_bound, last + self.step_bound)
            noise[t] = kept[t] * carried + normal[t]
        moved: Floats = clipped + noise
        return moved


def carried_noise(
    length: int, multiplier: float, step_bound: float
) -> tuple[list[float], Floats]:
    """For each step, the part of the last noise that is kept and the fresh noise's deviation.

    Each coordinate of each step gets the same part of the whole trajectory's budget.
    """
    free = WIDTH - 2 * step_bound  # a
    per_step = 1 / (multiplier**2 * 2 * length)  # rho_t
    kept, fresh = [0.0], [WIDTH / math.sqrt(per_step)]
    variance = WIDTH**2 / per_step  # v_t
    for _ in range(1, length):
        kept.append(free * WIDTH / (variance * per_step + free**2))
        fresh.append((WIDTH - kept[-1] * free) / math.sqrt(per_step))
        variance = 1 / (per_step / WIDTH**2 + (free / WIDTH) ** 2 / variance)
    return kept, np.array(fresh)


@lru_cache(maxsize=256)
def gaussian_multiplier(epsilon: float, delta: float) -> float:
    """The smallest noise, per unit of sensitivity, that is (epsilon, delta)-private.

    Found by bisection of the exact condition (Balle and Wang, ICML 2018).
    """
    low, high = 0.0, 1.0
    while _failure(epsilon, high) > delta:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _failure(epsilon, middle) > delta else (low, middle)
    return high


def _failure(epsilon: float, sigma: float) -> float:
    """The smallest delta with which noise of this deviation keeps epsilon."""
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
