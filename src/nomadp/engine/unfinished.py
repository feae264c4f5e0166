"""The folder of an unfinished job: its finished parts, its key, and what pins both to the job.

It stands beside the file that is to be written and may be opened by its owner alone. The
manifest is written last and removed first: a folder without one holds nothing that counts.
"""

import contextlib
import json
import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from nomadp.engine.keys import create_key, key_source, only_mine
from nomadp.errors import SchemaError
from nomadp.formats.atomic import move_atomically, write_atomically
from nomadp.formats.parquet_files import METADATA_KEY
from nomadp.randomness import KeyedRandom

__all__ = ["Manifest", "Unfinished"]

Manifest = Mapping[str, Any]

PART_KEY = b"nomadp part"
RANGES_MAX = 256
"""Ranges of ids in which parts are joined, at most: as many as there are parts."""
PINNED = {
    "source": "other trajectories",
    "mechanism": "another mechanism",
    "path": "another way to draw (numba came or went)",
    "key": "another key or seed",
    "parts": "parts of another size",
    "reports": "another description of its reports",
}
"""What must be the same to go on, and what to call it when it is not."""


class Unfinished:
    """The folder beside `target`. Entered, it is locked against a second run."""

    def __init__(self, target: Path, *, shuffled: bool) -> None:
        self.target = target
        self._shuffled = shuffled
        self.folder = target.with_name(f"{target.name}.partial")
        self._manifest = self.folder / "job.json"
        self._key = self.folder / "key"
        self._job = ""
        self._lock: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_begun(self) -> bool:
        return self._manifest.exists()

    def begin(self, randomness: KeyedRandom | None) -> KeyedRandom:
        """An empty folder; the words to draw with, of a new key if none are given."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._enter()
        if self.is_begun():
            raise SchemaError(
                f"{self.folder} was begun by another run; run the command again",
                code="begun_by_another_run",
            )
        self._clear()
        if randomness is not None:
            return randomness
        create_key(self._key)
        return key_source(self._key)

    def kept_randomness(self) -> KeyedRandom | None:
        """The words of the key that this folder keeps, if it keeps one."""
        return key_source(self._key) if self._key.exists() else None

    def pin(self, manifest: Manifest) -> None:
        """From now on this folder belongs to one job."""
        content = json.dumps(manifest, indent=2, sort_keys=True).encode()
        write_atomically({self._manifest: lambda part: _create(part, content)})
        self._job = sha256(content).hexdigest()

    def resume(self) -> Manifest:
        """Take up the job that was begun here; what it was."""
        self._enter()
        try:
            content = self._manifest.read_bytes()
            manifest = json.loads(content)
        except (OSError, ValueError):
            manifest = None
        if not isinstance(manifest, dict) or not {*PINNED, "survey"} <= set(manifest):
            raise SchemaError(
                f"{self._manifest} must say what job this is, and is damaged; remove "
                f"{self.folder} to begin anew",
                code="manifest_damaged",
            )
        self._job = sha256(content).hexdigest()
        return manifest

    def check_same(self, begun: Manifest, wanted: Manifest) -> None:
        """Refuse to go on with another job: its reports would stand among those of this one."""
        # As JSON: a tuple that was written comes back as a list.
        wanted = json.loads(json.dumps(wanted))
        differs = [name for name in PINNED if begun[name] != wanted[name]]
        if differs:
            other = [PINNED[name] for name in differs]
            raise SchemaError(
                f"{self.folder} must hold the beginning of this very job, and holds that of "
                f"one with {' and '.join(other)}; finish that one by its own command, name "
                "another --out, or remove the folder to begin anew",
                code="another_job_begun",
                differs=tuple(differs),
            )

    def finished_parts(self, rows: Sequence[int]) -> set[int]:
        """The parts that are there; ``rows`` says how many reports each must have."""
        for stray in self.folder.glob(".part-*"):
            stray.unlink(missing_ok=True)
        there = {k for k in range(len(rows)) if self._part(k).exists()}
        for k in there:
            self._opened(k, rows[k]).close()
        return there

    def write_part(self, k: int, reports: Sequence[pa.RecordBatch], parts: int) -> None:
        """Whole or not at all; each row group has the reports of one range of ids."""
        described = {PART_KEY: json.dumps({"job": self._job, "part": k})}
        table = pa.Table.from_batches(reports).replace_schema_metadata(described)
        groups = _by_id(table, min(parts, RANGES_MAX)) if self._shuffled else [table]
        write_atomically({self._part(k): lambda path: _write(path, groups)})

    def finish(self, rows: Sequence[int], metadata: bytes) -> None:
        """All parts become one file in the target's place; then the folder goes."""
        joined = self.folder / "joined.parquet"
        write_atomically({joined: lambda path: self._join(path, rows, metadata)}, [joined])
        move_atomically(joined, self.target)
        self._clear()
        with contextlib.suppress(OSError):
            self.folder.rmdir()  # stays if somebody else put something there

    def _join(self, path: Path, rows: Sequence[int], metadata: bytes) -> None:
        """Part by part as they were drawn, or of all parts one range of ids at a time."""
        parts = range(len(rows))
        ranges = [[(k, 0)] for k in parts]
        if self._shuffled:
            ranges = [[(k, r) for k in parts] for r in range(min(len(rows), RANGES_MAX))]
        with self._opened(0, rows[0]) as first:
            schema = first.schema_arrow.with_metadata({METADATA_KEY: metadata})
        with pq.ParquetWriter(path, schema) as writer:
            for pieces in ranges:
                tables = [self._read(k, rows[k], group) for k, group in pieces]
                table = pa.concat_tables(tables).replace_schema_metadata(schema.metadata)
                table = table.sort_by("tid") if self._shuffled else table
                writer.write_table(table, max(table.num_rows, 1))
                pa.default_memory_pool().release_unused()

    def _opened(self, k: int, rows: int) -> Any:
        """A part, after a look at whose it is and how many reports it has."""
        try:
            file = pq.ParquetFile(self._part(k), page_checksum_verification=True)
            described = json.loads((file.schema_arrow.metadata or {}).get(PART_KEY, b"0"))
        except (pa.ArrowException, OSError, ValueError):
            described = None
        if described != {"job": self._job, "part": k} or file.metadata.num_rows != rows:
            raise self._damaged(k)
        return file

    def _read(self, k: int, rows: int, group: int) -> Any:
        with self._opened(k, rows) as file:
            try:
                return file.read_row_group(group)
            except (pa.ArrowException, OSError):
                refusal = self._damaged(k)
        raise refusal

    def _damaged(self, k: int) -> SchemaError:
        return SchemaError(
            f"{self._part(k)} must hold the reports of its part, and is damaged or of another "
            "job; remove it and run the same command again: they are drawn again, the same",
            code="part_damaged",
            part=k,
        )

    def _part(self, k: int) -> Path:
        return self.folder / f"part-{k:06d}.parquet"

    def _clear(self) -> None:
        """The manifest first, the key next: what is left then counts for nothing."""
        ours = [self._manifest, self._key, self.folder / "joined.parquet"]
        for path in (*ours, *self.folder.glob("part-*.parquet"), *self.folder.glob(".part-*")):
            path.unlink(missing_ok=True)

    def _enter(self) -> None:
        if self.folder.is_symlink() or not only_mine(self.folder):
            raise SchemaError(
                f"{self.folder} must be a folder that only its owner may open, and is not; "
                "remove it, or name another --out",
                code="folder_not_private",
            )
        self._lock = _locked(self.folder)


def _locked(folder: Path) -> int | None:
    """A lock that ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # not POSIX: two runs at once draw the same reports, and one fails
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise SchemaError(
            f"{folder} is in use by another run; wait for it, or name another --out",
            code="folder_in_use",
        ) from error
    except OSError:  # a disk without locks is as good as a system without
        pass
    return handle


def _create(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)


def _write(path: Path, groups: Sequence[Any]) -> None:
    with pq.ParquetWriter(path, groups[0].schema, write_page_checksum=True) as writer:
        for group in groups:
            writer.write_table(group, max(group.num_rows, 1))


def _by_id(table: Any, ranges: int) -> list[Any]:
    """The rows in so many ranges of their ids, which are 128 random bits."""
    ordered = table.sort_by("tid")
    first = [int(each[:8], 16) * ranges >> 32 for each in ordered["tid"].to_pylist()]
    ends = [bisect_right(first, r) for r in range(ranges)]
    return [ordered.slice(a, b - a) for a, b in zip([0, *ends], ends, strict=False)]
