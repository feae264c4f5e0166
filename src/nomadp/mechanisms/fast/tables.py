"""Square tables of a small location set: every distance, their order, and sectors."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nomadp.locations import LocationSet
from nomadp.mechanisms.fast.values import Tables

__all__ = ["tables_of"]


def tables_of(locations: LocationSet, sectors: int = 0) -> Tables:
    """Distances and their order, and sectors if their number is given."""
    table = _sectors(locations, sectors) if sectors else np.zeros((0, 0), dtype=np.uint8)
    return _distances(locations)._replace(sectors=table)


@lru_cache(maxsize=2)
def _distances(locations: LocationSet) -> Tables:
    size = len(locations)
    distance = np.stack([locations.distances_km(i) for i in range(size)])
    # Stable: ties by index, as everywhere.
    order = np.argsort(distance, axis=1, kind="stable").astype(np.int32)
    return Tables(distance, order, np.zeros((0, 0), dtype=np.uint8))


@lru_cache(maxsize=8)
def _sectors(locations: LocationSet, sectors: int) -> NDArray[np.uint8]:
    return np.stack([locations.sectors(i, sectors) for i in range(len(locations))])
