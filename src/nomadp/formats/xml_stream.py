"""A streaming XML parser that keeps only the open elements in memory.

A document type declaration is an error: no export has one, and it could declare entities that
expand without bound or load other files.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.parsers import expat

from nomadp.formats.unreadable import BadContent

__all__ = ["XmlStream", "root_of"]

CHUNK_BYTES = 1 << 16
MAX_DEPTH = 100
SEPARATOR = "|"


class XmlStream:
    """Calls `start` and `end`, which subclasses override, for every element (local name)."""

    def __init__(self) -> None:
        parser = expat.ParserCreate(namespace_separator=SEPARATOR)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add_text
        parser.StartDoctypeDeclHandler = self._reject_doctype
        self._parser = parser
        self.open: list[str] = []
        self._text: list[str] | None = None

    @property
    def line(self) -> int:
        """The current line."""
        return self._parser.CurrentLineNumber

    def start(self, name: str, attributes: dict[str, str]) -> bool:
        """Called when an element opens. Returns whether its text is needed."""
        return False

    def end(self, name: str, text: str) -> None:
        """Called when an element closes. Its parent is `self.open[-1]`."""

    def feed(self, stream: BinaryIO) -> Iterator[None]:
        """Parse the stream, one piece per step."""
        while chunk := stream.read(CHUNK_BYTES):
            self._parse(chunk)
            yield
        self._parse(b"", is_last=True)
        yield

    def _parse(self, chunk: bytes, *, is_last: bool = False) -> None:
        try:
            self._parser.Parse(chunk, is_last)
            return
        except (expat.ExpatError, ValueError, LookupError):
            pass
        # Raised outside the handler: the original error contains parts of the file.
        raise BadContent(code="not_xml")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(SEPARATOR)[2]
        if len(self.open) >= MAX_DEPTH:
            raise BadContent(code="too_deep")
        self._text = [] if self.start(local, attributes) else None
        self.open.append(local)

    def _end(self, name: str) -> None:
        local = self.open.pop()
        text, self._text = "".join(self._text or ()), None
        self.end(local, text)

    def _add_text(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _reject_doctype(self, name: str, *declaration: Any) -> None:
        raise BadContent(code="web_page" if name.lower() == "html" else "doctype")


class _Root(XmlStream):
    name: str | None = None

    def start(self, name: str, attributes: dict[str, str]) -> bool:
        self.name = self.name or name
        return False


def root_of(stream: BinaryIO) -> str:
    """The local name of the outermost element."""
    root = _Root()
    for _ in root.feed(stream):
        if root.name is not None:
            return root.name
    raise BadContent(code="not_xml")
