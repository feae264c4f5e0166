"""Where the bytes of an import come from: a file, or what a zip or gzip file holds.

Nothing is unpacked onto the disk. What unpacks to far more than any export would is refused, by
what an archive says before it is opened and by what comes out while it is read. A file inside
an archive is known by its number: its name may say where somebody went.
"""

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from nomadp.errors import SchemaError
from nomadp.formats.measured_file import MeasuredFile, Progress
from nomadp.formats.unreadable import Unreadable

__all__ = ["ByteSource", "file_source", "inside", "is_zip", "unpacked"]

Found = TypeVar("Found")

HEAD_BYTES = 4096
CHUNK_BYTES = 1 << 16
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
ALWAYS_BYTES = 16_000_000
"""So much may come out of anything."""
MOST_BYTES = 4_000_000_000
MOST_TIMES = 200
MOST_FILES = 100_000
LOCKED = 0x1
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


@dataclass(frozen=True)
class ByteSource:
    """Bytes that can be read from their beginning, as often as wanted."""

    label: str
    """What a refusal calls it."""
    opened: Callable[[], BinaryIO]
    size: int

    def __str__(self) -> str:
        return self.label

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The stream, closed at the end."""
        try:
            with self.opened() as stream:
                yield stream
        except OSError as error:
            raise SchemaError(
                f"{self.label} cannot be read: {error.strerror or 'it is damaged'}"
            ) from error

    def head(self) -> bytes:
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


def file_source(path: Path, progress: Progress | None = None) -> ByteSource:
    """A file as it is."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise SchemaError(f"{path} cannot be read: {error.strerror or error}") from error
    return ByteSource(
        str(path), lambda: MeasuredFile(path, progress).decoded(gzipped=False), size
    )


def is_zip(head: bytes) -> bool:
    return head.startswith(ZIP)


def unpacked(source: ByteSource) -> ByteSource:
    """What a gzip file holds; anything else as it is."""
    if not source.head().startswith(GZIP):
        return source

    def opened() -> BinaryIO:
        packed = source.opened()
        whole = gzip.GzipFile(fileobj=packed)
        return _bounded(whole, source.label, _most(source.size), [whole, packed])

    return ByteSource(source.label, opened, source.size)


def inside(path: Path) -> list[ByteSource]:
    """The files of a zip file, numbered in its order; folders have none."""
    files = _unharmed(str(path), lambda: _listed(path))
    size = path.stat().st_size
    if sum(each.file_size for each in files) > _most(size) or len(files) > MOST_FILES:
        raise Unreadable(path, "bomb")
    return [_entry(path, each, f"{path}, file {k + 1}") for k, each in enumerate(files)]


def _entry(path: Path, entry: zipfile.ZipInfo, label: str) -> ByteSource:
    def opened() -> BinaryIO:
        usual = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if entry.flag_bits & LOCKED or not usual:
            raise Unreadable(label, "locked-archive")
        archive = _unharmed(label, lambda: zipfile.ZipFile(path))
        whole = _unharmed(label, lambda: archive.open(entry))
        return _bounded(whole, label, _most(entry.compress_size), [whole, archive])

    return ByteSource(label, opened, entry.file_size)


def _most(packed_bytes: int) -> int:
    return min(MOST_BYTES, max(ALWAYS_BYTES, MOST_TIMES * packed_bytes))


def _listed(path: Path) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(path) as archive:
        return [each for each in archive.infolist() if not each.is_dir()]


def _unharmed(label: str, read: Callable[[], Found]) -> Found:
    """What is read, if the archive is whole; whatever else it breaks is a refusal of ours."""
    try:
        return read()
    except SchemaError:
        raise
    except BROKEN:
        pass
    # Raised outside the handler: the original may quote the archive.
    raise Unreadable(label, "damaged-archive")


def _bounded(stream: Any, label: str, most: int, to_close: Sequence[Any]) -> BinaryIO:
    # The stubs know only streams that can also be written to.
    raw: Any = _Bounded(stream, label, most, to_close)
    return io.BufferedReader(raw, CHUNK_BYTES)


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than so much, or what is damaged."""

    def __init__(self, stream: Any, label: str, most: int, to_close: Sequence[Any]) -> None:
        self._stream, self._label, self._left = stream, label, most
        self._to_close = to_close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer
        found: bytes = _unharmed(self._label, lambda: self._stream.read(len(buffer)))
        self._left -= len(found)
        if self._left < 0:
            raise Unreadable(self._label, "bomb")
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        for each in self._to_close:
            each.close()
        super().close()
