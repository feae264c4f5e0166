"""Every score at once, and the same scores of answers that carry no information."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nomadp.analysis import hotspots
from nomadp.analysis.metrics import Scores, scores, uniform_answer
from nomadp.locations import LocationSet
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet

__all__ = [
    "FLOORS",
    "Measured",
    "Yardstick",
    "best_of",
    "is_better",
    "measure_all",
    "zero_information",
]

Measured = dict[str, float]
"""Scores by name: ne, error_km, prq_1km, acd, recall_at_10, density_js, flow_l1, step_w1_km."""

RISING = ("prq_", "recall_")
"""Scores of which more is better; all others are errors."""
FLOORS = ("constant", "uniform", "flat")
"""The medoid of P for everything; a uniformly random location; N/m visits everywhere."""


@dataclass(frozen=True)
class Yardstick:
    """What is measured with. It belongs to a data set: scores of two yardsticks differ."""

    radii_km: tuple[float, ...] = (1.0, 2.0, 4.0)
    popular_share: float = 0.75
    """Of the locations, the most visited first: those whose counts are compared."""
    hotspots: tuple[int, ...] = (10, 50)
    density_grid: int = 16
    flow_grid: int = 4


def measure_all(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, yardstick: Yardstick
) -> Measured:
    """Every score of ``reported``, trajectory k against trajectory k."""
    world = locations, true, reported
    found = _named(scores(*world, yardstick.radii_km), yardstick)
    found["acd"] = hotspots.count_difference(*world, yardstick.popular_share)
    for k in yardstick.hotspots:
        found[f"recall_at_{k}"] = hotspots.hotspot_recall(*world, k)
    found["density_js"] = hotspots.density_distance(*world, yardstick.density_grid)
    found["flow_l1"] = hotspots.flow_error(*world, yardstick.flow_grid)
    found["step_w1_km"] = hotspots.step_error_km(*world)
    return found


def zero_information(
    locations: LocationSet, true: TrajectorySet, yardstick: Yardstick
) -> dict[str, Measured]:
    """By floor, the scores of an answer that never looked at the trajectories."""
    medoid = np.full(len(true.locations), locations.medoid)
    constant = TrajectorySet(true.offsets, medoid, true.tids)
    share = yardstick.popular_share
    return {
        "constant": measure_all(locations, true, constant, yardstick),
        "uniform": _uniform(locations, true, yardstick),
        "flat": {"acd": hotspots.flat_count_difference(locations, true, share)},
    }


def best_of(metric: str, scores: Mapping[str, float]) -> str:
    """Whose score is best, the first in a tie."""
    return (max if metric.startswith(RISING) else min)(scores, key=scores.__getitem__)


def is_better(metric: str, first: float, second: float) -> bool:
    return first > second if metric.startswith(RISING) else first < second


def _uniform(locations: LocationSet, true: TrajectorySet, yardstick: Yardstick) -> Measured:
    """Expectations over uniform answers; the density and the steps they tend to."""
    found = _named(uniform_answer(locations, true, yardstick.radii_km), yardstick)
    found["acd"] = hotspots.uniform_count_difference(locations, true, yardstick.popular_share)
    for k in yardstick.hotspots:
        found[f"recall_at_{k}"] = hotspots.uniform_hotspot_recall(locations, true, k)
    found["density_js"] = hotspots.uniform_density_distance(
        locations, true, yardstick.density_grid
    )
    found["flow_l1"] = hotspots.uniform_flow_error(locations, true, yardstick.flow_grid)
    found["step_w1_km"] = hotspots.uniform_step_error_km(locations, true)
    return found


def _named(answer: Scores, yardstick: Yardstick) -> Measured:
    within = zip(yardstick.radii_km, answer.range_query, strict=True)
    return {
        "ne": answer.normalised_error,
        "error_km": answer.error_km,
        **{f"prq_{radius_km:g}km": percent for radius_km, percent in within},
    }
