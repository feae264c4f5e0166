"""Files of estimates: CSV, Parquet, GeoParquet 1.1, GeoJSON, and the format of flowmap.blue.

Every file has a description: inside Parquet and GeoJSON, in a separate file beside CSV. Only
files with geometry contain the outlines of areas. A file is written completely or not at all.
"""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nomadp.answers.columns import parse_column, python_values
from nomadp.answers.description import (
    EstimateParts,
    column_kinds,
    describe,
    estimate_parts,
    parse_description,
)
from nomadp.answers.frames import from_arrow, to_arrow
from nomadp.answers.geometry import Geometry, combined_rows, geometries
from nomadp.characters import spreadsheet_safe
from nomadp.errors import SchemaError
from nomadp.formats.atomic import Write
from nomadp.formats.files import check_readable, file_path, is_parquet, meta_path, write_table
from nomadp.formats.json_files import collection, write_features
from nomadp.formats.measured_file import AnyPath, MeasuredFile

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["SUFFIXES", "flowmap_writes", "read", "table_writes"]

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".geoparquet", ".geojson")
GEOJSON = ".geojson"
DESCRIPTION_MEMBER = "nomadp"
"""The member of a feature collection that contains the description."""


def table_writes(
    path: AnyPath,
    table: "Estimate",
    *,
    geometry: bool | None = None,
    for_spreadsheets: bool = False,
) -> dict[Path, Write]:
    """The files to write together for a table; the suffix of ``path`` chooses the format.

    ``geometry`` adds geometry to .parquet; the other formats either always or never have it.
    ``for_spreadsheets`` puts an apostrophe before text in CSV that a spreadsheet would evaluate
    as a formula.
    """
    target = file_path(path, SUFFIXES)
    is_spatial = target.suffix in (GEOJSON, ".geoparquet")
    if geometry is not None and geometry != is_spatial and target.suffix != ".parquet":
        raise SchemaError(
            f"{target} {'always has a' if is_spatial else 'cannot have a'} geometry; it is "
            "optional only in .parquet",
            code="geometry_not_optional",
            by_nature=is_spatial,
        )
    if is_parquet(target):
        arrow = to_arrow(table, geometry=bool(geometry) or is_spatial)
        return {target: lambda part: _write_parquet(part, arrow)}
    if is_spatial:
        features = _features(table, geometries(table))
        members = {DESCRIPTION_MEMBER: json.loads(describe(table))}
        return {target: lambda part: write_features(part, features, members)}
    columns = {name: python_values(column) for name, column in table.columns.items()}
    return _csv_writes(
        {target: _without_formulas(columns) if for_spreadsheets else columns}, table
    )


def _without_formulas(columns: dict[str, Any]) -> dict[str, Any]:
    """The same columns, without text that a spreadsheet would evaluate."""
    return {
        name: [spreadsheet_safe(cell) if isinstance(cell, str) else cell for cell in column]
        for name, column in columns.items()
    }


def _csv_writes(files: dict[Path, dict[str, Any]], table: "Estimate") -> dict[Path, Write]:
    """Files of CSV, and one description beside the first of them."""
    # The description is written first, so that no table ever exists without it.
    sidecar = meta_path(next(iter(files)))
    writes: dict[Path, Write] = {
        sidecar: lambda part: part.write_bytes(describe(table) + b"\n")
    }
    for path, columns in files.items():
        # The default argument binds this iteration's columns, not those of the last one.
        writes[path] = lambda part, columns=columns: write_table(part, columns)  # type: ignore[misc]
    return writes


def _write_parquet(path: Path, table: Any) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path)


def _features(table: "Estimate", shapes: list[Geometry | None]) -> Iterator[Any]:
    columns = {name: python_values(column) for name, column in table.columns.items()}
    for row, shape in enumerate(shapes):
        geometry = shape and {"type": shape.kind, "coordinates": shape.coordinates}
        properties = {name: values[row] for name, values in columns.items()}
        yield {"type": "Feature", "geometry": geometry, "properties": properties}


def flowmap_writes(
    path: AnyPath, table: "Estimate", *, for_spreadsheets: bool = False
) -> dict[Path, Write]:
    """`origin,dest,count` for flowmap.blue, and the locations in a second file beside it.

    Counts are estimated trips of the people who reported, at all times of day combined. Flows
    of no trips are left out.
    """
    target = file_path(path, (".csv",))
    required = {"origin", "destination", "flow"}
    if not required <= table.columns.keys() or table.shapes is None or not table.shapes.places:
        raise SchemaError(
            f"a flow map needs the columns {', '.join(sorted(required))} and the places of its "
            f"areas, got {table.kind} without them; query flows",
            code="not_flows",
            answer=table.kind,
        )
    combined = combined_rows(table.columns)
    flow = table["flow"]
    # Flows that add up to more than 1 are counts already.
    n_trips = table.about.get("reports") if flow[combined].sum() <= 1 + 1e-6 else None
    counts = {int(row): round(float(flow[row]) * (n_trips or 1), 3) for row in combined}
    nonzero = [row for row, count in counts.items() if count > 0]
    flows = {
        "origin": [table["origin"][row] for row in nonzero],
        "dest": [table["destination"][row] for row in nonzero],
        "count": [counts[row] for row in nonzero],
    }
    places = table.shapes.places
    locations = {
        "id": list(places),
        "name": list(places),
        "lat": [lat for lat, _ in places.values()],
        "lon": [lng for _, lng in places.values()],
    }
    files: dict[Path, dict[str, Any]]
    files = {target: flows, target.with_suffix(".locations.csv"): locations}
    if for_spreadsheets:
        files = {file: _without_formulas(columns) for file, columns in files.items()}
    return _csv_writes(files, table)


def read(path: AnyPath, like: "Estimate | None") -> EstimateParts:
    """The parts of a written estimate; ``like`` replaces the description of the file."""
    source = file_path(path, SUFFIXES)
    check_readable(source)
    if is_parquet(source):
        return _read_parquet(source, like)
    if source.name.endswith(GEOJSON):
        return _read_geojson(source, like)
    sidecar = meta_path(source)
    content = describe(like) if like else sidecar.read_bytes() if sidecar.exists() else None
    description = parse_description(content, str(source))
    return estimate_parts(description, _read_csv(source, column_kinds(description)))


def _read_parquet(path: Path, like: "Estimate | None") -> EstimateParts:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nomadp.formats.parquet_files import whole_table

    try:
        with pq.ParquetFile(path) as file:
            table = whole_table(path, file, file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise SchemaError(
            f"{path} must be a Parquet file, but is damaged or has another format",
            code="not_parquet",
        ) from error
    return from_arrow(table, like)


def _read_geojson(path: Path, like: "Estimate | None") -> EstimateParts:
    content = collection(path)
    text = describe(like).decode() if like else json.dumps(content.get(DESCRIPTION_MEMBER))
    description = parse_description(text, str(path))
    features = content.get("features")
    if not isinstance(features, list) or not all(isinstance(one, dict) for one in features):
        raise SchemaError(
            f"{path} must have a list of features, but has none", code="no_feature_list"
        )
    rows = [feature.get("properties") or {} for feature in features]
    columns = {
        name: parse_column(name, [row.get(name) for row in rows], kind)
        for name, kind in column_kinds(description).items()
    }
    shapes = [feature.get("geometry") for feature in features]
    return estimate_parts(
        description,
        columns,
        [shape and Geometry(shape.get("type"), shape.get("coordinates")) for shape in shapes],
    )


def _read_csv(path: Path, kinds: Any) -> dict[str, Any]:
    try:
        header, *rows = _records(path)
    except SchemaError:
        raise
    except (UnicodeDecodeError, csv.Error, ValueError):
        header, rows = [], []
    if any(name not in header for name in kinds) or any(len(r) != len(header) for r in rows):
        raise SchemaError(
            f"{path} must be well-formed CSV in UTF-8 with the columns {','.join(kinds)} that "
            "its description names, but is not",
            code="malformed_table",
        )
    position = {name: header.index(name) for name in kinds}
    return {
        name: parse_column(name, [row[position[name]] for row in rows], kind)
        for name, kind in kinds.items()
    }


def _records(path: Path) -> list[list[str]]:
    with MeasuredFile(path) as file:
        content = file.decoded(gzipped=path.suffix == ".gz")
        text = io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
        return list(csv.reader(text, strict=True))
