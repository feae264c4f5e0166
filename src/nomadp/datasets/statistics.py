"""Statistics of a set of trajectories: steps, visits, lengths and extents.

These are exact statistics of the raw data, without any privacy protection. They are for someone
who has the data and wants to compare it with another data set.
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
"""Longer trajectories are one class. The paper's data sets end at this length."""


@dataclass(frozen=True)
class Description:
    """Distances are divided by the diameter, so that cities of any size can be compared."""

    places: int
    trajectories: int
    points: int
    diameter_km: float
    visited_share: float
    """Share of the places that have at least one visit."""
    stay_share: float | None
    """Share of the steps that end where they began; None if there are no steps."""
    step: dict[str, float] | None
    """Quantiles of the step length over the diameter."""
    gyration: dict[str, float]
    """Quantiles of the radius of gyration over the diameter, one radius per trajectory."""
    top_visits: dict[str, float]
    """Share of all visits to the most visited 1, 5, 10 and 25 % of the places."""
    length: dict[str, float]
    """Share of the trajectories of each length."""


def describe(locations: LocationSet, trajectories: TrajectorySet) -> Description:
    """The statistics of at least one trajectory over `locations`."""
    trajectories.check_size(len(locations))
    if not len(trajectories):
        raise DomainError(
            "there must be at least one trajectory to describe, got none",
            code="no_trajectories",
        )
    visited, is_step = trajectories.locations, trajectories.seq[1:] > 0
    visits = np.bincount(visited, minlength=len(locations))
    diameter_km = locations.diameter_km
    origin, destination = visited[:-1][is_step], visited[1:][is_step]
    steps_km = locations.distances_between_km(origin, destination)
    return Description(
        places=len(locations),
        trajectories=len(trajectories),
        points=len(visited),
        diameter_km=diameter_km,
        visited_share=float(np.mean(visits > 0)),
        stay_share=float(np.mean(origin == destination)) if len(steps_km) else None,
        step=quantiles(QUANTILES, steps_km / diameter_km) if len(steps_km) else None,
        gyration=quantiles(QUANTILES, _gyration_km(locations, trajectories) / diameter_km),
        top_visits=_top(np.sort(visits)[::-1]),
        length=_lengths(trajectories.lengths),
    )


def _gyration_km(locations: LocationSet, trajectories: TrajectorySet) -> Floats:
    """Radius of gyration: the root mean square distance of the points to their centre."""
    start, lengths = trajectories.offsets[:-1], trajectories.lengths
    vector = unit_vectors(locations.lat, locations.lng)[trajectories.locations]
    # The centre is the normalised mean of the unit vectors, so that no map projection and no
    # date line affects it. Distances to it come from the lengths of chords.
    centre = np.add.reduceat(vector, start)
    norm = np.linalg.norm(centre, axis=1, keepdims=True)
    centre = centre / np.where(norm > 0, norm, 1.0)
    chord = np.linalg.norm(vector - np.repeat(centre, lengths, axis=0), axis=1)
    square = np.add.reduceat(chord_to_km(chord) ** 2, start)
    return np.asarray(np.sqrt(square / lengths))


def quantiles(shares: Sequence[float], values: NDArray[Any]) -> dict[str, float]:
    """The quantiles at these shares, by share in percent."""
    values_at = np.quantile(values, shares)
    return {f"{q:.0%}": float(value) for q, value in zip(shares, values_at, strict=True)}


def _top(visits: NDArray[np.int64]) -> dict[str, float]:
    """Shares of the most visited places, of which there is at least one.

    `visits` is sorted, largest first.
    """
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
