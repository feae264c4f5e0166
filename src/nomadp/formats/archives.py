"""Where the bytes of an import come from: a file, or what a zip or gzip file holds.

Nothing is unpacked onto the disk. What unpacks to far more than any export would is refused, by
what an archive says before it is opened and by what comes out while it is read (`bounded.py`).
A file inside an archive is known by its number: its name may say where somebody went.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nomadp.errors import SchemaError
from nomadp.formats.bounded import bounded, gunzipped, most_bytes, unharmed
from nomadp.formats.measured_file import MeasuredFile, Progress
from nomadp.formats.unreadable import Unreadable

__all__ = ["ByteSource", "file_source", "inside", "is_zip", "unpacked"]

HEAD_BYTES = 4096
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
MOST_FILES = 100_000
LOCKED = 0x1


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
                f"{self.label} cannot be read: {error.strerror or 'it is damaged'}",
                code="file_unreadable",
                errno=error.errno,
            ) from error

    def head(self) -> bytes:
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


def file_source(path: Path, progress: Progress | None = None) -> ByteSource:
    """A file as it is."""
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
    """What a gzip file holds; anything else as it is."""
    if not source.head().startswith(GZIP):
        return source

    return ByteSource(
        source.label, lambda: gunzipped(source.opened(), source.label), source.size
    )


def inside(path: Path) -> list[ByteSource]:
    """The files of a zip file, numbered in its order; folders have none."""
    files = unharmed(str(path), lambda: _listed(path))
    size = path.stat().st_size
    if sum(each.file_size for each in files) > most_bytes(size) or len(files) > MOST_FILES:
        raise Unreadable(path, code="bomb")
    return [_entry(path, each, f"{path}, file {k + 1}") for k, each in enumerate(files)]


def _entry(path: Path, entry: zipfile.ZipInfo, label: str) -> ByteSource:
    def opened() -> BinaryIO:
        usual = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if entry.flag_bits & LOCKED or not usual:
            raise Unreadable(label, code="locked_archive")
        archive = unharmed(label, lambda: zipfile.ZipFile(path))
        whole = unharmed(label, lambda: archive.open(entry))
        return bounded(whole, label, lambda: entry.compress_size, [whole, archive])

    return ByteSource(label, opened, entry.file_size)


def _listed(path: Path) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(path) as archive:
        return [each for each in archive.infolist() if not each.is_dir()]
