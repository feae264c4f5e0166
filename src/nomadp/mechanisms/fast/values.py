"""The arguments and results of kernels: named tuples of arrays and numbers."""

from typing import Any, NamedTuple

__all__ = ["Balls", "Batch", "Domain", "Drawn", "Plan", "Tables", "withheld"]


def withheld(value: object) -> str:
    """The repr of values that contain private locations, words or draws."""
    return f"{type(value).__name__}(withheld)"


class Tables(NamedTuple):
    """Precomputed public facts about a small location set."""

    distance_km: Any  # (m, m)
    order: Any  # (m, m): the locations from the nearest to the farthest
    sectors: Any  # (m, m), or empty


class Balls(NamedTuple):
    """A large set: locations in the order of its ball tree, a ball for each node, and cells."""

    rows: Any  # (m, 6): the columns of geometry.Places, location by location
    ball: Any  # (nodes, 4): centre and radius, where the Earth is the unit sphere
    nodes: Any  # (nodes, 3): first location, last + 1, left child (the right one follows) or 0
    borders: Any  # (sectors, 2): of geometry.sector_borders
    levels: int  # depth of the cells in the tree: there are 2^levels
    disc_sizes: Any  # (cells, sizes): of discs, as squared sines of half an angle
    disc_cells: Any  # (cells, sizes, blocks): cells, as bits, that such a disc may intersect
    sector_cells: Any  # (sectors, cells, blocks): cells that a cell may see in a sector


class Domain(NamedTuple):
    """Locations in a disc and in reported sectors; -1 where there is no anchor or pivot."""

    anchor: int
    radius_km: float
    edge: float  # of the disc, as a squared sine of half an angle
    pivots: Any  # two
    reported: Any  # the sector that each pivot reports


class Batch(NamedTuple):
    """Concatenated trajectories, each with its row of words."""

    offsets: Any
    locations: Any
    words: Any
    means: Any  # the location nearest to each trajectory's mean, or empty

    def __repr__(self) -> str:
        return withheld(self)


class Plan(NamedTuple):
    """A mechanism as numbers; laws are (share, ceiling) by copy and length."""

    diameter_km: float
    pivot: Any
    point: Any
    heavy: Any  # randomised response's weight of the truth, by copy and length
    anchor: Any  # (share, ceiling), or empty where there is no disc
    sectors: int
    both: bool  # directions from both neighbouring pivots
    coin: bool
    alone: bool  # a single location is drawn once, with all of epsilon


class Drawn(NamedTuple):
    """Results: both copies, the coin of each position, and the words that each row used."""

    copies: Any  # (2, points)
    coins: Any
    used: Any

    def __repr__(self) -> str:
        return withheld(self)
