"""What kernels read and write: arrays and numbers under names."""

from typing import Any, NamedTuple

__all__ = ["Batch", "Drawn", "Plan", "Tables"]


class Tables(NamedTuple):
    """What is public about the locations, precomputed."""

    distance_km: Any  # (m, m)
    order: Any  # (m, m): the locations from the nearest to the farthest
    sums_km: Any  # (m, m + 1): of the k nearest distances
    sectors: Any  # (m, m), or empty


class Batch(NamedTuple):
    """Trajectories, one after the other, each with its row of words."""

    offsets: Any
    locations: Any
    words: Any
    means: Any  # the location nearest to each trajectory's mean, or empty


class Plan(NamedTuple):
    """A mechanism as numbers; laws are (share, ceiling) by copy and length."""

    diameter_km: float
    pivot: Any
    point: Any
    heavy: Any  # randomised response's weight of the truth, by copy and length
    anchor: Any  # (share, ceiling), or empty where there is no disc
    wave: Any  # resolution, reach, weight of the near cells
    calibration: Any  # share and density q of the radius, and the fixed radius or -1
    sectors: int
    both: bool  # directions from both neighbouring pivots
    coin: bool
    alone: bool  # a single location is drawn once, with all of epsilon
    union: bool  # as published: the truth joins its own domain, and the scale is the diameter's


class Drawn(NamedTuple):
    """Results: both copies, the coins of each position, and how many words each row took."""

    copies: Any  # (2, points)
    coins: Any
    used: Any
