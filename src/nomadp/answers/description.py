"""What an answer says of itself, as it travels with its columns through every format.

It is JSON: the facts of `about`, and under `TABLE` what is needed to read the columns back.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from nomadp.answers.columns import kind_of
from nomadp.answers.geometry import Geometry, area_column
from nomadp.answers.shapes import Shapes
from nomadp.errors import SchemaError

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = [
    "FORMAT",
    "TABLE",
    "Parts",
    "as_about",
    "column_kinds",
    "describe",
    "parts_of",
    "said",
]

FORMAT = 1
TABLE = "table"
"""The one name that `about` leaves free."""


class Parts(NamedTuple):
    """What a `Estimate` is made of."""

    kind: str
    columns: Mapping[str, Any]
    about: Mapping[str, Any]
    shapes: Shapes | None


def as_about(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A copy that nobody can change, of what JSON can say."""
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(given), allow_nan=False))
        json.dumps(copied, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        copied = {TABLE: None}
    if TABLE in copied:
        raise SchemaError(
            f"about must be facts that JSON can say, by names other than {TABLE}; turn others "
            "into text first",
            code="about_not_json",
        )
    return MappingProxyType(copied)


def describe(table: "Estimate") -> bytes:
    places = table.shapes.places if table.shapes is not None else {}
    own: dict[str, Any] = {
        "format": FORMAT,
        "kind": table.kind,
        "columns": {name: kind_of(column) for name, column in table.columns.items()},
    }
    if places:
        own["places"] = {name: list(place) for name, place in places.items()}
    return json.dumps({**table.about, TABLE: own}, indent=2, ensure_ascii=False).encode()


def said(content: bytes | str | None, source: str) -> dict[str, Any]:
    """A description as it was written, or a refusal of anything else."""
    try:
        found = json.loads(content or "")
        own = found[TABLE]
        ours = isinstance(own["kind"], str) and isinstance(own["columns"], dict)
        ours &= isinstance(own.get("places", {}), dict)
        number = own["format"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        ours, number = False, FORMAT
    if not ours:
        raise SchemaError(
            f"{source} must say of what kind its answers are, as those do that Estimate.write "
            "wrote; hand in like=ESTIMATE to read it as another one's rows",
            code="no_description",
        )
    if number != FORMAT:
        raise SchemaError(
            f"{source} must be of format {FORMAT}, got {str(number)[:20]}; use a newer nomadp",
            code="unknown_table_format",
            format=str(number)[:20],
        )
    return dict(found)


def column_kinds(found: Mapping[str, Any]) -> Mapping[str, str]:
    kinds: Mapping[str, str] = found[TABLE]["columns"]
    return kinds


def parts_of(
    found: Mapping[str, Any],
    columns: Mapping[str, Any],
    geometry: list[Geometry | None] | None = None,
) -> Parts:
    """Columns with their description; geometry gives the outlines of the areas they name."""
    own = found[TABLE]
    about = {name: value for name, value in found.items() if name != TABLE}
    outlines = _outlines(columns, geometry)
    places = own.get("places", {})
    shapes = Shapes(outlines, places) if outlines or places else None
    return Parts(own["kind"], columns, about, shapes)


def _outlines(
    columns: Mapping[str, Any], geometry: list[Geometry | None] | None
) -> dict[str, Any]:
    area = area_column(columns)
    if geometry is None or area is None:
        return {}
    return {
        str(name): [each.coordinates] if each.kind == "Polygon" else each.coordinates
        for name, each in zip(columns[area], geometry, strict=True)
        if each is not None and each.kind in ("Polygon", "MultiPolygon")
    }
