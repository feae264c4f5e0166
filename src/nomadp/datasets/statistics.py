"""What a set of trajectories looks like: steps, visits, lengths and extents, side by side.

The numbers are those of the data as they are. They are not private: they are for whoever
holds the data and wants to know whether another set resembles it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError
from nomadp.geometry import Floats, chord_to_km, unit_vectors
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = ["Description", "describe", "quantiles"]

QUANTILES = (0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 1.0)
TOP_SHARES = (0.01, 0.05, 0.10, 0.25)
LONGEST = 8
"""Lengths above this are one class: the paper's sets end here."""


@dataclass(frozen=True)
class Description:
    """Lengths in km are divided by the diameter, so that cities of any size compare."""

    places: int
    trajectories: int
    points: int
    diameter_km: float
    visited_share: float
    """Of the places, those that anybody visits."""
    stay_share: float | None
    """Of the steps, those that end where they began; None if there are no steps."""
    step: dict[str, float] | None
    """Quantiles of the step length over the diameter."""
    gyration: dict[str, float]
    """Quantiles of the radius of gyration over the diameter, one radius per trajectory."""
    top_visits: dict[str, float]
    """Share of all visits that the most visited 1, 5, 10, 25 % of the places receive."""
    length: dict[str, float]
    """Share of the trajectories of each length."""


def describe(locations: LocationSet, trajectories: TrajectorySet) -> Description:
    """The statistics of `trajectories` over `locations`; at least one trajectory."""
    trajectories.check_size(len(locations))
    if not len(trajectories):
        raise DomainError(
            "a description needs at least one trajectory, got none", code="no_trajectories"
        )
    visited, within = trajectories.locations, trajectories.seq[1:] > 0
    visits = np.bincount(visited, minlength=len(locations))
    diameter_km = locations.diameter_km
    here, there = visited[:-1][within], visited[1:][within]
    steps_km = locations.distances_between_km(here, there)
    return Description(
        places=len(locations),
        trajectories=len(trajectories),
        points=len(visited),
        diameter_km=diameter_km,
        visited_share=float(np.mean(visits > 0)),
        stay_share=float(np.mean(here == there)) if len(steps_km) else None,
        step=quantiles(QUANTILES, steps_km / diameter_km) if len(steps_km) else None,
        gyration=quantiles(QUANTILES, _gyration_km(locations, trajectories) / diameter_km),
        top_visits=_top(np.sort(visits)[::-1]),
        length=_lengths(trajectories.lengths),
    )


def _gyration_km(locations: LocationSet, trajectories: TrajectorySet) -> Floats:
    """Root mean square distance of each trajectory's points to their middle."""
    start, lengths = trajectories.offsets[:-1], trajectories.lengths
    vector = unit_vectors(locations.lat, locations.lng)[trajectories.locations]
    middle = np.add.reduceat(vector, start)
    size = np.linalg.norm(middle, axis=1, keepdims=True)
    middle = middle / np.where(size > 0, size, 1.0)
    chord = np.linalg.norm(vector - np.repeat(middle, lengths, axis=0), axis=1)
    square = np.add.reduceat(chord_to_km(chord) ** 2, start)
    return np.asarray(np.sqrt(square / lengths))


def quantiles(shares: Sequence[float], values: NDArray[Any]) -> dict[str, float]:
    """By their shares in percent."""
    found = np.quantile(values, shares)
    return {f"{q:.0%}": float(value) for q, value in zip(shares, found, strict=True)}


def _top(visits: NDArray[np.int64]) -> dict[str, float]:
    """`visits` is sorted, most first; at least one place counts as the top."""
    total = visits.cumsum()
    rank = [max(1, round(share * len(visits))) - 1 for share in TOP_SHARES]
    return {
        f"{share:.0%}": float(total[k] / total[-1])
        for share, k in zip(TOP_SHARES, rank, strict=True)
    }


def _lengths(lengths: NDArray[np.int64]) -> dict[str, float]:
    count = np.bincount(np.minimum(lengths, LONGEST + 1), minlength=LONGEST + 2)
    names = [*map(str, range(1, LONGEST + 1)), f"over {LONGEST}"]
    return {name: float(count[k + 1] / len(lengths)) for k, name in enumerate(names)}
