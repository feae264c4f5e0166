"""All scores of a set of reports, and the same scores of no-information baselines."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nomadp.analysis import hotspots
from nomadp.analysis.metrics import Scores, scores, uniform_answer
from nomadp.locations import LocationSet
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet

__all__ = [
    "BASELINES",
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
"""Prefixes of scores for which larger is better; all others are errors."""
BASELINES = ("constant", "uniform", "flat")
"""Always the medoid of the locations; uniformly random locations; equal counts everywhere."""


@dataclass(frozen=True)
class Yardstick:
    """The parameters of the scores of a data set; scores with other parameters differ."""

    radii_km: tuple[float, ...] = (1.0, 2.0, 4.0)
    popular_share: float = 0.75
    """The share of locations, most visited first, whose counts are compared."""
    hotspots: tuple[int, ...] = (10, 50)
    density_grid: int = 16
    flow_grid: int = 4


def measure_all(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, yardstick: Yardstick
) -> Measured:
    """Every score of ``reported``, trajectory k against trajectory k."""
    data = locations, true, reported
    measured = _named(scores(*data, yardstick.radii_km), yardstick)
    measured["acd"] = hotspots.count_difference(*data, yardstick.popular_share)
    for k in yardstick.hotspots:
        measured[f"recall_at_{k}"] = hotspots.hotspot_recall(*data, k)
    measured["density_js"] = hotspots.density_distance(*data, yardstick.density_grid)
    measured["flow_l1"] = hotspots.flow_error(*data, yardstick.flow_grid)
    measured["step_w1_km"] = hotspots.step_error_km(*data)
    return measured


def zero_information(
    locations: LocationSet, true: TrajectorySet, yardstick: Yardstick
) -> dict[str, Measured]:
    """By baseline, the scores of answers that do not depend on the trajectories."""
    medoid = np.full(len(true.locations), locations.medoid)
    constant = TrajectorySet(true.offsets, medoid, true.tids)
    share = yardstick.popular_share
    return {
        "constant": measure_all(locations, true, constant, yardstick),
        "uniform": _uniform(locations, true, yardstick),
        "flat": {"acd": hotspots.equal_counts_difference(locations, true, share)},
    }


def best_of(metric: str, scores: Mapping[str, float]) -> str:
    """The name with the best score, the first in a tie."""
    return (max if metric.startswith(RISING) else min)(scores, key=scores.__getitem__)


def is_better(metric: str, first: float, second: float) -> bool:
    return first > second if metric.startswith(RISING) else first < second


def _uniform(locations: LocationSet, true: TrajectorySet, yardstick: Yardstick) -> Measured:
    """Expected scores of uniform answers; for the density and the steps, their limits."""
    data, share = (locations, true), yardstick.popular_share
    expected = _named(uniform_answer(*data, yardstick.radii_km), yardstick)
    expected["acd"] = hotspots.uniform_count_difference(*data, share)
    for k in yardstick.hotspots:
        expected[f"recall_at_{k}"] = hotspots.uniform_hotspot_recall(*data, k)
    expected["density_js"] = hotspots.uniform_density_distance(*data, yardstick.density_grid)
    expected["flow_l1"] = hotspots.uniform_flow_error(*data, yardstick.flow_grid)
    expected["step_w1_km"] = hotspots.uniform_step_error_km(*data)
    return expected


def _named(answer: Scores, yardstick: Yardstick) -> Measured:
    within = zip(yardstick.radii_km, answer.range_query, strict=True)
    return {
        "ne": answer.normalised_error,
        "error_km": answer.error_km,
        **{f"prq_{radius_km:g}km": percent for radius_km, percent in within},
    }
