"""What the kernels of ATLAS read, and where they work: arrays and numbers under names."""

from typing import Any, NamedTuple

__all__ = ["Chart", "Scratch"]


class Chart(NamedTuple):
    """An atlas of one length as the kernels have it; everything is public."""

    book: Any  # (length, size): the atlas by position
    point: Any  # (m, 3): the locations in space, in radii around their middle
    axis: Any  # (length, 3, size): the atlas' own points, likewise
    series: Any  # (4,): arc over chord, in powers of the squared chord
    folds: bool  # whether arcs of more than a quarter of the Earth's round occur
    table_km: Any  # (m, m): all distances, or empty in a large set
    rows: Any  # (m, 4): the first columns of geometry.Places in a large set, or empty
    top_km: float  # no rough total is as large
    off_km: float  # how far a rough total can be from the exact one
    blur_km: float  # how far the kernel's exact total can be from the reference's


class Scratch(NamedTuple):
    """Where one trajectory after the other is worked on."""

    total_km: Any  # (size,): rough totals
    sample_km: Any  # some of them, or none in a small atlas
    journey: Any  # (size,): journeys that may be the last near one
    rough_km: Any  # (size,): their rough totals
    exact_km: Any  # (size,): their exact ones, once they are measured
