"""A file that reports its reading progress, and the hash of a file."""

import hashlib
import io
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from nomadp.formats.bounded import gunzipped

__all__ = ["AnyPath", "MeasuredFile", "Progress", "file_sha256"]

AnyPath = str | PathLike[str]
Progress = Callable[[int, int], None]
"""Called with the amount done and the total."""

CHUNK_BYTES = 1 << 20


class MeasuredFile(io.RawIOBase):
    """The bytes of a file. Reading them reports progress."""

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self._raw, self._path = path.open("rb", buffering=0), path
        self._progress = progress
        self.bytes_read = 0
        self.total_bytes = path.stat().st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer
        count = self._raw.readinto(buffer) or 0
        self.bytes_read += count
        if self._progress is not None:
            self._progress(self.bytes_read, self.total_bytes)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()

    def decoded(self, *, gzipped: bool) -> BinaryIO:
        """The contents of the file. If ``gzipped``, they are unpacked within fixed limits."""
        # The stubs know only streams that can also be written to.
        buffered = io.BufferedReader(self, CHUNK_BYTES)  # type: ignore[type-var]
        return gunzipped(buffered, str(self._path)) if gzipped else buffered


def file_sha256(path: AnyPath) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
