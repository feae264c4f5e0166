"""Canonical JSON: one text for each value, so that its bytes can be hashed (RFC 8785).

UTF-8, sorted keys, no spaces. Only objects, lists, strings, integers and booleans are allowed:
no fractions, no null. A parsed text must be canonical, so that nobody can hide a difference
between two people's tasks in its spelling.
"""

import base64
import json
from collections.abc import Callable
from typing import Any

from nomadp.errors import SchemaError

__all__ = [
    "INTEGER_MAX",
    "base64url",
    "canonical_bytes",
    "named_once",
    "parse_canonical",
    "parse_object",
    "unique_object",
]

INTEGER_MAX = 2**53 - 1
"""Larger integers are rounded in other languages, whose numbers are doubles."""
DEPTH_MAX = 8


def base64url(content: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def canonical_bytes(value: Any) -> bytes:
    """The canonical text of a value; `SchemaError` if a part of it is not allowed."""
    # RFC 8785 without floats is plain JSON with sorted keys, no spaces and no escapes of
    # characters that need none.
    _check(value, DEPTH_MAX)
    return json.dumps(_in_order(value), ensure_ascii=False, separators=(",", ":")).encode()


def parse_canonical(content: bytes, what: str, most: int) -> dict[str, Any]:
    """Parse an object; refused unless the bytes are its canonical text."""
    value = parse_object(content, what, most)
    if canonical_bytes(value) != content:
        raise SchemaError(
            f"{what} must be canonical JSON (sorted keys, no spaces), but is not",
            code="json_not_canonical",
        )
    return value


def parse_object(content: bytes, what: str, most: int) -> dict[str, Any]:
    """Parse a JSON object of the same kinds of values in any spelling."""
    if len(content) > most:
        raise SchemaError(
            f"{what} must have at most {most} bytes, got {len(content)}",
            code="json_too_large",
            limit=most,
            size=len(content),
        )
    try:
        value = unique_object(content, parse_float=_refuse_number, parse_constant=float)
    except ValueError:
        raise SchemaError(
            f"{what} must be a JSON object with distinct names and without fractions, but is "
            "not",
            code="not_json_object",
        ) from None
    _check(value, DEPTH_MAX)
    return value


def unique_object(
    content: bytes,
    parse_float: Callable[[str], Any] = float,
    parse_constant: Callable[[str], Any] | None = None,
) -> dict[str, Any]:
    """Parse a JSON object with distinct names; otherwise `ValueError`."""
    try:
        value = json.loads(
            content.decode(),
            object_pairs_hook=named_once,
            parse_float=parse_float,
            parse_constant=parse_constant or _refuse_number,
        )
    except RecursionError:
        raise SchemaError("values are nested too deeply", code="json_too_deep") from None
    if not isinstance(value, dict):
        raise SchemaError("the value is not an object", code="not_json_object")
    return value


def named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; `SchemaError`, which is a `ValueError`, if a name occurs twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise SchemaError("a name occurs twice", code="json_name_repeated")
    return members


def _refuse_number(text: str) -> Any:
    raise SchemaError(f"{text} is not an integer", code="json_number_not_whole")


def _in_order(value: Any) -> Any:
    """The value with its names sorted by UTF-16 code units, as RFC 8785 requires."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return {name: _in_order(value[name]) for name in names}
    if isinstance(value, list | tuple):
        return [_in_order(inner) for inner in value]
    return value


def _check(value: Any, depth: int) -> None:
    if depth < 0:
        raise SchemaError(
            f"values must be nested at most {DEPTH_MAX} levels deep, but are deeper",
            code="json_too_deep",
            limit=DEPTH_MAX,
        )
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_text(name)
            _check(inner, depth - 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check(inner, depth - 1)
    elif isinstance(value, str):
        _check_text(value)
    elif isinstance(value, bool):
        return
    elif not isinstance(value, int) or abs(value) > INTEGER_MAX:
        raise SchemaError(
            f"values must be strings, integers up to {INTEGER_MAX}, booleans, lists or "
            "objects, but one is not",
            code="json_value_unsupported",
        )


def _check_text(value: Any) -> None:
    try:
        is_text = isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:  # a lone surrogate
        is_text = False
    if not is_text:
        raise SchemaError(
            "names and strings must be valid Unicode, but one is not",
            code="json_text_malformed",
        )
