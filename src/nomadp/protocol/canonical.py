"""One text for one value: JSON whose bytes can be hashed (RFC 8785, for what a task holds).

UTF-8, keys sorted, no spaces; objects, lists, text, whole numbers and booleans, and nothing
else: no fractions, no null. What is read must be those very bytes, so that nobody can hide a
difference between two people's tasks in the way they are written.
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
"""Beyond, other languages' numbers round."""
DEPTH_MAX = 8


def base64url(content: bytes) -> str:
    """As bytes travel inside of text: without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def canonical_bytes(value: Any) -> bytes:
    """The one text of a value; `SchemaError` if it has a part that has none."""
    _check(value, DEPTH_MAX)
    return json.dumps(_in_order(value), ensure_ascii=False, separators=(",", ":")).encode()


def parse_canonical(content: bytes, what: str, most: int) -> dict[str, Any]:
    """The object that these bytes are the canonical text of; refused if they are not."""
    value = parse_object(content, what, most)
    if canonical_bytes(value) != content:
        raise SchemaError(
            f"{what} must be canonical JSON (keys sorted, no spaces), and is written otherwise",
            code="json_not_canonical",
        )
    return value


def parse_object(content: bytes, what: str, most: int) -> dict[str, Any]:
    """A JSON object of the same kinds of values, however it is written."""
    if len(content) > most:
        raise SchemaError(
            f"{what} must have at most {most} bytes, got {len(content)}",
            code="json_too_large",
            limit=most,
            size=len(content),
        )
    try:
        value = unique_object(content, parse_float=_refused, parse_constant=float)
    except ValueError:
        raise SchemaError(
            f"{what} must be a JSON object without fractions and with every name once, and is "
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
    """A JSON object in which every name stands once; `ValueError` if these bytes are none."""
    try:
        value = json.loads(
            content.decode(),
            object_pairs_hook=named_once,
            parse_float=parse_float,
            parse_constant=parse_constant or _refused,
        )
    except RecursionError:
        raise SchemaError("values are nested too deep", code="json_too_deep") from None
    if not isinstance(value, dict):
        raise SchemaError("the value is no object", code="not_json_object")
    return value


def named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, refused (`ValueError`) if a name stands in it twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise SchemaError("a name stands twice", code="json_name_repeated")
    return found


def _refused(text: str) -> Any:
    raise SchemaError(f"{text} is no number here", code="json_number_not_whole")


def _in_order(value: Any) -> Any:
    """The same, its names in the order of their UTF-16, as other languages compare text."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return {name: _in_order(value[name]) for name in names}
    if isinstance(value, list | tuple):
        return [_in_order(inner) for inner in value]
    return value


def _check(value: Any, depth: int) -> None:
    if depth < 0:
        raise SchemaError(
            f"values must be nested at most {DEPTH_MAX} deep, and are deeper",
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
            f"values must be text, whole numbers up to {INTEGER_MAX}, true, false, lists or "
            "objects, and one is not",
            code="json_value_unsupported",
        )


def _check_text(value: Any) -> None:
    try:
        known = isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        known = False
    if not known:
        raise SchemaError(
            "names and text must be of whole characters, and one is not",
            code="json_text_malformed",
        )
