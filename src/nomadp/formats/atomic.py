"""Atomic writing: a file appears complete or not at all.

Each file is written under a temporary name in its final folder, flushed, and renamed. POSIX
replaces a file by a rename atomically, but only within one file system.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from nomadp.errors import OutputError

__all__ = ["Write", "move_atomically", "write_file", "write_atomically"]

Write = Callable[[Path], object]


def write_atomically(writes: dict[Path, Write], private: Collection[Path] = ()) -> None:
    """Write every file next to its final path, then move all of them there in the given order.

    After a failure, none of the new files remain. Only the owner can read the `private` ones,
    even while they are written.
    """
    try:
        with _part_files(list(writes)) as parts:
            for part, (path, write) in zip(parts, writes.items(), strict=True):
                if path in private:
                    # With its final mode: until a later chmod, others could read it.
                    os.close(os.open(part, os.O_CREAT | os.O_EXCL, 0o600))
                write(part)
                # Else a power failure after the rename could leave an empty file.
                with part.open("r+b") as file:
                    os.fsync(file.fileno())
            _move(parts, list(writes))
    except OSError as error:
        last = list(writes)[-1]
        raise OutputError(
            f"{last} cannot be written: {error.strerror or error}",
            code="file_unwritable",
            errno=error.errno,
        ) from error


def write_file(path: Path, content: bytes) -> Path:
    """Write one file with this content. Creates its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically({path: lambda part: part.write_bytes(content)})
    return path


def move_atomically(source: Path, path: Path) -> None:
    """Move a file that is written and flushed to its path on the same disk."""
    try:
        _move([source], [path])
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}",
            code="file_unwritable",
            errno=error.errno,
        ) from error


@contextmanager
def _part_files(paths: list[Path]) -> Iterator[list[Path]]:
    token = secrets.token_hex(4)
    parts = [path.with_name(f".part-{token}-{path.name}") for path in paths]
    try:
        yield parts
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def _move(parts: list[Path], paths: list[Path]) -> None:
    """Rename all files. If one rename fails, remove the files that were already moved."""
    moved: list[Path] = []
    try:
        for part, path in zip(parts, paths, strict=True):
            part.replace(path)
            moved.append(path)
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise
    for folder in {path.parent for path in paths}:
        # A rename is durable once its folder is flushed. Only POSIX can flush a folder; on
        # other systems, the move itself is durable enough.
        with contextlib.suppress(OSError):
            _flush_folder(folder)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
