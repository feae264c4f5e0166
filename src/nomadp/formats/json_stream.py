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
LONGEST = 1 << 24
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
        self._parse = json.JSONDecoder(parse_constant=_missing).raw_decode
        self._text, self._at, self._ended = "", 0, False

    def peek(self) -> str:
        """The next character other than white space, without consuming it; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def members(self) -> Iterator[str]:
        """The names in the next object. The caller reads or skips the value of each name."""
        self._take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise BadContent(code="not_json")
            name = self.value()
            self._take(":")
            yield name
            if self._is_last("}"):
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
            if self._is_last("]"):
                return

    def value(self) -> Any:
        """The next value as a Python object."""
        self.peek()
        size = CHUNK_BYTES
        while True:
            value, end = self._parsed()
            if end is not None and (self._ended or not self._may_go_on(end)):
                self._at = end
                return value
            self._grow(size)
            size *= 2

    def skip(self) -> bool:
        """Skip the next value without parsing it. Returns whether it contained other values."""
        if self.peek() not in tuple('{["'):
            self._skip_plain()
            return False
        depth = marks = 0
        while True:
            torn = None
            for token in _TOKEN.finditer(self._text, self._at):
                mark = token.group()
                if mark == '"':
                    torn = token.start()
                    break
                marks += 1
                depth += (mark in ("{", "[")) - (mark in ("}", "]"))
                if depth == 0:
                    self._at = token.end()
                    return marks > 2
            self._at = len(self._text) if torn is None else torn
            self._grow(CHUNK_BYTES)

    def _may_go_on(self, end: int) -> bool:
        """Whether the value may continue after the buffer, such as 1 in 1.5."""
        number = _NUMBER.match(self._text, self._at)
        return max(end, number.end() if number else end) == len(self._text)

    def _parsed(self) -> tuple[Any, int | None]:
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
            if self._at < len(self._text) or not self._more():
                return

    def _is_last(self, closing: str) -> bool:
        mark = self.peek()
        if mark not in (",", closing) or not mark:
            raise BadContent(code="not_json")
        self._at += 1
        return mark == closing

    def _take(self, mark: str) -> None:
        if self.peek() != mark:
            raise BadContent(code="not_json")
        self._at += 1

    def _grow(self, size: int) -> None:
        if len(self._text) - self._at > LONGEST:
            raise BadContent(code="too_large")
        if not self._more(size):
            raise BadContent(code="not_json")

    def _more(self, size: int = CHUNK_BYTES) -> bool:
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


def _missing(constant: str) -> None:
    """Parse NaN and Infinity, which are not JSON, as null. Some programs write them.

    Whether a file has them depends on private values, so they must not be an error.
    """
