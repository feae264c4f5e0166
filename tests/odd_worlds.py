"""Location sets in which the nearest is hard to find: poles, antipodes, ties, duplicates."""

import numpy as np
from worlds import scattered

from nomadp.locations import LocationSet


def world(lat, lng) -> LocationSet:
    return LocationSet.from_columns([f"p{k}" for k in range(len(lat))], lat, lng)


def city(size: int) -> LocationSet:
    return scattered(size)


def globe(size: int) -> LocationSet:
    rng = np.random.default_rng(1)
    return world(np.degrees(np.arcsin(rng.uniform(-1, 1, size))), rng.uniform(-180, 180, size))


def date_line(size: int) -> LocationSet:
    rng = np.random.default_rng(2)
    lng = rng.uniform(179, 181, size)
    lng[:2] = 180.0, -180.0
    return world(rng.uniform(-18, -16, size), np.where(lng > 180, lng - 360, lng))


def pole(size: int) -> LocationSet:
    """Several locations at the pole itself, and a ring at equal distance around it."""
    rng = np.random.default_rng(3)
    lat, lng = rng.uniform(89, 90, size), rng.uniform(-180, 180, size)
    lat[::5], lat[1::5] = 90.0, 89.5
    return world(lat, lng)


def lattice(size: int) -> LocationSet:
    """Exact alignments, antipodes and duplicates, not in the order of the curve."""
    side = np.random.default_rng(4).permutation(size)
    return world((side % 5 - 2) * 22.5, (side // 5 % 8 - 4) * 45.0)


def streets(size: int) -> LocationSet:
    """A street grid: nearly all distances are tied with others, up to rounding."""
    side = np.random.default_rng(5).permutation(size)
    return world(41.8 + side % 9 * 0.01, -87.6 + side // 9 * 0.01)


def antipodes(size: int) -> LocationSet:
    """Two small areas on opposite sides of the Earth, a few metres around exact antipodes."""
    rng = np.random.default_rng(6)
    lat, lng = rng.uniform(40, 40.00003, size), rng.uniform(3, 3.00003, size)
    half = size // 2
    lat[:half], lng[:half] = -lat[half : 2 * half], lng[half : 2 * half] - 180
    return world(lat, lng)


def one_apart(size: int) -> LocationSet:
    lat, lng = np.full(size, 40.0), np.full(size, 3.0)
    lat[size // 3] = 40.5
    return world(lat, lng)


ODD_WORLDS = [city, globe, date_line, pole, lattice, streets, antipodes, one_apart]
