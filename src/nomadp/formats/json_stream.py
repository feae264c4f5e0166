"""A streaming JSON parser: the members of an object or elements of an array, one at a time.

An export may be far larger than memory. Only requested values become Python objects. Skipped
values are never parsed: only their brackets and quotes are counted.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from nomadp.formats.unreadable import BadContent

__all__ = ["JsonStream"]

CHUNK_BYTES = 1 << 16
MAX_ELEMENT_CHARACTERS = 1 << 24
"""Most characters of a single element."""

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r"[^\s,\]}]*")
_NUMBER = re.compile(r"[-+.eE0-9]*")
# Possessive quantifiers: no backtracking in a string that the buffer cuts off.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)


class JsonStream:
    """A cursor in UTF-8, with or without a byte order mark."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._parse = json.JSONDecoder(parse_constant=_as_null).raw_decode
        self._text, self._at, self._ended = "", 0, False

    def peek(self) -> str:
        """The next character other than white space, without consuming it; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_more():
                return ""

    def members(self) -> Iterator[str]:
        """The names in the next object. The caller reads or skips the value of each name."""
        self._expect("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise BadContent(code="not_json")
            name = self.value()
            self._expect(":")
            yield name
            if self._is_closed("}"):
                return

    def elements(self) -> Iterator[Any]:
        """The values in the next array; none if the next value is not an array."""
        if self.peek() != "[":
            self.skip()
            return
        self._at += 1
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            if self._is_closed("]"):
                return

    def value(self) -> Any:
        """The next value as a Python object."""
        self.peek()
        # Doubling the size of a read keeps the work linear in the length of the value, although
        # each attempt to parse starts again at its beginning.
        size = CHUNK_BYTES
        while True:
            value, end = self._try_parse()
            if end is not None and (self._ended or not self._may_continue(end)):
                self._at = end
                return value
            self._require_more(size)
            size *= 2

    def skip(self) -> bool:
        """Skip the next value without parsing it. Returns whether it contained other values."""
        if self.peek() not in tuple('{["'):
            self._skip_plain()
            return False
        # Brackets in strings do not count, so the tokens are brackets and whole strings. A
        # single quote mark is a string that the buffer cuts off: it is scanned again.
        depth = marks = 0
        while True:
            string_start = None
            for token in _TOKEN.finditer(self._text, self._at):
                mark = token.group()
                if mark == '"':
                    string_start = token.start()
                    break
                marks += 1
                depth += (mark in ("{", "[")) - (mark in ("}", "]"))
                if depth == 0:
                    self._at = token.end()
                    return marks > 2
            self._at = len(self._text) if string_start is None else string_start
            self._require_more(CHUNK_BYTES)

    def _may_continue(self, end: int) -> bool:
        """Whether the value may continue after the buffer, such as 1 in 1.5."""
        number = _NUMBER.match(self._text, self._at)
        return max(end, number.end() if number else end) == len(self._text)

    def _try_parse(self) -> tuple[Any, int | None]:
        """The value and its end; None if the buffer may have cut it off."""
        try:
            return self._parse(self._text, self._at)
        except json.JSONDecodeError:
            return None, None
        except (ValueError, RecursionError):
            pass
        # Raised outside the handlers: the original error contains the text.
        raise BadContent(code="not_json")

    def _skip_plain(self) -> None:
        """Skip a number, true, false or null."""
        while True:
            plain = _PLAIN.match(self._text, self._at)
            self._at = plain.end() if plain else self._at
            if self._at < len(self._text) or not self._read_more():
                return

    def _is_closed(self, closing: str) -> bool:
        """Consume a comma or the closing bracket. Returns whether it was the bracket."""
        mark = self.peek()
        if mark not in (",", closing) or not mark:
            raise BadContent(code="not_json")
        self._at += 1
        return mark == closing

    def _expect(self, mark: str) -> None:
        if self.peek() != mark:
            raise BadContent(code="not_json")
        self._at += 1

    def _require_more(self, size: int) -> None:
        """Read more text. Raises `BadContent` at the end, or if the element is too large."""
        if len(self._text) - self._at > MAX_ELEMENT_CHARACTERS:
            raise BadContent(code="too_large")
        if not self._read_more(size):
            raise BadContent(code="not_json")

    def _read_more(self, size: int = CHUNK_BYTES) -> bool:
        """Read more text; False at the end of the stream."""
        if self._ended:
            return False
        chunk = self._stream.read(size)
        self._ended = not chunk
        try:
            added = self._decode(chunk, self._ended)
        except UnicodeDecodeError:
            added = None
        if added is None:
            raise BadContent(code="not_utf8")
        self._text, self._at = self._text[self._at :] + added, 0
        return True


def _as_null(constant: str) -> None:
    """Parse NaN and Infinity, which are not JSON, as null. Some programs write them.

    Whether a file has them depends on private values, so they must not be an error.
    """
