"""The one decompressor of every format: it stops at what unpacks to far more than data does.

What comes out is bounded while it is read, by what went in so far: a bomb ends after its first
megabytes, before anything of it is parsed.
"""

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, TypeVar

from nomadp.formats.unreadable import Unreadable

__all__ = ["bounded", "gunzipped", "is_beyond_measure", "most_bytes", "unharmed"]

Found = TypeVar("Found")

CHUNK_BYTES = 1 << 16
"""Read ahead: so few that what went in is known well enough."""
ALWAYS_BYTES = 16_000_000
"""So much may come out of anything."""
MOST_BYTES = 4_000_000_000
MOST_TIMES = 200
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    LookupError,
    OverflowError,
    struct.error,
    gzip.BadGzipFile,
)
"""What Python's own readers raise of archives that are none."""


def most_bytes(packed_bytes: int) -> int:
    """How many bytes may come out of so many."""
    return min(MOST_BYTES, max(ALWAYS_BYTES, MOST_TIMES * packed_bytes))


def is_beyond_measure(bytes_: int, packed_bytes: int) -> bool:
    """Of a format that says before how much it holds, and may hold more than `MOST_BYTES`."""
    return bytes_ > max(ALWAYS_BYTES, MOST_TIMES * packed_bytes)


def gunzipped(packed: BinaryIO, label: str) -> BinaryIO:
    """What a stream of gzip holds; closing it closes ``packed``."""
    counted = _Counted(packed)
    whole = gzip.GzipFile(fileobj=io.BufferedReader(counted, CHUNK_BYTES))  # type: ignore[type-var]
    return bounded(whole, label, lambda: counted.done, [whole, packed])


def bounded(
    stream: Any, label: str, packed_bytes: Callable[[], int], to_close: Sequence[Any]
) -> BinaryIO:
    """A stream that refuses to give more than belongs to so many packed bytes."""
    # The stubs know only streams that can also be written to.
    raw: Any = _Bounded(stream, label, packed_bytes, to_close)
    return io.BufferedReader(raw, CHUNK_BYTES)


def unharmed(label: str, read: Callable[[], Found]) -> Found:
    """What is read, if the archive is whole; whatever else it breaks is a refusal of ours."""
    try:
        return read()
    except Unreadable:
        raise
    except BROKEN:
        pass
    # Raised outside the handler: the original may quote the archive.
    raise Unreadable(label, code="damaged_archive")


class _Counted(io.RawIOBase):
    """Knows how many bytes went through."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.done = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer
        found = self._stream.read(len(buffer))
        self.done += len(found)
        buffer[: len(found)] = found
        return len(found)


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than so much, or what is damaged."""

    def __init__(
        self,
        stream: Any,
        label: str,
        packed_bytes: Callable[[], int],
        to_close: Sequence[Any],
    ) -> None:
        self._stream, self._label, self._done = stream, label, 0
        self._packed_bytes, self._to_close = packed_bytes, to_close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer
        found: bytes = unharmed(self._label, lambda: self._stream.read(len(buffer)))
        self._done += len(found)
        if self._done > most_bytes(self._packed_bytes()):
            raise Unreadable(self._label, code="bomb")
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        for each in self._to_close:
            each.close()
        super().close()
