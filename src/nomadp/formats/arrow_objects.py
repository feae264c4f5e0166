"""Frames of other libraries as Arrow tables: all objects that can stream to Arrow.

pandas, polars, DuckDB and GeoPandas can. Importing this module is cheap: it imports Arrow only
when needed.
"""

import json
from dataclasses import dataclass
from os import fspath
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from nomadp.errors import SchemaError
from nomadp.extras import require
from nomadp.formats.measured_file import AnyPath

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ArrowObject",
    "Frame",
    "Source",
    "arrow_table",
    "source_name",
    "as_frame",
    "is_wgs84",
    "frame_name",
]


@runtime_checkable
class ArrowObject(Protocol):
    """Anything with the method `__arrow_c_stream__` of the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Source = AnyPath | ArrowObject
"""A file, or a frame of another library."""

WGS84 = {("OGC", "CRS84"), ("EPSG", "4326")}


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """A frame as an Arrow table, with its name in errors, which shows only the frame's type."""

    name: str
    table: Any

    def __str__(self) -> str:
        return self.name

    @property
    def geometry(self) -> str | None:
        """The first geometry column of GeoPandas. Raises `SchemaError` if it is not WGS84."""
        for field in self.table.schema:
            metadata = field.metadata or {}
            if metadata.get(b"ARROW:extension:name", b"").startswith(b"geoarrow."):
                _check_crs(self.name, metadata.get(b"ARROW:extension:metadata", b""))
                return str(field.name)
        return None


def as_frame(source: "Source | Frame") -> "Frame | None":
    """The source as a frame; None for a path."""
    if isinstance(source, Frame):
        return source
    if isinstance(source, ArrowObject):
        return Frame(frame_name(source), arrow_table(source))
    return None


def source_name(source: "AnyPath | Frame") -> str:
    """The name of a file or a frame in errors."""
    return source.name if isinstance(source, Frame) else fspath(source)


def frame_name(data: ArrowObject) -> str:
    return f"the given {type(data).__name__}"


def arrow_table(data: ArrowObject) -> "pa.Table":
    """The columns as an Arrow table of plain types; geometry of GeoPandas becomes WKB."""
    require("tables")
    import pyarrow as pa

    frame: Any = data
    # Only this method of GeoPandas includes the geometry.
    is_geopandas = hasattr(type(data), "to_arrow") and hasattr(type(data), "__geo_interface__")
    try:
        table = pa.table(frame.to_arrow() if is_geopandas else frame)
        plain_fields = [field.with_type(_plain_type(field.type)) for field in table.schema]
        return table.cast(pa.schema(plain_fields, table.schema.metadata))
    except (pa.ArrowException, TypeError, ValueError):
        pass
    # Raised outside the handler: the original error may quote the frame.
    raise SchemaError(
        f"{frame_name(data)} must be a table that Arrow can read, but it is not; use values of "
        "one type in every column",
        code="not_arrow",
    )


def _plain_type(arrow_type: Any) -> Any:
    """A plain type. polars has views for text, and DuckDB has decimals for literals."""
    import pyarrow as pa

    if pa.types.is_string_view(arrow_type):
        return pa.large_string()
    if pa.types.is_binary_view(arrow_type):
        return pa.large_binary()
    if pa.types.is_decimal(arrow_type):
        return pa.float64()
    if pa.types.is_dictionary(arrow_type):
        return _plain_type(arrow_type.value_type)
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type):
        return pa.large_list(_plain_type(arrow_type.value_type))
    return arrow_type


def is_wgs84(crs: Any) -> bool:
    """Whether a coordinate system (PROJJSON) is longitude and latitude in WGS84."""
    crs_id = crs.get("id") if isinstance(crs, dict) else None
    members = crs_id if isinstance(crs_id, dict) else {}
    return (str(members.get("authority")), str(members.get("code"))) in WGS84


def _check_crs(name: str, metadata: bytes) -> None:
    try:
        crs = json.loads(metadata or b"{}").get("crs")
    except (ValueError, AttributeError):
        crs = None
    if crs is not None and not is_wgs84(crs):
        raise SchemaError(
            f"{name} must be in longitude and latitude (EPSG:4326), but it is not; transform "
            "it first with frame.to_crs(4326)",
            code="not_wgs84",
        )
