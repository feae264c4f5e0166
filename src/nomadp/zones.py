"""Public zones: a partition of the location set, by a grid, by H3 cells or by polygons.

A zone is what a direct question is asked about, so who holds which location must be public and
the same on every machine: the hash names the partition itself, whatever made it.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nomadp.characters import has_forbidden
from nomadp.errors import DomainError
from nomadp.extras import require
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.unit_square import UnitSquare

__all__ = ["ELSEWHERE", "Polygon", "Zones", "is_rule", "polygon_zones", "zones_of"]

Ints = NDArray[np.int64]
Polygon = Sequence[ArrayLike]
"""Rings of longitudes and latitudes, (n, 2) each: the border, then its holes. WGS84."""

ELSEWHERE = "elsewhere"
"""The zone of locations that are in no polygon."""
GRID_MAX = 1024
H3_MAX = 15
OCTAVES = 5
PAIRS_AT_ONCE = 1 << 22
"""Of a location and an edge: what is in memory at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Zones:
    """Location k is in zone `of[k]`, which is called `names[of[k]]`; none is without one.

    `zones_of` and `polygon_zones` make them.
    """

    locations: LocationSet
    of: Ints  # (m,)
    names: tuple[str, ...]
    rule: str
    """What made it: grid:16, h3:8, or polygons: and the hash of the partition."""
    polygons: Mapping[str, Sequence[Polygon]] = field(default_factory=dict)
    """Those of each zone that was made by them, to be drawn; no part of what is hashed."""

    def __post_init__(self) -> None:
        of = np.array(self.of, dtype=np.int64)
        of.flags.writeable = False
        object.__setattr__(self, "of", of)
        if of.shape != (len(self.locations),):
            raise DomainError(
                f"every location must be in one zone, got {of.size} of {len(self.locations)}",
                code="not_a_partition",
            )
        if not np.array_equal(np.unique(of), np.arange(len(self.names))):
            raise DomainError(
                f"each of {len(self.names)} zones must hold a location, and every location "
                "must be in one of them; leave empty zones out",
                code="not_a_partition",
            )
        if len(set(self.names)) < len(self.names) or "" in self.names:
            raise DomainError(
                "every zone must have a name of its own, and some have not",
                code="zone_name_repeated",
            )
        if bad := sum(map(has_forbidden, self.names)):
            raise DomainError(
                "every zone must have a name without control, format or private-use "
                f"characters, got {bad} with them among {len(self.names)}; rename them",
                code="zone_name_characters",
                names=bad,
            )

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Zones({len(self)} by {self.rule}, sha256={self.sha256[:6]}...)"

    def __str__(self) -> str:
        return self.rule

    def __eq__(self, other: object) -> bool:
        return self.sha256 == other.sha256 if isinstance(other, Zones) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.sha256)

    @cached_property
    def sha256(self) -> str:
        """Of the partition: the location set, each location's zone, each zone's name."""
        return _partition_sha256(self.locations, self.of, self.names)

    def levels(self) -> list[Ints]:
        """Ever finer groups of the zones, (len(self),) group numbers each, coarsest first.

        Zones are halved by their centres, across the longer side: 2, 4, 8 groups and so on,
        until each zone is a group of its own.
        """
        groups = [np.arange(len(self))]
        found: list[Ints] = []
        while not found or len(groups) < len(self):
            groups = [half for group in groups for half in _halves(group, self._centres_km)]
            level = np.empty(len(self), dtype=np.int64)
            for number, group in enumerate(groups):
                level[group] = number
            found.append(level)
        return found

    def apart(self) -> Ints:
        """How far any two zones are apart, (len(self), len(self)), in halves of the farthest.

        The upper half of all distances is `OCTAVES`, the next quarter one less and so on.
        """
        gaps_km = self._centres_km[:, np.newaxis] - self._centres_km
        km = np.hypot(gaps_km[..., 0], gaps_km[..., 1])
        edges_km = km.max() * 2.0 ** np.arange(-OCTAVES, 0)
        return np.searchsorted(edges_km, km).astype(np.int64)

    def centres(self) -> tuple[Floats, Floats]:
        """The latitude and longitude of each: the mean of its locations."""
        count = np.bincount(self.of)
        lat, lng = self.locations.lat, self.locations.lng
        turn = lng - lng[0]
        turn = turn - 360.0 * np.round(turn / 360.0)  # a set across the date line stays whole
        there = lng[0] + np.bincount(self.of, turn) / count
        return np.bincount(self.of, lat) / count, there - 360.0 * np.round(there / 360.0)

    @cached_property
    def _centres_km(self) -> Floats:
        """The mean of each zone's locations, east and north of a corner, (len(self), 2)."""
        square = UnitSquare(self.locations)
        place_km = square.points * square.size_km
        count = np.bincount(self.of)
        sums = [np.bincount(self.of, weights=column) for column in place_km.T]
        return np.stack(sums, axis=-1) / count[:, np.newaxis]


def zones_of(locations: LocationSet, rule: str) -> Zones:
    """By ``grid:N`` (N by N cells over the box of the set) or ``h3:R`` (cells of resolution R).

    Named by row and column from the south-west (r0_c0), or by the ids of H3.
    """
    kind, number = _parsed(rule)
    if kind == "h3":
        return _h3_zones(locations, number)
    cells, of = np.unique(UnitSquare(locations).cells(number), return_inverse=True)
    names = tuple(f"r{cell // number}_c{cell % number}" for cell in cells.tolist())
    return Zones(locations, of, names, f"grid:{number}")


def polygon_zones(
    locations: LocationSet, polygons: Sequence[Polygon], names: Sequence[str]
) -> Zones:
    """The first polygon that holds a location has it; polygons of one name are one zone.

    A western or southern border belongs to its polygon, an eastern or northern one does not,
    so that neighbours share no location. What no polygon holds is `ELSEWHERE`.
    """
    if len(names) != len(polygons):
        raise DomainError(
            f"every polygon must have a name, got {len(names)} for {len(polygons)}",
            code="name_count_differs",
        )
    points = np.stack([locations.lng, locations.lat], axis=-1)
    found = np.full(len(points), len(polygons))
    for number, polygon in enumerate(polygons):
        free = np.flatnonzero(found == len(polygons))
        found[free[_inside(points[free], polygon)]] = number
    if (found == len(polygons)).all():
        raise DomainError(
            f"at least one of {len(polygons)} polygons must hold a location, and none does; "
            "use those of the area, longitude before latitude",
            code="polygons_without_locations",
            polygons=len(polygons),
        )
    kept = dict.fromkeys((*names, ELSEWHERE)[number] for number in np.unique(found))
    position = {name: k for k, name in enumerate(kept)}
    zone = np.array([position.get(name, -1) for name in (*names, ELSEWHERE)])
    of = zone[found]
    sha256 = _partition_sha256(locations, of, tuple(kept))
    drawn: dict[str, list[Polygon]] = {}
    for name, polygon in zip(names, polygons, strict=True):
        if name in kept:
            drawn.setdefault(name, []).append(polygon)
    return Zones(locations, of, tuple(kept), f"polygons:{sha256}", drawn)


def is_rule(text: str) -> bool:
    """Whether it is grid:N or h3:R, within what these may be."""
    try:
        return bool(_parsed(text))
    except DomainError:
        return False


def _parsed(rule: str) -> tuple[str, int]:
    written = re.fullmatch(r"(grid|h3):([0-9]{1,4})", rule)
    if written:
        kind, number = written[1], int(written[2])
        if number in (range(1, GRID_MAX + 1) if kind == "grid" else range(H3_MAX + 1)):
            return kind, number
    raise DomainError(
        f"zones must be grid:N with N from 1 to {GRID_MAX}, or h3:R with R from 0 to {H3_MAX}, "
        f"got {rule[:80]}; {_polygons_are_given(rule)}",
        code="unknown_zone_rule",
    )


def _polygons_are_given(rule: str) -> str:
    """How, to somebody who has a file, a hash of one, or neither."""
    if rule.endswith((".geojson", ".json")):
        return "in Python, read the file with nomadp.formats.zone_files.read_zones first"
    if rule == "locations":
        return (
            "single locations are areas for queries of whole trajectories only (nomadp query "
            "--areas locations): a frequency oracle reports zones, so choose a finer grid"
        )
    if rule.startswith("polygons:"):
        return "reports about polygons are asked with their file: --zones FILE.geojson"
    return "polygons are given by a .geojson file"


def _h3_zones(locations: LocationSet, resolution: int) -> Zones:
    require("h3")
    h3 = import_module("h3")
    places = zip(locations.lat.tolist(), locations.lng.tolist(), strict=True)
    cells = [h3.latlng_to_cell(lat, lng, resolution) for lat, lng in places]
    names, of = np.unique(np.array(cells), return_inverse=True)
    return Zones(locations, of, tuple(names.tolist()), f"h3:{resolution}")


def _partition_sha256(locations: LocationSet, of: Ints, names: tuple[str, ...]) -> str:
    digest = hashlib.sha256(f"nomadp-zones-1\n{locations.sha256}\n{len(names)}\n".encode())
    for name in names:
        encoded = name.encode()
        digest.update(b"%d:" % len(encoded) + encoded)
    digest.update(of.astype("<i8").tobytes())
    return digest.hexdigest()


def _halves(group: Ints, centres_km: Floats) -> list[Ints]:
    """Two groups that differ by one zone at most; a single zone stays what it is."""
    if len(group) == 1:
        return [group]
    place = centres_km[group]
    side = int(np.argmax(np.ptp(place, axis=0)))
    order = np.argsort(place[:, side], kind="stable")
    middle = (len(group) + 1) // 2
    return [np.sort(group[order[:middle]]), np.sort(group[order[middle:]])]


def _inside(points: Floats, polygon: Polygon) -> NDArray[np.bool_]:
    """Whether a ray to the east crosses the rings an odd number of times (even-odd rule)."""
    start, end = _edges(polygon)
    corner = np.concatenate([start, end])
    in_box = ((points >= corner.min(axis=0)) & (points <= corner.max(axis=0))).all(axis=1)
    inside = np.zeros(len(points), dtype=np.bool_)
    candidates = np.flatnonzero(in_box)
    step = max(1, PAIRS_AT_ONCE // len(start))
    for first in range(0, len(candidates), step):
        some = candidates[first : first + step]
        lat = points[some, 1][:, np.newaxis]
        who, edge = np.nonzero((start[:, 1] <= lat) & (lat < end[:, 1]))
        low, high, point = start[edge], end[edge], points[some[who]]
        share = (point[:, 1] - low[:, 1]) / (high[:, 1] - low[:, 1])
        crossed = point[:, 0] < low[:, 0] + share * (high[:, 0] - low[:, 0])
        inside[some] = np.bincount(who[crossed], minlength=len(some)) % 2 == 1
    return inside


def _edges(polygon: Polygon) -> tuple[Floats, Floats]:
    """Southern and northern ends of all edges, but for those that run east or west.

    Whichever way a ring runs, an edge is the same: neighbours agree on who is beyond it.
    """
    pieces = []
    for ring in polygon:
        corner = np.asarray(ring, dtype=np.float64)
        if corner.ndim != 2 or corner.shape[1] != 2 or len(corner) < 3:
            raise DomainError(
                "a ring must be 3 or more pairs of longitude and latitude", code="invalid_ring"
            )
        if not (np.abs(corner) <= (180.0, 90.0)).all():
            raise DomainError(
                "a ring must be in degrees of longitude and latitude (WGS84), and is not; "
                "transform it to EPSG:4326 first",
                code="coordinates_out_of_range",
            )
        pieces.append(np.stack([corner, np.roll(corner, -1, axis=0)], axis=1))
    if not pieces:
        raise DomainError(
            "a polygon must have a ring, and has none", code="polygon_without_ring"
        )
    edge = np.concatenate(pieces)  # (edges, 2 ends, 2)
    edge = edge[edge[:, 0, 1] != edge[:, 1, 1]]
    if not len(edge):
        raise DomainError("a polygon must have an area, and has none", code="no_area")
    downward = edge[:, 0, 1] > edge[:, 1, 1]
    edge[downward] = edge[downward, ::-1]
    return edge[:, 0], edge[:, 1]
