"""Where reported points lie, by area: their density on a grid against the true one."""

import numpy as np

from nomadp.analysis.metrics import check_same_shape
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet
from nomadp.unit_square import UnitSquare

__all__ = ["density_distance", "jensen_shannon", "uniform_density_distance"]


def density_distance(
    locations: LocationSet, true: TrajectorySet, reported: TrajectorySet, granularity: int
) -> float:
    """Jensen-Shannon distance of the two densities: 0 if equal, 1 if nowhere alike."""
    check_same_shape(true, reported)
    cell = UnitSquare(locations).cells(granularity)
    first, second = (
        np.bincount(cell[each.locations], minlength=granularity**2) for each in (true, reported)
    )
    return jensen_shannon(first / first.sum(), second / second.sum())


def uniform_density_distance(
    locations: LocationSet, true: TrajectorySet, granularity: int
) -> float:
    """The floor of uniform answers and of a flat estimate: both are as dense as P itself."""
    cell = UnitSquare(locations).cells(granularity)
    density = np.bincount(cell[true.locations], minlength=granularity**2)
    public = np.bincount(cell, minlength=granularity**2)
    return jensen_shannon(density / density.sum(), public / public.sum())


def jensen_shannon(first: Floats, second: Floats) -> float:
    """The square root of the Jensen-Shannon divergence in bits: a metric in [0, 1]."""
    middle = (first + second) / 2
    divergence = (_divergence_bits(first, middle) + _divergence_bits(second, middle)) / 2
    return float(np.sqrt(max(divergence, 0.0)))  # rounding may fall below zero


def _divergence_bits(first: Floats, second: Floats) -> float:
    seen = first > 0
    return float(np.sum(first[seen] * np.log2(first[seen] / second[seen])))
