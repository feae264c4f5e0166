"""Reading and writing GeoJSON features, one per line."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nomadp.errors import SchemaError
from nomadp.formats.archives import ByteSource, file_source
from nomadp.formats.measured_file import AnyPath
from nomadp.formats.unreadable import BadRows

__all__ = [
    "collection",
    "feature",
    "feature_text",
    "features",
    "first_vertex",
    "write_features",
]

LONGITUDE_LATITUDE = ("CRS84", "4326")


def features(path: AnyPath | ByteSource) -> list[Mapping[str, Any]]:
    """The features of a GeoJSON file (RFC 7946), at least one, with geometry and properties."""
    source = path if isinstance(path, ByteSource) else file_source(Path(path))
    content = collection(source)
    items = content.get("features") if content["type"] == "FeatureCollection" else [content]
    if not isinstance(items, list) or not items:
        raise BadRows(f"{source} must have at least one feature, got none", code="no_features")
    for k, item in enumerate(items):
        geometry = item.get("geometry") if isinstance(item, dict) else None
        if not isinstance(geometry, dict):
            raise BadRows(
                f"{source}: feature {k + 1} must have a geometry, got none",
                code="geometry_missing",
                feature=k + 1,
            )
        if not isinstance(item.get("properties") or {}, dict):
            raise BadRows(
                f"{source}: feature {k + 1} must have an object as its properties, got another "
                "value",
                code="properties_missing",
                feature=k + 1,
            )
        item["properties"] = item.get("properties") or {}
    return items


def collection(path: AnyPath | ByteSource) -> dict[str, Any]:
    """A feature collection or a single feature, in longitude and latitude."""
    source = path if isinstance(path, ByteSource) else file_source(Path(path))
    content = _content(source)
    kind = content.get("type") if isinstance(content, dict) else None
    if kind not in ("FeatureCollection", "Feature"):
        raise SchemaError(
            f"{source} must be GeoJSON with features, but it is not", code="not_geojson"
        )
    _check_crs(source, content.get("crs"))
    return dict(content)


def first_vertex(geojson_feature: Mapping[str, Any], depth: Mapping[str, int]) -> Any:
    """Longitude and latitude of a geometry's first vertex; None if its type is not in `depth`.

    `depth` is the nesting of the coordinates by geometry type.
    """
    geometry: Any = geojson_feature["geometry"]
    try:
        position = geometry["coordinates"]
        for _ in range(depth[geometry["type"]]):
            position = position[0]
        lng, lat = float(position[0]), float(position[1])
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    return (lng, lat) if abs(lng) <= 180 and abs(lat) <= 90 else None


def feature(kind: str, coordinates: Any, **properties: Any) -> Mapping[str, Any]:
    """A feature with a geometry of this type, and with the properties that are not None."""
    return {
        "type": "Feature",
        "geometry": {"type": kind, "coordinates": coordinates},
        "properties": {name: value for name, value in properties.items() if value is not None},
    }


def write_features(
    path: Path, items: Iterable[Mapping[str, Any]], members: Mapping[str, Any] | None = None
) -> None:
    """Write a feature collection. ``members`` are further members of the collection."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(feature_text(items, members))


def feature_text(
    items: Iterable[Mapping[str, Any]], members: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """The text of a feature collection, in pieces, with one feature per line."""
    yield '{"type": "FeatureCollection", '
    for name, value in (members or {}).items():
        yield f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n"
    yield '"features": ['
    for k, item in enumerate(items):
        yield ",\n" if k else "\n"
        yield json.dumps(item, ensure_ascii=False, allow_nan=False)
    yield "\n]}\n"


def _content(source: ByteSource) -> Any:
    try:
        with source.open() as file:
            return json.loads(file.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        refusal = SchemaError(
            f"{source} must be encoded in UTF-8, but it is not; save it as UTF-8",
            code="not_utf8",
        )
    except SchemaError:
        raise
    except (ValueError, RecursionError):
        refusal = SchemaError(
            f"{source} must be well-formed JSON, but it is not; export it again",
            code="not_json",
        )
    except OSError as error:
        refusal = SchemaError(
            f"{source} cannot be read: {error.strerror or error}",
            code="file_unreadable",
            errno=error.errno,
        )
    # Raised outside the handlers: the original error contains the whole file.
    raise refusal


def _check_crs(path: ByteSource, crs: Any) -> None:
    """Reject other coordinate systems, which files from before RFC 7946 may declare."""
    if crs is None:
        return
    properties = crs.get("properties") if isinstance(crs, dict) else None
    name = str(properties.get("name")) if isinstance(properties, dict) else ""
    if not name.endswith(LONGITUDE_LATITUDE):
        raise SchemaError(
            f"{path} must be in longitude and latitude (RFC 7946), but its crs is another one; "
            "transform it to EPSG:4326 first",
            code="not_wgs84",
        )
