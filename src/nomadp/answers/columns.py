"""The immutable columns of an estimate: text, integers, floats or booleans.

An unknown float is NaN, and an unknown boolean is None. Formats without such values leave the
cell empty.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import SchemaError

__all__ = [
    "Column",
    "GEOMETRY",
    "BOOLEAN",
    "frozen_columns",
    "parse_column",
    "column_kind",
    "python_values",
]

Column = NDArray[Any] | tuple[str, ...]

GEOMETRY = "geometry"
"""The name of the geometry column in files and frames; other columns cannot have it."""
TEXT, INTEGER, FLOAT, BOOLEAN = "text", "whole", "decimal", "truth"
"""Kinds of columns. These strings are stored in files."""
DTYPES = {INTEGER: np.int64, FLOAT: np.float64, BOOLEAN: np.bool_}
_KIND_OF_DTYPE = {"i": INTEGER, "u": INTEGER, "f": FLOAT, "b": BOOLEAN, "O": BOOLEAN}
"""Columns of Python objects contain only True, False and None: others are text or refused."""


def frozen_columns(columns: Mapping[str, Any]) -> Mapping[str, Column]:
    """Read-only copies; refused unless all columns have the same length."""
    copies = {name: _frozen_column(name, values) for name, values in columns.items()}
    if not copies:
        raise SchemaError("a table must have at least one column, got none", code="no_columns")
    lengths = {len(column) for column in copies.values()}
    if len(lengths) > 1:
        listed = ", ".join(f"{name} {len(column)}" for name, column in copies.items())
        raise SchemaError(
            f"the columns of a table must have the same length, got {listed}",
            code="columns_of_unequal_length",
        )
    return MappingProxyType(copies)


def _frozen_column(name: Any, values: Any) -> Column:
    if not isinstance(name, str) or not name or name == GEOMETRY:
        raise SchemaError(
            f"a column must have a name, and not {GEOMETRY}, got {name!r}",
            code="invalid_column_name",
        )
    if not hasattr(values, "dtype"):
        values = list(values)
        if all(isinstance(value, str) for value in values):
            return _text_column(name, values)
    column = np.array(values)
    if column.ndim == 1 and column.dtype.kind == "O" and _are_booleans(column.tolist()):
        return _boolean_column(column.tolist())
    if column.ndim == 1 and column.dtype.kind in "UOT":
        return _text_column(name, column.tolist())
    if column.ndim != 1 or column.dtype.kind not in _KIND_OF_DTYPE:
        raise SchemaError(
            f"{name} must be a column of text, numbers or booleans, got {column.dtype} with "
            f"{column.ndim} dimensions",
            code="unsupported_column_type",
            column=name,
        )
    frozen: NDArray[Any] = column.astype(DTYPES[_KIND_OF_DTYPE[column.dtype.kind]])
    if frozen.dtype == np.float64 and np.isinf(frozen).any():
        raise SchemaError(
            f"{name} must be finite, or NaN where it is not known",
            code="column_not_finite",
            column=name,
        )
    frozen.flags.writeable = False
    return frozen


def _are_booleans(values: Sequence[Any]) -> bool:
    return bool(values) and all(value is None or value in (True, False) for value in values)


def _boolean_column(values: Sequence[Any]) -> NDArray[Any]:
    """An array of booleans, or of objects if a value is None, which numpy cannot store."""
    column = np.array(values, dtype=object if None in values else np.bool_)
    column.flags.writeable = False
    return column


def _text_column(name: str, values: Sequence[Any]) -> tuple[str, ...]:
    try:
        "".join(values).encode()
    except (TypeError, UnicodeEncodeError):
        raise SchemaError(
            f"{name} must contain only text",
            code="wrong_column_type",
            column=name,
            expected=TEXT,
        ) from None
    return tuple(values)


def column_kind(column: Column) -> str:
    """The kind of a column. Files that contain only text store it in their description."""
    return TEXT if isinstance(column, tuple) else _KIND_OF_DTYPE[column.dtype.kind]


def python_values(column: Column) -> list[Any]:
    """The values as Python objects; None is an unknown value."""
    if isinstance(column, tuple):
        return list(column)
    values: list[Any] = column.tolist()
    # Only NaN differs from itself.
    return [None if value != value else value for value in values]


def parse_column(name: str, values: Sequence[Any], kind: str) -> Column:
    """The column of a file of text or JSON that was written from `python_values`."""
    if kind == TEXT:
        return _text_column(name, values)
    parse: Any = {INTEGER: int, FLOAT: _parse_float, BOOLEAN: _parse_boolean}.get(kind)
    try:
        if kind == BOOLEAN:
            return _boolean_column([parse(value) for value in values])
        return np.array([parse(value) for value in values], dtype=DTYPES[kind])
    except (TypeError, ValueError, KeyError, OverflowError):
        pass
    raise SchemaError(
        f"{name} must be a column of {kind}, as its description says",
        code="wrong_column_type",
        column=name,
        expected=kind,
    )


def _parse_float(value: Any) -> float:
    return float("nan") if value in (None, "") else float(value)


def _parse_boolean(value: Any) -> bool | None:
    booleans = {True: True, False: False, "True": True, "False": False}
    return None if value in (None, "") else booleans[value]
