"""Sources of bytes for imports: files, and the contents of zip and gzip files.

Nothing is unpacked to disk. Archives that expand to far more than any export are rejected: by
the sizes that they state, and by what they expand to while being read (`bounded.py`). Errors
name a file inside an archive by its number, because its name may say where somebody went.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nomadp.errors import SchemaError
from nomadp.formats.bounded import bounded_stream, gunzipped, max_bytes, read_archive
from nomadp.formats.measured_file import MeasuredFile, Progress
from nomadp.formats.unreadable import Unreadable

__all__ = ["ByteSource", "file_source", "zip_entries", "is_zip", "unpacked"]

HEAD_BYTES = 4096  # enough for every signature in `detection`
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
MAX_FILES = 100_000
ENCRYPTED_FLAG = 0x1  # bit 0 of the general purpose flag (APPNOTE.TXT 4.4.4)


@dataclass(frozen=True)
class ByteSource:
    """Bytes that can be read from the start repeatedly."""

    label: str
    """The name of the source in errors."""
    open_stream: Callable[[], BinaryIO]
    """Opens a new stream at the start. Use `open`, which also translates errors."""
    size: int

    def __str__(self) -> str:
        return self.label

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """A context manager that opens and closes the stream."""
        try:
            with self.open_stream() as stream:
                yield stream
        except OSError as error:
            raise SchemaError(
                f"{self.label} cannot be read: {error.strerror or 'it is damaged'}",
                code="file_unreadable",
                errno=error.errno,
            ) from error

    def head(self) -> bytes:
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


def file_source(path: Path, progress: Progress | None = None) -> ByteSource:
    """A file as a source, without unpacking it."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise SchemaError(
            f"{path} cannot be read: {error.strerror or error}",
            code="file_unreadable",
            errno=error.errno,
        ) from error
    return ByteSource(
        str(path), lambda: MeasuredFile(path, progress).decoded(gzipped=False), size
    )


def is_zip(head: bytes) -> bool:
    return head.startswith(ZIP)


def unpacked(source: ByteSource) -> ByteSource:
    """The contents of a gzip file; any other source unchanged."""
    if not source.head().startswith(GZIP):
        return source

    return ByteSource(
        source.label, lambda: gunzipped(source.open_stream(), source.label), source.size
    )


def zip_entries(path: Path) -> list[ByteSource]:
    """The files in a zip file, numbered in its order. Folders are not counted."""
    files = read_archive(str(path), lambda: _file_entries(path))
    size = path.stat().st_size
    # Stated sizes may be wrong, so `bounded_stream` checks again while reading.
    stated_bytes = sum(entry.file_size for entry in files)
    if stated_bytes > max_bytes(size) or len(files) > MAX_FILES:
        raise Unreadable(path, code="bomb")
    return [_entry(path, entry, f"{path}, file {k + 1}") for k, entry in enumerate(files)]


def _entry(path: Path, entry: zipfile.ZipInfo, label: str) -> ByteSource:
    def open_entry() -> BinaryIO:
        is_supported = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if entry.flag_bits & ENCRYPTED_FLAG or not is_supported:
            raise Unreadable(label, code="locked_archive")
        archive = read_archive(label, lambda: zipfile.ZipFile(path))
        stream = read_archive(label, lambda: archive.open(entry))
        return bounded_stream(stream, label, lambda: entry.compress_size, [stream, archive])

    return ByteSource(label, open_entry, entry.file_size)


def _file_entries(path: Path) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(path) as archive:
        return [entry for entry in archive.infolist() if not entry.is_dir()]
