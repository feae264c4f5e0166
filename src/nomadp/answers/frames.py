"""Conversion of estimates to data frames, and back from any frame that streams to Arrow.

Frames are ordinary frames, not subclasses. The description of an estimate is in the metadata of
Arrow and in the `attrs` of pandas; polars and DuckDB cannot store it.
"""

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.answers.columns import BOOLEAN, GEOMETRY, column_kind, python_values
from nomadp.answers.description import (
    TABLE,
    EstimateParts,
    describe,
    estimate_parts,
    parse_description,
)
from nomadp.answers.geometry import Geometry, bounding_box, from_wkb, geometries, to_wkb
from nomadp.errors import ExtraMissing, SchemaError
from nomadp.extras import EXTRAS, require, version_of
from nomadp.formats.arrow_objects import ArrowObject, arrow_table, name_of

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["from_arrow", "geo_metadata", "to_arrow", "to_geopandas", "to_pandas", "to_polars"]

DESCRIPTION_KEY = b"nomadp"
GEOPARQUET_KEY = b"geo"


def to_arrow(table: "Estimate", *, geometry: bool = False) -> Any:
    """An Arrow table; with ``geometry``, it has the column and metadata of GeoParquet 1.1."""
    require("tables")
    import pyarrow as pa

    kinds = {"text": pa.string(), BOOLEAN: pa.bool_()}
    column: dict[str, Any] = {
        name: pa.array(values, kinds.get(column_kind(values)))
        for name, values in table.columns.items()
    }
    metadata = {DESCRIPTION_KEY: describe(table)}
    if geometry:
        shapes = geometries(table)
        column[GEOMETRY] = pa.array([shape and to_wkb(shape) for shape in shapes], pa.binary())
        metadata[GEOPARQUET_KEY] = json.dumps(geo_metadata(shapes)).encode()
    return pa.table(column).replace_schema_metadata(metadata)


def geo_metadata(shapes: list[Geometry | None]) -> dict[str, Any]:
    """GeoParquet 1.1. Without a crs the standard implies OGC:CRS84: WGS84, longitude first."""
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": sorted({shape.kind for shape in shapes if shape is not None}),
    }
    box = bounding_box(shapes)
    if box is not None:
        column["bbox"] = box
    return {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}


def to_pandas(table: "Estimate") -> Any:
    pandas = _pandas()
    series = {}
    for name, values in table.columns.items():
        if isinstance(values, tuple):
            series[name] = pandas.Series(list(values), dtype="str")
        elif values.dtype.kind == "O":  # booleans, some of them unknown
            series[name] = pandas.Series(python_values(values), dtype="boolean")
        else:
            series[name] = pandas.Series(np.array(values))
    frame = pandas.DataFrame(series)
    frame.attrs["nomadp"] = json.loads(describe(table))
    return frame


def to_polars(table: "Estimate") -> Any:
    require("polars")
    polars = import_module("polars")
    kinds = {"text": polars.String, BOOLEAN: polars.Boolean}
    series = {
        name: polars.Series(name, python_values(values), kinds[column_kind(values)])
        if column_kind(values) in kinds
        else polars.Series(name, np.array(values))
        for name, values in table.columns.items()
    }
    return polars.DataFrame(series)


def to_geopandas(table: "Estimate") -> Any:
    """A GeoDataFrame in EPSG:4326, which GeoPandas reads as longitude before latitude."""
    require("geo")
    geopandas = import_module("geopandas")
    wkb = [shape and to_wkb(shape) for shape in geometries(table)]
    geometry = geopandas.GeoSeries.from_wkb(wkb, crs=4326)
    frame = to_pandas(table)
    geo_frame = geopandas.GeoDataFrame(frame, geometry=geometry, crs=4326)
    geo_frame.attrs = dict(frame.attrs)
    return geo_frame


def _pandas() -> Any:
    if version_of("pandas") is None:
        raise ExtraMissing(
            "this needs the package pandas, which is not installed; run: "
            f"{EXTRAS['geo'].remedy}, or pip install pandas",
            code="package_missing",
            package="pandas",
        )
    return import_module("pandas")


def from_arrow(data: ArrowObject, like: "Estimate | None") -> EstimateParts:
    """The parts of an estimate; ``like`` replaces the description of the data."""
    table = arrow_table(data)
    metadata: dict[bytes, bytes] = table.schema.metadata or {}
    shapes = None
    if GEOMETRY in table.column_names:
        shapes = [value and from_wkb(value) for value in table[GEOMETRY].to_pylist()]
    names = [name for name in table.column_names if name != GEOMETRY]
    columns = {name: _column(name, table[name]) for name in names}
    if like is None:
        content = metadata.get(DESCRIPTION_KEY) or _description_in_attrs(data)
        return estimate_parts(parse_description(content, name_of(data)), columns, shapes)
    parts = estimate_parts(parse_description(describe(like), ""), columns, shapes)
    return parts if shapes is not None else parts._replace(shapes=like.shapes)


def _description_in_attrs(data: Any) -> str | None:
    """The description that `to_pandas` stored, if pandas still has it."""
    attrs = getattr(data, "attrs", None)
    facts = attrs.get("nomadp") if isinstance(attrs, dict) else None
    return json.dumps(facts) if isinstance(facts, dict) and TABLE in facts else None


def _column(name: str, chunks: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(chunks.type):
        chunks = chunks.cast(chunks.type.value_type)
    kind = chunks.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        filled = chunks.cast(pa.float64()).fill_null(float("nan"))
        return np.array(filled.to_numpy())
    is_text = any(
        test(kind) for test in (pa.types.is_string, pa.types.is_large_string, _is_string_view)
    )
    if not (is_text or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise SchemaError(
            f"{name} must be a column of text, numbers or booleans, got {kind}; convert it",
            code="unsupported_column_type",
            column=name,
        )
    if chunks.null_count and not pa.types.is_boolean(kind):
        raise SchemaError(
            f"{name} must not have missing values, got {chunks.null_count} of {len(chunks)}; "
            "only floats and booleans can be missing",
            code="missing_values",
            column=name,
            missing=chunks.null_count,
        )
    return chunks.to_pylist() if is_text else np.array(chunks.to_numpy())


def _is_string_view(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string_view(kind))
