"""Location sets made from what is public: a box, zones, or points of interest.

A location set must be public and must not come from anybody's journeys: a set of the places
where people were tells where they were. Nothing here can read a trajectory.
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

MOST_CELLS = 1024
NEEDED = {"lat": Kind.DECIMAL, "lng": Kind.DECIMAL}


def box_grid(box: Box, cells: int) -> LocationSet:
    """The centres of so many by so many equal cells of a box: r0_c0 is in the south-west."""
    if not 1 < cells <= MOST_CELLS:
        raise InvalidArgument(
            f"a grid must have 2 to {MOST_CELLS} cells a side, got {cells}",
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
    """The centroid of each zone of a GeoJSON file; it may lie outside a zone that bends."""
    polygons, names = read_polygons(path, name)
    parts: dict[str, list[Sequence[Floats]]] = {}
    for each, called in zip(polygons, names, strict=True):
        parts.setdefault(called, []).append(each)
    if len(parts) < 2:
        raise DomainError(
            f"{path} must have at least 2 zones, got {len(parts)}",
            code="too_few_zones",
            zones=len(parts),
        )
    centre = np.array([centroid(each) for each in parts.values()])
    return LocationSet.from_columns(tuple(parts), centre[:, 1], centre[:, 0])


def centroid(polygons: Sequence[Sequence[Floats]]) -> tuple[float, float]:
    """Longitude and latitude of the centre of area, holes left out, as on a flat map."""
    total, moment = 0.0, np.zeros(2)
    origin = polygons[0][0][0]
    for rings in polygons:
        for k, ring in enumerate(rings):
            # Differences from a corner: sums of products of whole degrees lose digits.
            corner = ring - origin
            after = np.roll(corner, -1, axis=0)
            cross = corner[:, 0] * after[:, 1] - after[:, 0] * corner[:, 1]
            area = cross.sum() / 2
            sign = np.sign(area) * (1 if k == 0 else -1)
            total += sign * area
            moment += sign * ((corner + after) * cross[:, np.newaxis]).sum(axis=0) / 6
    if total <= 0:
        raise DomainError("every zone must have an area, and one has none", code="no_area")
    lng, lat = origin + moment / total
    return float(lng), float(lat)


def read_pois(
    path: AnyPath, box: Box | None = None, columns: Mapping[str, str] | None = None
) -> tuple[LocationSet, int]:
    """The points of a public file, and how many were left out: no points, outside, or twice.

    GeoJSON points, or a table with `lat` and `lng`; `columns` says their names of these and of
    `location_id`. Where ids are missing or repeated, places are numbered.
    """
    found = file_path(path, (*READABLE, *GEOJSON))
    if found.name.endswith(GEOJSON):
        ids, place, others = _feature_points(found)
    else:
        ids, place, others = *_table_points(found, columns or {}), 0
    keep = np.ones(len(place), dtype=bool)
    if box is not None and len(place):
        keep = box.contains(place[:, 0], place[:, 1])
    first = np.zeros(len(place), dtype=bool)
    kept = np.flatnonzero(keep)
    if len(kept):
        first[kept[np.unique(place[kept], axis=0, return_index=True)[1]]] = True
    rows = np.flatnonzero(first)
    names = [ids[k] for k in rows]
    if None in names or len(set(names)) < len(names):
        names = [f"p{k + 1}" for k in range(len(rows))]
    if len(rows) < 2:
        raise DomainError(
            f"{found} must have at least 2 points in the box, got {len(rows)}",
            code="too_few_locations",
            locations=len(rows),
        )
    made = LocationSet.from_columns([str(name) for name in names], *place[rows].T)
    return made, others + len(place) - len(rows)


def _feature_points(path: Path) -> tuple[list[str | None], Floats, int]:
    """Ids, latitudes and longitudes, and how many features are no points."""
    ids: list[str | None] = []
    place = []
    listed = features(path)
    for each in listed:
        where = first_vertex(each, {"Point": 0})
        if where is not None:
            name = each["properties"].get("location_id", each.get("id"))
            ids.append(str(name) if isinstance(name, str | int) and name != "" else None)
            place.append((where[1], where[0]))
    return ids, np.array(place).reshape(-1, 2), len(listed) - len(place)


def _table_points(path: Path, columns: Mapping[str, str]) -> tuple[list[str | None], Floats]:
    theirs = {"lat": "lat", "lng": "lng", "location_id": "location_id"}
    theirs |= {ours: name for name, ours in columns.items()}

    def choose(header: Sequence[str]) -> Mapping[str, Kind]:
        missing = [theirs[ours] for ours in NEEDED if theirs[ours] not in header]
        if missing:
            raise SchemaError(
                f"{path} must have the columns lat and lng, or others that --columns "
                f"THEIRS=OURS names; missing: {', '.join(missing)}",
                code="columns_missing",
                missing=tuple(missing),
            )
        named = theirs["location_id"] in header
        found = {theirs[ours]: kind for ours, kind in NEEDED.items()}
        return found | ({theirs["location_id"]: Kind.TEXT} if named else {})

    table = read_table(path, choose)
    named = {ours: name for ours, name in theirs.items() if name in table.column}
    table = replace(table, column={ours: table.column[name] for ours, name in named.items()})
    text = table.column.get("location_id")
    ids = [None] * table.rows if text is None else list(text.at(np.arange(table.rows)))
    return ids, np.stack(coordinates(table), axis=1)
