"""The decompressor for all formats, with protection against decompression bombs.

The output is limited while it is read, relative to the input so far. So a bomb is rejected
after its first megabytes, before anything is parsed.
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
"""Read-ahead: small enough that the input so far is known precisely enough."""
ALWAYS_BYTES = 16_000_000
"""Any input may expand to this size."""
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
"""What Python's readers raise for damaged archives."""


def most_bytes(packed_bytes: int) -> int:
    """The largest size to which this many bytes may expand."""
    return min(MOST_BYTES, max(ALWAYS_BYTES, MOST_TIMES * packed_bytes))


def is_beyond_measure(bytes_: int, packed_bytes: int) -> bool:
    """The check for formats that state their size, without the limit of `MOST_BYTES`."""
    return bytes_ > max(ALWAYS_BYTES, MOST_TIMES * packed_bytes)


def gunzipped(packed: BinaryIO, label: str) -> BinaryIO:
    """The contents of a gzip stream. Closing it closes ``packed``."""
    counted = _Counted(packed)
    whole = gzip.GzipFile(fileobj=io.BufferedReader(counted, CHUNK_BYTES))  # type: ignore[type-var]
    return bounded(whole, label, lambda: counted.done, [whole, packed])


def bounded(
    stream: Any, label: str, packed_bytes: Callable[[], int], to_close: Sequence[Any]
) -> BinaryIO:
    """A stream that raises `Unreadable` if it yields too much for its packed bytes."""
    # The stubs know only streams that can also be written to.
    raw: Any = _Bounded(stream, label, packed_bytes, to_close)
    return io.BufferedReader(raw, CHUNK_BYTES)


def unharmed(label: str, read: Callable[[], Found]) -> Found:
    """The result of ``read``. Errors about a damaged archive become `Unreadable`."""
    try:
        return read()
    except Unreadable:
        raise
    except BROKEN:
        pass
    # Raised outside the handler: the original error may quote the archive.
    raise Unreadable(label, code="damaged_archive")


class _Counted(io.RawIOBase):
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.done = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer
        chunk = self._stream.read(len(buffer))
        self.done += len(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)


class _Bounded(io.RawIOBase):
    """A stream that raises `Unreadable` if it yields too much or is damaged."""

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
        chunk: bytes = unharmed(self._label, lambda: self._stream.read(len(buffer)))
        self._done += len(chunk)
        if self._done > most_bytes(self._packed_bytes()):
            raise Unreadable(self._label, code="bomb")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        for stream in self._to_close:
            stream.close()
        super().close()
