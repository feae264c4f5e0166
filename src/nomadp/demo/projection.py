"""Kilometres east and north of a city's middle: what the page draws in, flat enough for it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.geometry import DEGREE_KM, Floats
from nomadp.locations import LocationSet

__all__ = ["Flat"]


@dataclass(frozen=True)
class Flat:
    """Around one point, in degrees."""

    lat: float
    lng: float

    @classmethod
    def of(cls, locations: LocationSet) -> "Flat":
        """Around the mean of the locations."""
        return cls(float(locations.lat.mean()), float(locations.lng.mean()))

    @property
    def _scale(self) -> Floats:
        return np.array([DEGREE_KM * np.cos(np.radians(self.lat)), DEGREE_KM])

    def km(self, degrees: Any) -> Floats:
        """Of (n, 2) longitudes and latitudes."""
        return np.asarray((np.asarray(degrees) - (self.lng, self.lat)) * self._scale)

    def degrees(self, km: Any) -> Floats:
        """The other way."""
        return np.asarray(np.asarray(km) / self._scale + (self.lng, self.lat))
