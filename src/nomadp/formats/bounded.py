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

__all__ = ["bounded_stream", "gunzipped", "is_bomb", "max_bytes", "read_archive"]

Result = TypeVar("Result")

CHUNK_BYTES = 1 << 16
"""Read-ahead. A small buffer keeps the count of packed bytes close to what was unpacked."""
ALWAYS_ALLOWED_BYTES = 16_000_000
"""Any input may expand to this size."""
MAX_BYTES = 4_000_000_000
MAX_EXPANSION = 200
"""Largest ratio of unpacked to packed bytes. Exports of trajectories stay far below it, and
DEFLATE reaches at most 1032."""
DAMAGE_ERRORS = (
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


def max_bytes(packed_bytes: int) -> int:
    """The largest size to which this many bytes may expand."""
    return min(MAX_BYTES, max(ALWAYS_ALLOWED_BYTES, MAX_EXPANSION * packed_bytes))


def is_bomb(unpacked_bytes: int, packed_bytes: int) -> bool:
    """The check for formats that state their size, without the limit of `MAX_BYTES`."""
    return unpacked_bytes > max(ALWAYS_ALLOWED_BYTES, MAX_EXPANSION * packed_bytes)


def gunzipped(packed: BinaryIO, label: str) -> BinaryIO:
    """The contents of a gzip stream. Closing it closes ``packed``."""
    packed_stream = _CountingStream(packed)
    stream = gzip.GzipFile(fileobj=io.BufferedReader(packed_stream, CHUNK_BYTES))  # type: ignore[type-var]
    return bounded_stream(stream, label, lambda: packed_stream.bytes_read, [stream, packed])


def bounded_stream(
    stream: Any, label: str, packed_bytes: Callable[[], int], to_close: Sequence[Any]
) -> BinaryIO:
    """A stream that raises `Unreadable` if it yields too much for its packed bytes."""
    # The stubs know only streams that can also be written to.
    raw: Any = _BoundedStream(stream, label, packed_bytes, to_close)
    return io.BufferedReader(raw, CHUNK_BYTES)


def read_archive(label: str, read: Callable[[], Result]) -> Result:
    """The result of ``read``. Errors about a damaged archive become `Unreadable`."""
    try:
        return read()
    except Unreadable:
        raise
    except DAMAGE_ERRORS:
        pass
    # Raised outside the handler: the original error may quote the archive.
    raise Unreadable(label, code="damaged_archive")


class _CountingStream(io.RawIOBase):
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.bytes_read = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer
        chunk = self._stream.read(len(buffer))
        self.bytes_read += len(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)


class _BoundedStream(io.RawIOBase):
    """A stream that raises `Unreadable` if it yields too much or is damaged."""

    def __init__(
        self,
        stream: Any,
        label: str,
        packed_bytes: Callable[[], int],
        to_close: Sequence[Any],
    ) -> None:
        self._stream, self._label, self._bytes_read = stream, label, 0
        self._packed_bytes, self._to_close = packed_bytes, to_close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer
        chunk: bytes = read_archive(self._label, lambda: self._stream.read(len(buffer)))
        self._bytes_read += len(chunk)
        if self._bytes_read > max_bytes(self._packed_bytes()):
            raise Unreadable(self._label, code="bomb")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        for stream in self._to_close:
            stream.close()
        super().close()
