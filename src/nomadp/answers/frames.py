"""Answers as frames of other libraries, and back from any frame that streams to Arrow.

Frames are plain ones, never subclasses. What an answer says of itself stands in the metadata of
Arrow and in the `attrs` of pandas; polars and DuckDB have no place for it.
"""

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.answers.columns import GEOMETRY, TRUTH, kind_of, plain
from nomadp.answers.description import TABLE, Parts, describe, parts_of, said
from nomadp.answers.geometry import Geometry, bounds, from_wkb, geometries, to_wkb
from nomadp.errors import ExtraMissing, SchemaError
from nomadp.extras import EXTRAS, require, version_of
from nomadp.formats.arrow_objects import ArrowObject, arrow_table, frame_name

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["from_arrow", "geo_metadata", "to_arrow", "to_geopandas", "to_pandas", "to_polars"]

KEY = b"nomadp"
GEO = b"geo"


def to_arrow(table: "Estimate", *, geometry: bool = False) -> Any:
    """A table of Arrow; with geometry, as GeoParquet 1.1 wants it."""
    require("tables")
    import pyarrow as pa

    kinds = {"text": pa.string(), TRUTH: pa.bool_()}
    column: dict[str, Any] = {
        name: pa.array(values, kinds.get(kind_of(values)))
        for name, values in table.columns.items()
    }
    metadata = {KEY: describe(table)}
    if geometry:
        found = geometries(table)
        column[GEOMETRY] = pa.array([each and to_wkb(each) for each in found], pa.binary())
        metadata[GEO] = json.dumps(geo_metadata(found)).encode()
    return pa.table(column).replace_schema_metadata(metadata)


def geo_metadata(found: list[Geometry | None]) -> dict[str, Any]:
    """GeoParquet 1.1. Without a crs it means OGC:CRS84: longitude and latitude of WGS84."""
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": sorted({each.kind for each in found if each is not None}),
    }
    box = bounds(found)
    if box is not None:
        column["bbox"] = box
    return {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}


def to_pandas(table: "Estimate") -> Any:
    pandas = _pandas()
    named = {}
    for name, values in table.columns.items():
        if isinstance(values, tuple):
            named[name] = pandas.Series(list(values), dtype="str")
        elif values.dtype.kind == "O":  # yes and no, and what is not known
            named[name] = pandas.Series(plain(values), dtype="boolean")
        else:
            named[name] = pandas.Series(np.array(values))
    frame = pandas.DataFrame(named)
    frame.attrs["nomadp"] = json.loads(describe(table))
    return frame


def to_polars(table: "Estimate") -> Any:
    require("polars")
    polars = import_module("polars")
    kinds = {"text": polars.String, TRUTH: polars.Boolean}
    named = {
        name: polars.Series(name, plain(values), kinds[kind_of(values)])
        if kind_of(values) in kinds
        else polars.Series(name, np.array(values))
        for name, values in table.columns.items()
    }
    return polars.DataFrame(named)


def to_geopandas(table: "Estimate") -> Any:
    """With a column geometry in EPSG:4326: longitude and latitude of WGS84."""
    require("geo")
    geopandas = import_module("geopandas")
    found = [each and to_wkb(each) for each in geometries(table)]
    place = geopandas.GeoSeries.from_wkb(found, crs=4326)
    frame = to_pandas(table)
    made = geopandas.GeoDataFrame(frame, geometry=place, crs=4326)
    made.attrs = dict(frame.attrs)
    return made


def _pandas() -> Any:
    if version_of("pandas") is None:
        raise ExtraMissing(
            "this needs the package pandas, which is not installed; run: "
            f"{EXTRAS['geo'].remedy}, or pip install pandas",
            code="package_missing",
            package="pandas",
        )
    return import_module("pandas")


def from_arrow(data: ArrowObject, like: "Estimate | None") -> Parts:
    """The columns of anything that streams to Arrow, described by itself or as ``like``."""
    found = arrow_table(data)
    metadata: dict[bytes, bytes] = found.schema.metadata or {}
    place = None
    if GEOMETRY in found.column_names:
        place = [value and from_wkb(value) for value in found[GEOMETRY].to_pylist()]
    names = [name for name in found.column_names if name != GEOMETRY]
    columns = {name: _column(name, found[name]) for name in names}
    if like is None:
        about = metadata.get(KEY) or _attrs(data)
        return parts_of(said(about, frame_name(data)), columns, place)
    made = parts_of(said(describe(like), ""), columns, place)
    return made if place is not None else made._replace(shapes=like.shapes)


def _attrs(data: Any) -> str | None:
    """What a frame of pandas or GeoPandas says of itself."""
    found = getattr(data, "attrs", None)
    said = found.get("nomadp") if isinstance(found, dict) else None
    return json.dumps(said) if isinstance(said, dict) and TABLE in said else None


def _column(name: str, chunks: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(chunks.type):
        chunks = chunks.cast(chunks.type.value_type)
    kind = chunks.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        filled = chunks.cast(pa.float64()).fill_null(float("nan"))
        return np.array(filled.to_numpy())
    is_text = any(
        each(kind) for each in (pa.types.is_string, pa.types.is_large_string, _is_view)
    )
    if not (is_text or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise SchemaError(
            f"{name} must be a column of texts, numbers, or yes and no, got {kind}; convert it",
            code="unsupported_column_type",
            column=name,
        )
    if chunks.null_count and not pa.types.is_boolean(kind):
        raise SchemaError(
            f"{name} must not have missing values, got {chunks.null_count} of {len(chunks)}; "
            "only decimals, and yes and no, may",
            code="missing_values",
            column=name,
            missing=chunks.null_count,
        )
    return chunks.to_pylist() if is_text else np.array(chunks.to_numpy())


def _is_view(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string_view(kind))
