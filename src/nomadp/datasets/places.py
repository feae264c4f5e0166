"""Location sets from public data: a box, zones, or points of interest.

A location set must be public and must not be derived from trajectories, because a set of
visited places reveals where people were. Nothing in this module can read a trajectory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from nomadp.errors import DomainError, InvalidArgument, SchemaError
from nomadp.formats.box import Box
from nomadp.formats.columns import Kind
from nomadp.formats.files import READABLE, file_path, read_table
from nomadp.formats.json_files import features, first_vertex
from nomadp.formats.location_files import coordinates
from nomadp.formats.measured_file import AnyPath
from nomadp.formats.zone_files import GEOJSON, read_polygons
from nomadp.geometry import Floats
from nomadp.locations import LocationSet

__all__ = ["box_grid", "centroid", "equal_cells", "read_pois", "zone_centres"]

MAX_CELLS_PER_SIDE = 1024
REQUIRED = {"lat": Kind.DECIMAL, "lng": Kind.DECIMAL}


def box_grid(box: Box, cells: int) -> LocationSet:
    """The centres of ``cells`` by ``cells`` equal cells of a box, from r0_c0 (south-west)."""
    if not 1 < cells <= MAX_CELLS_PER_SIDE:
        raise InvalidArgument(
            f"a grid must have from 2 to {MAX_CELLS_PER_SIDE} cells per side, got {cells}",
            code="grid_out_of_range",
        )
    return equal_cells(box, cells, cells)


def equal_cells(box: Box, rows: int, columns: int) -> LocationSet:
    """The centres of the cells that fill a box, named by row and column."""
    lat = box.lat_at((np.arange(rows) + 0.5) / rows)
    lng = box.lng_at((np.arange(columns) + 0.5) / columns)
    ids = [f"r{row}_c{column}" for row in range(rows) for column in range(columns)]
    return LocationSet.from_columns(ids, np.repeat(lat, columns), np.tile(lng, rows))


def zone_centres(path: AnyPath, name: str | None = None) -> LocationSet:
    """The centroid of each zone of a GeoJSON file. It may lie outside a concave zone."""
    polygons, names = read_polygons(path, name)
    parts: dict[str, list[Sequence[Floats]]] = {}
    for polygon, zone_name in zip(polygons, names, strict=True):
        parts.setdefault(zone_name, []).append(polygon)
    if len(parts) < 2:
        raise DomainError(
            f"{path} must have at least 2 zones, got {len(parts)}",
            code="too_few_zones",
            zones=len(parts),
        )
    centre = np.array([centroid(part) for part in parts.values()])
    return LocationSet.from_columns(tuple(parts), centre[:, 1], centre[:, 0])


def centroid(polygons: Sequence[Sequence[Floats]]) -> tuple[float, float]:
    """Longitude and latitude of the centroid, without holes, in the plane of degrees."""
    total, moment = 0.0, np.zeros(2)
    origin = polygons[0][0][0]
    for rings in polygons:
        for k, ring in enumerate(rings):
            # Shoelace formula, relative to a corner: sums of products of full coordinates
            # lose digits. Rings may run in either direction, hence the sign; holes (k > 0)
            # are subtracted.
            corner = ring - origin
            next_corner = np.roll(corner, -1, axis=0)
            cross = corner[:, 0] * next_corner[:, 1] - next_corner[:, 0] * corner[:, 1]
            area = cross.sum() / 2
            sign = np.sign(area) * (1 if k == 0 else -1)
            total += sign * area
            moment += sign * ((corner + next_corner) * cross[:, np.newaxis]).sum(axis=0) / 6
    if total <= 0:
        raise DomainError("every zone must have an area above 0, got 0", code="no_area")
    lng, lat = origin + moment / total
    return float(lng), float(lat)


def read_pois(
    path: AnyPath, box: Box | None = None, columns: Mapping[str, str] | None = None
) -> tuple[LocationSet, int]:
    """Read public points of interest. Returns them and the number of rows that were dropped.

    The file has GeoJSON points, or is a table with `lat`, `lng` and perhaps `location_id`;
    `columns` maps our names to other ones. Features that are no points, points outside the box
    and duplicates are dropped. If ids are missing or repeated, places are numbered.
    """
    file = file_path(path, (*READABLE, *GEOJSON))
    if file.name.endswith(GEOJSON):
        ids, lat_lng, n_others = _feature_points(file)
    else:
        ids, lat_lng, n_others = *_table_points(file, columns or {}), 0
    is_in_box = np.ones(len(lat_lng), dtype=bool)
    if box is not None and len(lat_lng):
        is_in_box = box.contains(lat_lng[:, 0], lat_lng[:, 1])
    is_first = np.zeros(len(lat_lng), dtype=bool)
    in_box = np.flatnonzero(is_in_box)
    if len(in_box):
        is_first[in_box[np.unique(lat_lng[in_box], axis=0, return_index=True)[1]]] = True
    rows = np.flatnonzero(is_first)
    names = [ids[k] for k in rows]
    if None in names or len(set(names)) < len(names):
        names = [f"p{k + 1}" for k in range(len(rows))]
    if len(rows) < 2:
        raise DomainError(
            f"{file} must have at least 2 points in the box, got {len(rows)}",
            code="too_few_locations",
            locations=len(rows),
        )
    locations = LocationSet.from_columns([str(name) for name in names], *lat_lng[rows].T)
    return locations, n_others + len(lat_lng) - len(rows)


def _feature_points(path: Path) -> tuple[list[str | None], Floats, int]:
    """Ids, positions (latitude, longitude), and the number of features that are no points."""
    ids: list[str | None] = []
    lat_lng = []
    all_features = features(path)
    for feature in all_features:
        position = first_vertex(feature, {"Point": 0})
        if position is not None:
            name = feature["properties"].get("location_id", feature.get("id"))
            ids.append(str(name) if isinstance(name, str | int) and name != "" else None)
            lat_lng.append((position[1], position[0]))
    return ids, np.array(lat_lng).reshape(-1, 2), len(all_features) - len(lat_lng)


def _table_points(path: Path, columns: Mapping[str, str]) -> tuple[list[str | None], Floats]:
    theirs = {"lat": "lat", "lng": "lng", "location_id": "location_id"}
    theirs |= {ours: name for name, ours in columns.items()}

    def choose(header: Sequence[str]) -> Mapping[str, Kind]:
        missing = [theirs[ours] for ours in REQUIRED if theirs[ours] not in header]
        if missing:
            raise SchemaError(
                f"{path} must have the columns lat and lng; missing: {', '.join(missing)}; "
                "map other names with --columns THEIRS=OURS",
                code="columns_missing",
                missing=tuple(missing),
            )
        has_ids = theirs["location_id"] in header
        kinds = {theirs[ours]: kind for ours, kind in REQUIRED.items()}
        return kinds | ({theirs["location_id"]: Kind.TEXT} if has_ids else {})

    table = read_table(path, choose)
    used = {ours: name for ours, name in theirs.items() if name in table.column}
    table = replace(table, column={ours: table.column[name] for ours, name in used.items()})
    text = table.column.get("location_id")
    ids = [None] * table.rows if text is None else list(text.at(np.arange(table.rows)))
    return ids, np.stack(coordinates(table), axis=1)
