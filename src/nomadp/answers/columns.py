"""The columns of an answer: texts, whole numbers, decimals, or yes and no, none to be changed.

A decimal that is not known is NaN, and a yes or no that is not known is None: formats that
have no such value leave it empty.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import SchemaError

__all__ = ["Column", "GEOMETRY", "TRUTH", "as_columns", "from_texts", "kind_of", "plain"]

Column = NDArray[Any] | tuple[str, ...]

GEOMETRY = "geometry"
"""What formats with geometry call it; so no column of ours is."""
TEXT, WHOLE, DECIMAL, TRUTH = "text", "whole", "decimal", "truth"
DTYPES = {WHOLE: np.int64, DECIMAL: np.float64, TRUTH: np.bool_}
_OF_NUMPY = {"i": WHOLE, "u": WHOLE, "f": DECIMAL, "b": TRUTH, "O": TRUTH}
"""Of objects, only yes, no and None get this far."""


def as_columns(given: Mapping[str, Any]) -> Mapping[str, Column]:
    """Copies that nobody can write to, of one length."""
    found = {name: _as_column(name, values) for name, values in given.items()}
    if not found:
        raise SchemaError("a table must have at least one column, got none", code="no_columns")
    lengths = {len(column) for column in found.values()}
    if len(lengths) > 1:
        told = ", ".join(f"{name} {len(column)}" for name, column in found.items())
        raise SchemaError(
            f"the columns of a table must be of one length, got {told}",
            code="columns_of_unequal_length",
        )
    return MappingProxyType(found)


def _as_column(name: Any, values: Any) -> Column:
    if not isinstance(name, str) or not name or name == GEOMETRY:
        raise SchemaError(
            f"a column must have a name, and not {GEOMETRY}, got {name!r}",
            code="invalid_column_name",
        )
    if not hasattr(values, "dtype"):
        values = list(values)
        if all(isinstance(each, str) for each in values):
            return _texts(name, values)
    column = np.array(values)
    if column.ndim == 1 and column.dtype.kind == "O" and _are_truths(column.tolist()):
        return _truths(column.tolist())
    if column.ndim == 1 and column.dtype.kind in "UOT":
        return _texts(name, column.tolist())
    if column.ndim != 1 or column.dtype.kind not in _OF_NUMPY:
        raise SchemaError(
            f"{name} must be a column of texts, numbers, or yes and no, got {column.dtype} of "
            f"{column.ndim} dimensions",
            code="unsupported_column_type",
            column=name,
        )
    made: NDArray[Any] = column.astype(DTYPES[_OF_NUMPY[column.dtype.kind]])
    if made.dtype == np.float64 and np.isinf(made).any():
        raise SchemaError(
            f"{name} must be finite, or NaN where it is not known",
            code="column_not_finite",
            column=name,
        )
    made.flags.writeable = False
    return made


def _are_truths(values: Sequence[Any]) -> bool:
    return bool(values) and all(each is None or each in (True, False) for each in values)


def _truths(values: Sequence[Any]) -> NDArray[Any]:
    """Of objects only where one is not known: arrays of yes and no have no place for that."""
    column = np.array(values, dtype=object if None in values else np.bool_)
    column.flags.writeable = False
    return column


def _texts(name: str, values: Sequence[Any]) -> tuple[str, ...]:
    try:
        "".join(values).encode()
    except (TypeError, UnicodeEncodeError):
        raise SchemaError(
            f"{name} must hold text, and holds something else",
            code="wrong_column_type",
            column=name,
            expected=TEXT,
        ) from None
    return tuple(values)


def kind_of(column: Column) -> str:
    """One word of what a column holds; it travels with files that have only text."""
    return TEXT if isinstance(column, tuple) else _OF_NUMPY[column.dtype.kind]


def plain(column: Column) -> list[Any]:
    """As values of Python, with None for what is not known."""
    if isinstance(column, tuple):
        return list(column)
    values: list[Any] = column.tolist()
    return [None if value != value else value for value in values]


def from_texts(name: str, values: Sequence[Any], kind: str) -> Column:
    """What `plain` became in a file of text or JSON."""
    if kind == TEXT:
        return _texts(name, values)
    read: Any = {WHOLE: int, DECIMAL: _decimal, TRUTH: _truth}.get(kind)
    try:
        if kind == TRUTH:
            return _truths([read(value) for value in values])
        return np.array([read(value) for value in values], dtype=DTYPES[kind])
    except (TypeError, ValueError, KeyError, OverflowError):
        pass
    raise SchemaError(
        f"{name} must be a column of {kind}, as its description says",
        code="wrong_column_type",
        column=name,
        expected=kind,
    )


def _decimal(value: Any) -> float:
    return float("nan") if value in (None, "") else float(value)


def _truth(value: Any) -> bool | None:
    known = {True: True, False: False, "True": True, "False": False}
    return None if value in (None, "") else known[value]
