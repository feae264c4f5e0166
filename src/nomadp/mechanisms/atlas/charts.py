"""An atlas as the kernels read it, with bounds on everything they round off.

Rough distances are made from points in space around the set's middle, in single precision: a
chord, and a polynomial that turns it into an arc. Its error and every rounding are bounded
here, generously; a larger bound costs time, never a report.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from nomadp.geometry import EARTH_RADIUS_KM, Floats, places, unit_vectors
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.book import Atlas
from nomadp.mechanisms.atlas.kernel_values import Chart
from nomadp.mechanisms.fast.limits import has_tables
from nomadp.mechanisms.fast.tables import tables_of

__all__ = ["chart_of"]

Singles = NDArray[np.float32]

QUARTER = 2.0
"""The squared chord of a quarter of the Earth's round; longer arcs are measured from behind."""
_SINGLE = 2.0**-19  # of the span: thirty-two roundings in single precision
_DOUBLE = 2.0**-47  # and somewhat more than that in double precision
_FOLDED = 2.0**-8  # of the radius: near a far end, a squared chord's roundings become its root
_FLOOR_KM = 1e-9  # what double precision loses of a place on Earth, a hundredfold
_GRID = 4097


@lru_cache(maxsize=32)
def chart_of(atlas: Atlas) -> Chart:
    """In memory linear in the atlas and, where there is no table, in the locations."""
    locations, length = atlas.locations, atlas.length
    book = np.array(atlas.journeys.T, order="C")  # a copy: what is read-only compiles anew
    point, span = _points(locations)
    table_km, rows = _exact(locations)
    series, off_km = _series(span)
    roundings_km = EARTH_RADIUS_KM * span * (1 + length / 16)  # longer sums round more often
    blur_km = 0.0 if len(table_km) else _FLOOR_KM + roundings_km * _DOUBLE
    return Chart(
        book=book,
        point=point,
        axis=np.ascontiguousarray(point[book].transpose(0, 2, 1)),
        series=series,
        folds=span**2 > QUARTER,
        table_km=table_km,
        rows=rows,
        top_km=2 * EARTH_RADIUS_KM * span * length + 1,
        off_km=length * (off_km + _FLOOR_KM + roundings_km * _SINGLE),
        blur_km=length * blur_km,
    )


@lru_cache(maxsize=2)
def _exact(locations: LocationSet) -> tuple[Floats, Floats]:
    """A table of all distances or, in a large set, what a distance is made of."""
    if has_tables(locations):
        return tables_of(locations).distance_km, np.zeros((0, 4))
    return np.zeros((0, 0)), np.stack(places(locations.lat, locations.lng)[:4], axis=1)


@lru_cache(maxsize=2)
def _points(locations: LocationSet) -> tuple[Singles, float]:
    """The locations around their middle, in radii, and a length that no chord exceeds."""
    point = unit_vectors(locations.lat, locations.lng)
    point -= (point.min(axis=0) + point.max(axis=0)) / 2
    farthest = math.sqrt(float((point * point).sum(axis=1).max()))
    return point.astype(np.float32), min(2 * farthest, 2.0)


def _series(span: float) -> tuple[Singles, float]:
    """Arc in km over chord in radii, by powers of the squared chord; how far arcs are off."""
    reach = min(max(span**2, 0.01), QUARTER)
    fitted = Chebyshev.interpolate(_arc_over_chord, 3, domain=[0.0, reach])
    per_chord = np.asarray(fitted.convert(kind=Polynomial).coef, dtype=np.float64)
    series = (EARTH_RADIUS_KM * per_chord).astype(np.float32)
    chord = np.linspace(0.0, math.sqrt(reach), _GRID)
    arc = EARTH_RADIUS_KM * chord * _arc_over_chord(chord**2)
    off_km = 2 * float(np.abs(chord * Polynomial(series)(chord**2) - arc).max())
    if span**2 > QUARTER:
        off_km += EARTH_RADIUS_KM * _FOLDED
    return series, off_km


def _arc_over_chord(square: Floats) -> Floats:
    half = np.sqrt(square) / 2
    return np.where(half < 1e-9, 1.0, np.arcsin(half) / np.maximum(half, 1e-9))
