"""Public zones: a partition of the location set by a grid, by H3 cells or by polygons.

Frequency oracles report zones. Which location belongs to which zone is therefore public, and
the same on every machine: the hash identifies the partition itself, however it was made.
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
"""Rings of (longitude, latitude) in WGS84, shape (n, 2) each: the border, then the holes."""

ELSEWHERE = "elsewhere"
"""The zone of locations that are in no polygon."""
GRID_MAX = 1024
H3_MAX = 15
OCTAVES = 5
"""Distance classes between zones, each half as far as the next."""
PAIRS_AT_ONCE = 1 << 22
"""Pairs of a location and an edge that are compared at a time. It limits the memory."""


@dataclass(frozen=True, eq=False, repr=False)
class Zones:
    """A partition of the location set into named zones.

    Every location is in exactly one zone. Location k is in zone number `of[k]`, whose name is
    `names[of[k]]`. `nomadp.zones.zones_of` and `nomadp.zones.polygon_zones` create zones.

    >>> import nomadp
    >>> from nomadp.zones import zones_of
    >>> places = nomadp.LocationSet.from_columns(["a", "b"], [52.5, 52.6], [13.4, 13.4])
    >>> zones = zones_of(places, "grid:2")
    >>> len(zones), zones.of.tolist()
    (2, [0, 1])
    """

    locations: LocationSet
    """The public location set."""
    of: Ints  # (m,)
    """The number of each location's zone."""
    names: tuple[str, ...]
    """The name of each zone."""
    rule: str
    """How the zones were made: grid:16, h3:8, or polygons: followed by their hash."""
    polygons: Mapping[str, Sequence[Polygon]] = field(default_factory=dict)
    """The polygons of each zone, for maps. They are not part of the hash."""

    def __post_init__(self) -> None:
        of = np.array(self.of, dtype=np.int64)
        of.flags.writeable = False
        object.__setattr__(self, "of", of)
        if of.shape != (len(self.locations),):
            raise DomainError(
                "every location must be in one zone, got zones for "
                f"{of.size} of {len(self.locations)}",
                code="not_a_partition",
            )
        if not np.array_equal(np.unique(of), np.arange(len(self.names))):
            raise DomainError(
                f"each of the {len(self.names)} zones must contain a location, and every "
                "location must be in one of them; remove empty zones",
                code="not_a_partition",
            )
        if len(set(self.names)) < len(self.names) or "" in self.names:
            raise DomainError(
                "every zone must have a unique, non-empty name, got some without; rename them",
                code="zone_name_repeated",
            )
        if bad := sum(map(has_forbidden, self.names)):
            raise DomainError(
                "zone names must not contain control, format or private-use characters, got "
                f"{bad} of {len(self.names)} with such characters; rename them",
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
        """Hash of the partition: location set, zone of each location, name of each zone."""
        return _partition_sha256(self.locations, self.of, self.names)

    def levels(self) -> list[Ints]:
        """A hierarchy of the zones, coarsest level first: the group number of each zone.

        Each level halves every group by the zones' centres, across the longer side. That gives
        2, 4, 8 groups and so on, until each zone is its own group (a balanced k-d tree).
        """
        groups = [np.arange(len(self))]
        levels: list[Ints] = []
        while not levels or len(groups) < len(self):
            groups = [half for group in groups for half in _halves(group, self._centres_km)]
            level = np.empty(len(self), dtype=np.int64)
            for number, group in enumerate(groups):
                level[group] = number
            levels.append(level)
        return levels

    def distance_classes(self) -> Ints:
        """The distance class of each pair of zones, shape (len(self), len(self)).

        Class `OCTAVES` holds distances above half the largest one, the class below it those
        above a quarter, and so on.
        """
        gaps_km = self._centres_km[:, np.newaxis] - self._centres_km
        km = np.hypot(gaps_km[..., 0], gaps_km[..., 1])
        edges_km = km.max() * 2.0 ** np.arange(-OCTAVES, 0)
        return np.searchsorted(edges_km, km).astype(np.int64)

    def centres(self) -> tuple[Floats, Floats]:
        """The latitude and longitude of each zone's centre: the mean of its locations."""
        count = np.bincount(self.of)
        lat, lng = self.locations.lat, self.locations.lng
        # Relative to the first location, so that a set across the date line stays together.
        offset = lng - lng[0]
        offset = offset - 360.0 * np.round(offset / 360.0)
        mean_lng = lng[0] + np.bincount(self.of, offset) / count
        return np.bincount(self.of, lat) / count, mean_lng - 360.0 * np.round(mean_lng / 360.0)

    @cached_property
    def _centres_km(self) -> Floats:
        """The centre of each zone in km east and north of a corner, shape (len(self), 2)."""
        square = UnitSquare(self.locations)
        place_km = square.points * square.size_km
        count = np.bincount(self.of)
        sums = [np.bincount(self.of, weights=column) for column in place_km.T]
        return np.stack(sums, axis=-1) / count[:, np.newaxis]


def zones_of(locations: LocationSet, rule: str) -> Zones:
    """Zones by ``grid:N`` (N by N cells over the bounding box) or ``h3:R`` (H3 resolution R).

    Grid zones are named by row and column from the south-west (r0_c0), H3 zones by their H3 id.
    Cells without a location are left out.
    """
    kind, number = _parse_rule(rule)
    if kind == "h3":
        return _h3_zones(locations, number)
    cells, of = np.unique(UnitSquare(locations).cells(number), return_inverse=True)
    names = tuple(f"r{cell // number}_c{cell % number}" for cell in cells.tolist())
    return Zones(locations, of, names, f"grid:{number}")


def polygon_zones(
    locations: LocationSet, polygons: Sequence[Polygon], names: Sequence[str]
) -> Zones:
    """Zones by polygons: each location is in the first polygon that contains it.

    Polygons of the same name are one zone. A polygon includes its western and southern borders
    but not its eastern and northern ones, so that neighbours share no location. Locations in no
    polygon form the zone `ELSEWHERE`.
    """
    if len(names) != len(polygons):
        raise DomainError(
            f"every polygon must have a name, got {len(names)} for {len(polygons)}",
            code="name_count_differs",
        )
    points = np.stack([locations.lng, locations.lat], axis=-1)
    number_of = np.full(len(points), len(polygons))  # of the polygon of each location
    for number, polygon in enumerate(polygons):
        free = np.flatnonzero(number_of == len(polygons))
        number_of[free[_inside(points[free], polygon)]] = number
    if (number_of == len(polygons)).all():
        raise DomainError(
            f"at least one of the {len(polygons)} polygons must contain a location, got none "
            "that does; use polygons of this area, with longitude before latitude",
            code="polygons_without_locations",
            polygons=len(polygons),
        )
    # Zones with a location, in the order of the polygons; one name may have several polygons.
    zone_names = dict.fromkeys((*names, ELSEWHERE)[number] for number in np.unique(number_of))
    position = {name: k for k, name in enumerate(zone_names)}
    zone = np.array([position.get(name, -1) for name in (*names, ELSEWHERE)])
    of = zone[number_of]
    sha256 = _partition_sha256(locations, of, tuple(zone_names))
    outlines: dict[str, list[Polygon]] = {}
    for name, polygon in zip(names, polygons, strict=True):
        if name in zone_names:
            outlines.setdefault(name, []).append(polygon)
    return Zones(locations, of, tuple(zone_names), f"polygons:{sha256}", outlines)


def is_rule(text: str) -> bool:
    """Whether the text is grid:N or h3:R with a valid number."""
    try:
        return bool(_parse_rule(text))
    except DomainError:
        return False


def _parse_rule(rule: str) -> tuple[str, int]:
    match = re.fullmatch(r"(grid|h3):([0-9]{1,4})", rule)
    if match:
        kind, number = match[1], int(match[2])
        if number in (range(1, GRID_MAX + 1) if kind == "grid" else range(H3_MAX + 1)):
            return kind, number
    raise DomainError(
        f"zones must be grid:N with N from 1 to {GRID_MAX}, or h3:R with R from 0 to {H3_MAX}, "
        f"got {rule[:80]}; {_remedy(rule)}",
        code="unknown_zone_rule",
    )


def _remedy(rule: str) -> str:
    """What to do, which depends on whether the text names a file, a hash, or neither."""
    if rule.endswith((".geojson", ".json")):
        return "in Python, read the file with nomadp.formats.zone_files.read_zones first"
    if rule == "locations":
        return (
            "only queries to trajectory reports can use single locations (nomadp query --areas "
            "locations); a frequency oracle reports zones, so choose a finer grid"
        )
    if rule.startswith("polygons:"):
        return "for zones made from polygons, name their file: --zones FILE.geojson"
    return "to use polygons, name a .geojson file"


def _h3_zones(locations: LocationSet, resolution: int) -> Zones:
    require("h3")
    h3 = import_module("h3")
    places = zip(locations.lat.tolist(), locations.lng.tolist(), strict=True)
    cells = [h3.latlng_to_cell(lat, lng, resolution) for lat, lng in places]
    names, of = np.unique(np.array(cells), return_inverse=True)
    return Zones(locations, of, tuple(names.tolist()), f"h3:{resolution}")


def _partition_sha256(locations: LocationSet, of: Ints, names: tuple[str, ...]) -> str:
    # Names are length-prefixed, so that no two partitions have the same encoding.
    digest = hashlib.sha256(f"nomadp-zones-1\n{locations.sha256}\n{len(names)}\n".encode())
    for name in names:
        encoded = name.encode()
        digest.update(b"%d:" % len(encoded) + encoded)
    digest.update(of.astype("<i8").tobytes())
    return digest.hexdigest()


def _halves(group: Ints, centres_km: Floats) -> list[Ints]:
    """Two groups whose sizes differ by at most one; a single zone is returned unchanged."""
    if len(group) == 1:
        return [group]
    place = centres_km[group]
    side = int(np.argmax(np.ptp(place, axis=0)))
    order = np.argsort(place[:, side], kind="stable")
    middle = (len(group) + 1) // 2
    return [np.sort(group[order[:middle]]), np.sort(group[order[middle:]])]


def _inside(points: Floats, polygon: Polygon) -> NDArray[np.bool_]:
    """Whether each point is inside: a ray to the east crosses the rings an odd number of times.

    This is the even-odd rule, so holes need no special case.
    """
    start, end = _edges(polygon)
    corner = np.concatenate([start, end])
    in_box = ((points >= corner.min(axis=0)) & (points <= corner.max(axis=0))).all(axis=1)
    inside = np.zeros(len(points), dtype=np.bool_)
    candidates = np.flatnonzero(in_box)
    step = max(1, PAIRS_AT_ONCE // len(start))
    for first in range(0, len(candidates), step):
        block = candidates[first : first + step]
        lat = points[block, 1][:, np.newaxis]
        # Edges that cross the point's latitude, lower end included and upper end excluded.
        row, edge = np.nonzero((start[:, 1] <= lat) & (lat < end[:, 1]))
        low, high, point = start[edge], end[edge], points[block[row]]
        share = (point[:, 1] - low[:, 1]) / (high[:, 1] - low[:, 1])
        crossed = point[:, 0] < low[:, 0] + share * (high[:, 0] - low[:, 0])
        inside[block] = np.bincount(row[crossed], minlength=len(block)) % 2 == 1
    return inside


def _edges(polygon: Polygon) -> tuple[Floats, Floats]:
    """The southern and northern end of each edge; edges that run east-west are left out.

    An edge is the same whichever way its ring runs, so neighbours agree on their border to the
    last bit.
    """
    pieces = []
    for ring in polygon:
        corner = np.asarray(ring, dtype=np.float64)
        if corner.ndim != 2 or corner.shape[1] != 2 or len(corner) < 3:
            raise DomainError(
                "a ring must have at least 3 pairs of longitude and latitude, got fewer or "
                "other values",
                code="invalid_ring",
            )
        if not (np.abs(corner) <= (180.0, 90.0)).all():
            raise DomainError(
                "a ring must be in degrees of longitude and latitude (WGS84), got values out "
                "of range; transform it to EPSG:4326 first",
                code="coordinates_out_of_range",
            )
        pieces.append(np.stack([corner, np.roll(corner, -1, axis=0)], axis=1))
    if not pieces:
        raise DomainError(
            "a polygon must have at least one ring, got none", code="polygon_without_ring"
        )
    edge = np.concatenate(pieces)  # (edges, 2 ends, 2)
    edge = edge[edge[:, 0, 1] != edge[:, 1, 1]]
    if not len(edge):
        raise DomainError("a polygon must have an area above 0, got 0", code="no_area")
    downward = edge[:, 0, 1] > edge[:, 1, 1]
    edge[downward] = edge[downward, ::-1]
    return edge[:, 0], edge[:, 1]
