"""The projection of a map: from degrees to pixels, and back."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.geometry import DEGREE_KM, Floats

__all__ = ["WIDTH", "Frame"]

WIDTH = 960.0
MARGIN = 34.0
BAR_KM = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
BAR_MIN_PX = 80.0


@dataclass(frozen=True, eq=False)
class Frame:
    """An equirectangular projection onto `WIDTH` pixels, true to scale at its middle."""

    middle: tuple[float, float]
    scale: float
    """Pixels in one degree of latitude."""
    height: float

    @classmethod
    def around(cls, lng: Floats, lat: Floats) -> "Frame":
        south, north = float(lat.min()), float(lat.max())
        west, east = float(lng.min()), float(lng.max())
        # A degree of longitude is shorter than one of latitude by this factor.
        shrink = np.cos(np.radians((south + north) / 2))
        wide = max((east - west) * shrink, (north - south) / 3, 1e-4)
        high = max(north - south, wide / 3)
        scale = min((WIDTH - 2 * MARGIN) / wide, 1.0 * WIDTH / high)
        height = min(max(high * scale + 2 * MARGIN, 0.5 * WIDTH), 0.82 * WIDTH)
        scale = min(scale, (height - 2 * MARGIN) / high)
        return cls(((west + east) / 2, (south + north) / 2), float(scale), float(height))

    def project(self, place: Any) -> Floats:
        """Pixels (n, 2) from longitudes and latitudes (n, 2)."""
        lng, lat = np.asarray(place, dtype=np.float64).T
        # From -180 to 180 degrees east of the middle, also across the date line.
        east = (lng - self.middle[0] + 180.0) % 360.0 - 180.0
        x = WIDTH / 2 + east * np.cos(np.radians(self.middle[1])) * self.scale
        return np.stack([x, self.height / 2 - (lat - self.middle[1]) * self.scale], axis=-1)

    def unproject(self, points: Any) -> Floats:
        """The inverse of `project`; longitudes exceed 180 across the date line."""
        x, y = np.asarray(points, dtype=np.float64).T
        east = (x - WIDTH / 2) / (np.cos(np.radians(self.middle[1])) * self.scale)
        lat = self.middle[1] + (self.height / 2 - y) / self.scale
        return np.stack([self.middle[0] + east, lat], axis=-1)

    @property
    def px_per_km(self) -> float:
        return self.scale / DEGREE_KM

    @property
    def scale_bar_km(self) -> float:
        """The length of the scale bar: the first round number that is long enough to see."""
        return next((km for km in BAR_KM if km * self.px_per_km > BAR_MIN_PX), BAR_KM[-1])
