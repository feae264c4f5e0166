"""A public bounding box in degrees, for example of a city or a grid."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nomadp.errors import InvalidArgument
from nomadp.formats.columns import BadValue, decimals
from nomadp.geometry import DEGREE_KM, Floats

__all__ = ["Box"]


@dataclass(frozen=True)
class Box:
    """A box including its borders. If west is greater than east, it crosses the date line."""

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        lng_in_range = all(-180 <= lng <= 180 for lng in (self.west, self.east))
        lat_in_range = -90 <= self.south < self.north <= 90
        if not (lng_in_range and lat_in_range and self.west != self.east):
            raise InvalidArgument(
                "a box must be west,south,east,north in degrees with south below north, "
                f"got {self}",
                code="box_out_of_range",
            )

    @classmethod
    def parse(cls, text: str) -> "Box":
        """Parse `west,south,east,north`."""
        try:
            west, south, east, north = decimals(text.split(",")).tolist()
        except (BadValue, ValueError):
            raise InvalidArgument(
                "a box must be four numbers, west,south,east,north in degrees, such as "
                f"-88,41.6,-87.4,42, got {text[:80]}",
                code="not_a_box",
            ) from None
        return cls(west, south, east, north)

    def __str__(self) -> str:
        sides = self.west, self.south, self.east, self.north
        return ",".join(repr(float(side)).removesuffix(".0") for side in sides)

    @property
    def width_degrees(self) -> float:
        # Modulo 360 also handles boxes across the date line; 0 is the whole circle.
        return (self.east - self.west) % 360.0 or 360.0

    @property
    def size_km(self) -> tuple[float, float]:
        """The width at the latitude where it is largest, and the height."""
        crosses_equator = self.south < 0 < self.north
        min_abs_lat = 0.0 if crosses_equator else min(abs(self.south), abs(self.north))
        width_km = self.width_degrees * DEGREE_KM * math.cos(math.radians(min_abs_lat))
        return width_km, (self.north - self.south) * DEGREE_KM

    def contains(self, lat: ArrayLike, lng: ArrayLike) -> NDArray[np.bool_]:
        lat_deg, lng_deg = np.asarray(lat), np.asarray(lng)
        if self.west <= self.east:
            in_lng_range = (self.west <= lng_deg) & (lng_deg <= self.east)
        else:
            in_lng_range = (self.west <= lng_deg) | (lng_deg <= self.east)
        return np.asarray(in_lng_range & (self.south <= lat_deg) & (lat_deg <= self.north))

    def lng_at(self, share: ArrayLike) -> Floats:
        """The longitude at these shares of the width, from the west."""
        lng = self.west + np.asarray(share, dtype=np.float64) * self.width_degrees
        return np.where(lng > 180.0, lng - 360.0, lng)

    def lat_at(self, share: ArrayLike) -> Floats:
        """The latitude at these shares of the height, from the south."""
        height = self.north - self.south
        return np.asarray(self.south + np.asarray(share, dtype=np.float64) * height)
