"""The description of an estimate, which every format stores with its columns.

It is JSON: the facts in `about`, and under `TABLE` the layout that is needed to read the
columns back.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from nomadp.answers.columns import column_kind
from nomadp.answers.geometry import Geometry, area_column
from nomadp.answers.shapes import Shapes
from nomadp.errors import SchemaError

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = [
    "FORMAT",
    "TABLE",
    "EstimateParts",
    "column_kinds",
    "describe",
    "estimate_parts",
    "frozen_about",
    "parse_description",
]

FORMAT = 1
TABLE = "table"
"""The key of the layout, which no fact in `about` can have."""


class EstimateParts(NamedTuple):
    """The constructor arguments of `Estimate`."""

    kind: str
    columns: Mapping[str, Any]
    about: Mapping[str, Any]
    shapes: Shapes | None


def frozen_about(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """A read-only copy; refused unless all facts are JSON values."""
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(facts), allow_nan=False))
        json.dumps(copied, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        copied = {TABLE: None}
    if TABLE in copied:
        raise SchemaError(
            f"about must contain JSON values under names other than {TABLE}; convert other "
            "values to text",
            code="about_not_json",
        )
    return MappingProxyType(copied)


def describe(table: "Estimate") -> bytes:
    places = table.shapes.places if table.shapes is not None else {}
    layout: dict[str, Any] = {
        "format": FORMAT,
        "kind": table.kind,
        "columns": {name: column_kind(column) for name, column in table.columns.items()},
    }
    if places:
        layout["places"] = {name: list(place) for name, place in places.items()}
    return json.dumps({**table.about, TABLE: layout}, indent=2, ensure_ascii=False).encode()


def parse_description(content: bytes | str | None, source: str) -> dict[str, Any]:
    """The description that `describe` wrote; refused if it is missing or malformed."""
    try:
        description = json.loads(content or "")
        layout = description[TABLE]
        is_valid = isinstance(layout["kind"], str) and isinstance(layout["columns"], dict)
        is_valid &= isinstance(layout.get("places", {}), dict)
        version = layout["format"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        is_valid, version = False, FORMAT
    if not is_valid:
        raise SchemaError(
            f"{source} must have a description, as files of Estimate.write do; pass "
            "like=ESTIMATE to read it with the description of another estimate",
            code="no_description",
        )
    if version != FORMAT:
        raise SchemaError(
            f"{source} must be of format {FORMAT}, got {str(version)[:20]}; use a newer nomadp",
            code="unknown_table_format",
            format=str(version)[:20],
        )
    return dict(description)


def column_kinds(description: Mapping[str, Any]) -> Mapping[str, str]:
    kinds: Mapping[str, str] = description[TABLE]["columns"]
    return kinds


def estimate_parts(
    description: Mapping[str, Any],
    columns: Mapping[str, Any],
    geometries: list[Geometry | None] | None = None,
) -> EstimateParts:
    """Columns with their description; the geometries are outlines of the areas of the rows."""
    layout = description[TABLE]
    about = {name: value for name, value in description.items() if name != TABLE}
    outlines = _outlines(columns, geometries)
    places = layout.get("places", {})
    shapes = Shapes(outlines, places) if outlines or places else None
    return EstimateParts(layout["kind"], columns, about, shapes)


def _outlines(
    columns: Mapping[str, Any], geometries: list[Geometry | None] | None
) -> dict[str, Any]:
    column = area_column(columns)
    if geometries is None or column is None:
        return {}
    return {
        str(name): [area.coordinates] if area.kind == "Polygon" else area.coordinates
        for name, area in zip(columns[column], geometries, strict=True)
        if area is not None and area.kind in ("Polygon", "MultiPolygon")
    }
