"""Files of answers: CSV, Parquet, GeoParquet 1.1, GeoJSON, and what flowmap.blue reads.

Each says how it was made: inside Parquet and GeoJSON, beside CSV. Outlines of areas stand only
where there is geometry. A file is written whole or not at all.
"""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nomadp.answers.columns import from_texts, plain
from nomadp.answers.description import Parts, column_kinds, describe, parts_of, said
from nomadp.answers.frames import from_arrow, to_arrow
from nomadp.answers.geometry import Geometry, geometries
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
MEMBER = "nomadp"
"""Of a feature collection: where the description stands."""


def table_writes(
    path: AnyPath,
    table: "Estimate",
    *,
    geometry: bool | None = None,
    for_spreadsheets: bool = False,
) -> dict[Path, Write]:
    """The files of a table, as ``path`` ends, to be written together.

    ``geometry`` adds it to Parquet, and is there by nature in others. ``for_spreadsheets`` puts
    an apostrophe before text in CSV that a spreadsheet would take for a formula.
    """
    found = file_path(path, SUFFIXES)
    by_nature = found.suffix in (GEOJSON, ".geoparquet")
    if geometry is not None and geometry != by_nature and found.suffix != ".parquet":
        raise SchemaError(
            f"{found} has {'a' if by_nature else 'no place for a'} geometry by its nature; "
            "only .parquet leaves the choice",
            code="geometry_not_optional",
            by_nature=by_nature,
        )
    if is_parquet(found):
        made = to_arrow(table, geometry=bool(geometry) or by_nature)
        return {found: lambda part: _write_parquet(part, made)}
    if by_nature:
        rows = _features(table, geometries(table))
        more = {MEMBER: json.loads(describe(table))}
        return {found: lambda part: write_features(part, rows, more)}
    columns = {name: plain(each) for name, each in table.columns.items()}
    return _csv_writes({found: _safe(columns) if for_spreadsheets else columns}, table)


def _safe(columns: dict[str, Any]) -> dict[str, Any]:
    """The same columns, without text that a spreadsheet would work out."""
    return {
        name: [spreadsheet_safe(cell) if isinstance(cell, str) else cell for cell in each]
        for name, each in columns.items()
    }


def _csv_writes(files: dict[Path, dict[str, Any]], table: "Estimate") -> dict[Path, Write]:
    """Tables whose description stands beside the first of them."""
    # First: a table never stands without saying how it was made.
    about = meta_path(next(iter(files)))
    writes: dict[Path, Write] = {about: lambda part: part.write_bytes(describe(table) + b"\n")}
    for path, column in files.items():
        writes[path] = lambda part, column=column: write_table(part, column)  # type: ignore[misc]
    return writes


def _write_parquet(path: Path, made: Any) -> None:
    import pyarrow.parquet as pq

    pq.write_table(made, path)


def _features(table: "Estimate", found: list[Geometry | None]) -> Iterator[Any]:
    columns = {name: plain(each) for name, each in table.columns.items()}
    for row, each in enumerate(found):
        place = each and {"type": each.kind, "coordinates": each.coordinates}
        named = {name: values[row] for name, values in columns.items()}
        yield {"type": "Feature", "geometry": place, "properties": named}


def flowmap_writes(
    path: AnyPath, table: "Estimate", *, for_spreadsheets: bool = False
) -> dict[Path, Write]:
    """`origin,dest,count` as flowmap.blue reads it, and its locations in a file beside.

    Shares become estimated trips of those who reported; flows of none are left out.
    """
    found = file_path(path, (".csv",))
    needed = {"origin", "destination", "flow"}
    if not needed <= table.columns.keys() or table.shapes is None or not table.shapes.places:
        raise SchemaError(
            f"a flow map needs the columns {', '.join(sorted(needed))} and the places of its "
            f"areas, got {table.kind} without; ask for flows",
            code="not_flows",
            answer=table.kind,
        )
    flow = table["flow"]
    trips = table.about.get("reports") if flow.sum() <= 1 + 1e-6 else None
    counts = [round(float(each) * (trips or 1), 3) for each in flow]
    there = [row for row, count in enumerate(counts) if count > 0]
    flows = {
        "origin": [table["origin"][row] for row in there],
        "dest": [table["destination"][row] for row in there],
        "count": [counts[row] for row in there],
    }
    places = table.shapes.places
    locations = {
        "id": list(places),
        "name": list(places),
        "lat": [lat for lat, _ in places.values()],
        "lon": [lng for _, lng in places.values()],
    }
    made: dict[Path, dict[str, Any]]
    made = {found: flows, found.with_suffix(".locations.csv"): locations}
    if for_spreadsheets:
        made = {each: _safe(columns) for each, columns in made.items()}
    return _csv_writes(made, table)


def read(path: AnyPath, like: "Estimate | None") -> Parts:
    """What `write` wrote; ``like`` describes a file that says nothing of itself."""
    found = file_path(path, SUFFIXES)
    check_readable(found)
    if is_parquet(found):
        return _read_parquet(found, like)
    if found.name.endswith(GEOJSON):
        return _read_geojson(found, like)
    about = meta_path(found)
    content = describe(like) if like else about.read_bytes() if about.exists() else None
    description = said(content, str(found))
    return parts_of(description, _read_csv(found, column_kinds(description)))


def _read_parquet(path: Path, like: "Estimate | None") -> Parts:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nomadp.formats.parquet_files import whole_table

    try:
        with pq.ParquetFile(path) as file:
            found = whole_table(path, file, file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise SchemaError(
            f"{path} must be a Parquet file, and is damaged or not", code="not_parquet"
        ) from error
    return from_arrow(found, like)


def _read_geojson(path: Path, like: "Estimate | None") -> Parts:
    content = collection(path)
    about = describe(like).decode() if like else json.dumps(content.get(MEMBER))
    description = said(about, str(path))
    listed = content.get("features")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise SchemaError(
            f"{path} must have a list of features, and has none", code="no_feature_list"
        )
    rows = [each.get("properties") or {} for each in listed]
    columns = {
        name: from_texts(name, [row.get(name) for row in rows], kind)
        for name, kind in column_kinds(description).items()
    }
    place = [each.get("geometry") for each in listed]
    return parts_of(
        description,
        columns,
        [each and Geometry(each.get("type"), each.get("coordinates")) for each in place],
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
            "its description names, and is not",
            code="malformed_table",
        )
    at = {name: header.index(name) for name in kinds}
    return {
        name: from_texts(name, [row[at[name]] for row in rows], kind)
        for name, kind in kinds.items()
    }


def _records(path: Path) -> list[list[str]]:
    with MeasuredFile(path) as file:
        content = file.decoded(gzipped=path.suffix == ".gz")
        text = io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
        return list(csv.reader(text, strict=True))
