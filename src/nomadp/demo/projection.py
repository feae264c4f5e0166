"""A flat projection to kilometres east and north of a city's middle."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.geometry import DEGREE_KM, Floats
from nomadp.locations import LocationSet

__all__ = ["FlatProjection"]


@dataclass(frozen=True)
class FlatProjection:
    """An equirectangular projection around one point, given in degrees."""

    lat: float
    lng: float

    @classmethod
    def of(cls, locations: LocationSet) -> "FlatProjection":
        """The projection around the mean of the locations."""
        return cls(float(locations.lat.mean()), float(locations.lng.mean()))

    @property
    def _scale(self) -> Floats:
        return np.array([DEGREE_KM * np.cos(np.radians(self.lat)), DEGREE_KM])

    def km(self, degrees: Any) -> Floats:
        """Project (n, 2) longitudes and latitudes to kilometres."""
        return np.asarray((np.asarray(degrees) - (self.lng, self.lat)) * self._scale)

    def degrees(self, km: Any) -> Floats:
        """Convert (n, 2) kilometres back to longitudes and latitudes."""
        return np.asarray(np.asarray(km) / self._scale + (self.lng, self.lat))
