"""Raw coordinates moved to the nearest of the public locations, and how far they moved."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats, haversine_km
from nomadp.locations import LocationSet

__all__ = ["SnapSummary", "snapped_to"]


@dataclass(frozen=True)
class SnapSummary:
    """How far raw coordinates moved when snapped to their nearest locations."""

    points: int
    median_km: float
    p95_km: float
    max_km: float
    moved_over_1km_share: float


def snapped_to(
    locations: LocationSet, lat: Floats, lng: Floats
) -> tuple[NDArray[np.int64], SnapSummary]:
    """The location of each point (at least one point), and a summary."""
    snapped = locations.nearest(lat, lng)
    moved_km = haversine_km(lat, lng, locations.lat[snapped], locations.lng[snapped])
    return snapped, SnapSummary(
        points=len(moved_km),
        median_km=float(np.median(moved_km)),
        p95_km=float(np.quantile(moved_km, 0.95)),
        max_km=float(moved_km.max()),
        moved_over_1km_share=float(np.mean(moved_km > 1)),
    )
