"""The public location set: ids, coordinates, content hash, distances and nearest neighbours.

Nothing stores the full distance matrix. Rows are computed on demand, and cached for small sets
only.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nomadp.characters import has_forbidden
from nomadp.errors import DomainError, InvalidArgument, OutOfRange, SchemaError, WrongType
from nomadp.geometry import (
    EARTH_RADIUS_KM,
    Floats,
    Places,
    Sectors,
    distance_km,
    km_to_chord,
    mean_lat_lng,
    places,
    search_tree,
    sector_seen,
    unit_vectors,
)

__all__ = ["CACHED_ROWS_MAX", "MEDOID_EXACT_MAX", "LocationSet"]

Indices = NDArray[np.int64]

CACHED_ROWS_MAX = 4096
"""Rows of distances and sectors are cached for sets up to this size (134 MB if all are)."""
MEDOID_EXACT_MAX = 65_536
"""Above this size the medoid is computed on a sample. The exact one would take minutes."""

SLACK_KM = 1e-6  # far above any rounding error, far below any difference that matters
CHORD_SLACK = 1e-12
HALF_ROUND_KM = math.pi * EARTH_RADIUS_KM


@dataclass(frozen=True, eq=False, repr=False)
class LocationSet:
    """Public locations in a fixed order. A location is an index into this order.

    `from_columns` creates a set from unique ids and coordinates in degrees (WGS84). Distances
    are in km. Raises `SchemaError` or `DomainError` if the columns are invalid.

    >>> import nomadp
    >>> two = nomadp.LocationSet.from_columns(["a", "b"], [52.5, 52.6], [13.4, 13.4])
    >>> round(two.diameter_km, 1), two.find(["b"]).tolist()
    (11.1, [1])
    """

    ids: tuple[str, ...]
    """The unique id of each location."""
    lat: Floats
    """The latitude of each location, in degrees (WGS84)."""
    lng: Floats
    """The longitude of each location, in degrees (WGS84)."""
    _distance_rows: dict[int, Floats] = field(default_factory=dict, init=False)
    _sector_rows: dict[tuple[int, int], Sectors] = field(default_factory=dict, init=False)

    @classmethod
    def from_columns(cls, ids: Sequence[str], lat: ArrayLike, lng: ArrayLike) -> "LocationSet":
        """Create a location set.

        Args:
            ids: The unique ids of at least two locations.
            lat: Their latitudes in degrees (WGS84).
            lng: Their longitudes in degrees (WGS84).

        Returns:
            The location set, in the given order.

        Raises:
            SchemaError: The columns have different lengths, an id is repeated or invalid, or a
                coordinate is not a number.
            DomainError: There are fewer than two locations, or a coordinate is out of range.
        """
        return cls(tuple(ids), np.asarray(lat), np.asarray(lng))

    def __post_init__(self) -> None:
        object.__setattr__(self, "lat", _coordinates("lat", self.lat, 90.0))
        object.__setattr__(self, "lng", _coordinates("lng", self.lng, 180.0))
        count = len(self.ids)
        if not count == len(self.lat) == len(self.lng):
            raise SchemaError(
                "a location set must have one id, one lat and one lng per location, got "
                f"{count} ids, {len(self.lat)} lat and {len(self.lng)} lng",
                code="location_columns_differ",
            )
        if count < 2:
            raise DomainError(
                f"a location set must have at least 2 locations, got {count}; "
                "a single location cannot hide where anyone was",
                code="too_few_locations",
                locations=count,
            )
        if set(map(type, self.ids)) != {str} or "" in self.ids:
            raise SchemaError(
                "location ids must be non-empty strings, got others; check the ids",
                code="invalid_location_ids",
            )
        if has_forbidden("".join(self.ids)):
            bad = sum(map(has_forbidden, self.ids))
            raise SchemaError(
                "location ids must not contain control, format or private-use characters, got "
                f"{bad} of {count} with such characters; rename them",
                code="location_id_characters",
                ids=bad,
            )
        if repeated := count - len(set(self.ids)):
            raise SchemaError(
                f"location ids must be unique, got {repeated} duplicates among {count}; "
                "remove them",
                code="location_ids_repeated",
                repeated=repeated,
            )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"LocationSet({len(self)} locations, sha256={self.sha256[:6]}...)"

    def __eq__(self, other: object) -> bool:
        return self.sha256 == other.sha256 if isinstance(other, LocationSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[object, ...]:
        return LocationSet.from_columns, (self.ids, self.lat, self.lng)

    @cached_property
    def sha256(self) -> str:
        """Hash of the ids (length-prefixed UTF-8) and the exact bits of the coordinates."""
        digest = hashlib.sha256(b"nomadp-locations-1\n%d\n" % len(self))
        for location_id in self.ids:
            encoded = location_id.encode()
            digest.update(b"%d:" % len(encoded) + encoded)
        for column in (self.lat, self.lng):
            # Adding zero makes -0.0 and 0.0 the same place.
            digest.update((column + 0.0).astype("<f8").tobytes())
        return digest.hexdigest()

    def distances_km(self, i: int) -> Floats:
        """The distances in km from location ``i`` to all m locations: shape (m,), read-only.

        Raises `OutOfRange`, an `IndexError`, if ``i`` is not an index into the set.
        """
        row = self._distance_rows.get(i)
        if row is None:
            row = distance_km(self._at(i), self._places)
            row.flags.writeable = False
            if len(self) <= CACHED_ROWS_MAX:
                self._distance_rows[i] = row
        return row

    def distances_between_km(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """The distance in km of each pair of locations ``i`` and ``j``.

        Indices are arrays of the same shape, or of shapes that NumPy can broadcast. The
        distances are bit for bit those of `distances_km`.
        """
        return distance_km(self._at(i), self._at(j))

    def sectors(self, i: int, granularity: int) -> Sectors:
        """The sector in which each location lies as seen from ``i``: shape (m,), read-only.

        Directions are divided into ``granularity`` equal sectors. Sector 0 is centred on east,
        and the others follow clockwise. A location is in its own sector 0.
        """
        row = self._sector_rows.get((i, granularity))
        if row is None:
            row = sector_seen(self._at(i), self._places, granularity)
            row.flags.writeable = False
            if len(self) <= CACHED_ROWS_MAX:
                self._sector_rows[i, granularity] = row
        return row

    def sector_between(self, i: ArrayLike, j: ArrayLike, granularity: int) -> Sectors:
        """The sector of each ``j`` as seen from the ``i`` at the same position.

        Directions are divided into ``granularity`` sectors. The results are those of `sectors`.
        """
        return sector_seen(self._at(i), self._at(j), granularity)

    def within(self, i: int, radius_km: float) -> Indices:
        """The sorted indices of all locations within ``radius_km`` of ``i``, including ``i``.

        Raises `InvalidArgument`, a `ValueError`, if ``radius_km`` is below 0.
        """
        if not radius_km >= 0:
            raise InvalidArgument(
                f"radius_km must be at least 0, got radius_km={radius_km}",
                code="negative_radius",
                radius_km=radius_km,
            )
        return np.flatnonzero(self.distances_km(i) <= radius_km)

    def nearest(self, lat: ArrayLike, lng: ArrayLike) -> Indices:
        """The index of the location nearest to each point, given in degrees (WGS84).

        The lowest index wins a tie.
        """
        points, vectors = places(lat, lng), unit_vectors(lat, lng).reshape(-1, 3)
        flat = Places(*(column.reshape(-1) for column in points))
        tree, first = self._tree
        chord, index = tree.query(vectors, k=2)
        best: Indices = first[index[:, 0]]
        # Near ties could go either way by the tree's rounding. Decide them by our distance,
        # so that the result does not depend on which tree answered.
        doubtful = np.flatnonzero(chord[:, 1] <= chord[:, 0] + CHORD_SLACK)
        if len(doubtful):
            near = chord[doubtful, 0] + CHORD_SLACK
            close = tree.query_ball_point(vectors[doubtful], near)
            point = np.repeat(doubtful, [len(indices) for indices in close])
            tied = first[np.concatenate(close).astype(np.int64)]
            order = np.lexsort((tied, distance_km(flat.at(point), self._at(tied)), point))
            best[doubtful] = tied[order][np.unique(point[order], return_index=True)[1]]
        return best.reshape(points.sin_lat.shape)

    @cached_property
    def _tree(self) -> tuple[Any, Indices]:
        """A search tree of the distinct places, and the first location at each of them."""
        first = np.sort(np.unique(self.lat + 1j * self.lng, return_index=True)[1])
        return search_tree(unit_vectors(self.lat, self.lng)[first]), first

    @cached_property
    def diameter_km(self) -> float:
        """The largest distance between two locations, exact, in linear memory.

        By the triangle inequality no pair is farther apart than the sum of its distances to
        a centre, so most pairs are never compared. That prunes little in a large set that
        spans much of the Earth: there the diameter is found from antipodes.
        """
        from_centre = self._distance_from_centre
        order = np.argsort(-from_centre, kind="stable")
        reach = from_centre[order]
        best = float(distance_km(self._at(order[0]), self._places).max())
        if len(self) > CACHED_ROWS_MAX and best > HALF_ROUND_KM / 2:
            return self._from_antipodes(best)
        # Outermost locations first. Once the largest possible sum is too small, stop.
        for k in range(1, len(self)):
            if reach[k] + reach[0] + SLACK_KM < best:
                break
            enough = best - reach[k] - SLACK_KM
            partners = order[: np.searchsorted(-reach[:k], -enough, side="right")]
            if len(partners):
                pair = distance_km(self._at(order[k]), self._at(partners))
                best = max(best, float(pair.max()))
        return best

    def _from_antipodes(self, at_least_km: float) -> float:
        """The diameter: the farthest location is the one nearest to the antipode."""
        tree, first = self._tree
        antipodes, chord = -np.asarray(tree.data), np.empty(len(first))
        bound = float(km_to_chord(HALF_ROUND_KM - at_least_km)) + CHORD_SLACK
        for start in range(0, len(first), CACHED_ROWS_MAX):
            block = slice(start, start + CACHED_ROWS_MAX)
            chord[block] = tree.query(antipodes[block], distance_upper_bound=bound)[0]
            bound = min(bound, float(chord[block].min()) + CHORD_SLACK)
        ends = np.flatnonzero(chord <= bound)
        chords, others = tree.query(antipodes[ends], k=2)
        best = float(distance_km(self._at(first[ends]), self._at(first[others[:, 0]])).max())
        # The same for near ties, which the tree's rounding could decide.
        for k in ends[chords[:, 1] <= bound]:
            close = first[tree.query_ball_point(antipodes[k], bound)]
            best = max(best, float(distance_km(self._at(first[k]), self._at(close)).max()))
        return best

    @cached_property
    def medoid(self) -> int:
        """The location with the smallest mean distance to all: the best constant estimate.

        Exact for up to 65,536 locations: the trimed algorithm skips a location only when the
        triangle inequality proves that its mean distance exceeds the best (Newling and
        Fleuret, AISTATS 2017). In a larger set, the medoid of 4096 locations that are evenly
        spaced in the order of the set.
        """
        if len(self) > MEDOID_EXACT_MAX:
            sample = np.arange(CACHED_ROWS_MAX) * len(self) // CACHED_ROWS_MAX
            return int(sample[self.subset(sample).medoid])
        lower = np.zeros(len(self))
        best, best_mean = 0, np.inf
        for i in np.argsort(self._distance_from_centre, kind="stable"):
            if lower[i] > best_mean + SLACK_KM:
                continue
            row = distance_km(self._at(i), self._places)
            mean = float(row.mean())
            if (mean, i) < (best_mean, best):
                best, best_mean = int(i), mean
            # |mean(i) - d(i, j)| bounds mean(j) from below.
            np.maximum(lower, np.abs(mean - row), out=lower)
        return best

    @cached_property
    def _places(self) -> Places:
        return places(self.lat, self.lng)

    @cached_property
    def _distance_from_centre(self) -> Floats:
        return distance_km(places(*mean_lat_lng(self.lat, self.lng)), self._places)

    @cached_property
    def _position(self) -> dict[str, int]:
        return {location_id: index for index, location_id in enumerate(self.ids)}

    def find(self, ids: Sequence[str]) -> Indices:
        """The index of each id.

        Raises `DomainError` if an id is unknown. Ids may be private, so the error only counts
        them.
        """
        index, known = self.find_known(ids)
        if not known.all():
            raise DomainError(
                f"every location id must be in the public set of {len(self)}, got "
                f"{np.count_nonzero(~known)} unknown of {len(ids)}; they may be private, so "
                "they are not shown",
                code="unknown_locations",
                unknown=int(np.count_nonzero(~known)),
                size=len(self),
            )
        return index

    def find_known(self, ids: Sequence[str]) -> tuple[Indices, NDArray[np.bool_]]:
        """The index of each id, and whether the id is known.

        The index of an unknown id is ``len(self)``.
        """
        position, unknown = self._position, len(self)  # -1 would mean the last location
        index = np.fromiter((position.get(i, unknown) for i in ids), np.int64, len(ids))
        return index, index < unknown

    def subset(self, indices: ArrayLike) -> "LocationSet":
        """A new location set of the locations at these ``indices``, in this order."""
        chosen = self._checked(indices)
        ids = [self.ids[k] for k in chosen]
        return LocationSet.from_columns(ids, self.lat[chosen], self.lng[chosen])

    def _at(self, index: ArrayLike) -> Places:
        return self._places.at(self._checked(index))

    def _checked(self, index: ArrayLike) -> Indices:
        # numpy would silently read -1 as the last location. The value may be private.
        array = np.asarray(index)
        if array.dtype.kind not in "iu":
            raise WrongType(
                f"locations must be integers, got {array.dtype}", code="location_not_integer"
            )
        if array.size and not 0 <= array.min() <= array.max() < len(self):
            raise OutOfRange(
                f"locations must be indices in [0, {len(self)}); the values are not shown",
                code="location_out_of_range",
                size=len(self),
            )
        return array.astype(np.int64, copy=False)


def _coordinates(name: str, values: ArrayLike, limit: float) -> Floats:
    try:
        column = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError(
            f"{name} must contain numbers in degrees, got other values; check the column",
            code="not_a_number",
            column=name,
        ) from None
    if column.ndim != 1:
        raise SchemaError(
            f"{name} must be one-dimensional, got {column.ndim} dimensions",
            code="not_one_column",
            column=name,
        )
    if bad := int(np.count_nonzero(~(np.abs(column) <= limit))):
        raise DomainError(
            f"{name} must be finite and in [-{limit:g}, {limit:g}] degrees, "
            f"got {bad} of {len(column)} values that are not",
            code="coordinates_out_of_range",
            column=name,
            outside=bad,
        )
    column.flags.writeable = False
    return column
