"""Where a place is on a flat map."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.geometry import DEGREE_KM, Floats

__all__ = ["WIDTH", "Frame"]

WIDTH = 960.0
MARGIN = 34.0
NICE_KM = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
BAR = 80.0


@dataclass(frozen=True, eq=False)
class Frame:
    """From degrees to points of a picture `WIDTH` wide, true to scale in the middle."""

    middle: tuple[float, float]
    scale: float
    height: float

    @classmethod
    def around(cls, lng: Floats, lat: Floats) -> "Frame":
        south, north = float(lat.min()), float(lat.max())
        west, east = float(lng.min()), float(lng.max())
        shrink = np.cos(np.radians((south + north) / 2))
        wide = max((east - west) * shrink, (north - south) / 3, 1e-4)
        high = max(north - south, wide / 3)
        scale = min((WIDTH - 2 * MARGIN) / wide, 1.0 * WIDTH / high)
        height = min(max(high * scale + 2 * MARGIN, 0.5 * WIDTH), 0.82 * WIDTH)
        scale = min(scale, (height - 2 * MARGIN) / high)
        return cls(((west + east) / 2, (south + north) / 2), float(scale), float(height))

    def at(self, place: Any) -> Floats:
        """Of (n, 2) longitudes and latitudes."""
        lng, lat = np.asarray(place, dtype=np.float64).T
        turn = (lng - self.middle[0] + 180.0) % 360.0 - 180.0
        x = WIDTH / 2 + turn * np.cos(np.radians(self.middle[1])) * self.scale
        return np.stack([x, self.height / 2 - (lat - self.middle[1]) * self.scale], axis=-1)

    def degrees(self, points: Any) -> Floats:
        """The other way: (n, 2) longitudes and latitudes; beyond 180 across the date line."""
        x, y = np.asarray(points, dtype=np.float64).T
        turn = (x - WIDTH / 2) / (np.cos(np.radians(self.middle[1])) * self.scale)
        lat = self.middle[1] + (self.height / 2 - y) / self.scale
        return np.stack([self.middle[0] + turn, lat], axis=-1)

    @property
    def km(self) -> float:
        """How long a kilometre is."""
        return self.scale / DEGREE_KM

    @property
    def bar_km(self) -> float:
        """What a bar of scale stands for: a round number, and not too short to see."""
        return next((each for each in NICE_KM if each * self.km > BAR), NICE_KM[-1])
