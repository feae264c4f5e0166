"""The folder of an unfinished job: its finished parts, its key, and its manifest.

The folder is next to the target, and only its owner may open it. The manifest identifies the
job that key and parts belong to. It is written last and removed first: in a folder without a
manifest nothing was drawn, or everything is already in the target, so its content is deleted.
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

from nomadp.engine.keys import create_key, is_owner_only, key_source
from nomadp.errors import SchemaError
from nomadp.formats.atomic import move_atomically, write_atomically
from nomadp.formats.parquet_files import METADATA_KEY
from nomadp.randomness import KeyedRandom

__all__ = ["Manifest", "Unfinished"]

Manifest = Mapping[str, Any]

PART_KEY = b"nomadp part"
RANGES_MAX = 256
"""Most ranges of ids in which parts are joined. Up to here there are as many as parts, so that
joining takes about the memory of one part."""
PINNED = {
    "source": "other trajectories",
    "mechanism": "another mechanism",
    "path": "another way to draw (numba came or went)",
    "key": "another key or seed",
    "parts": "parts of another size",
    "reports": "another description of its reports",
}
"""What must be the same to resume a job, and how an error describes a difference."""


class Unfinished:
    """The folder next to `target`. `begin` and `resume` lock it against a second run."""

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
        """Create or empty the folder. Returns the random source, by default of a new key."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._lock_private()
        # Again, now that we hold the lock: another run may have begun since the first look.
        if self.is_begun():
            raise SchemaError(
                f"{self.folder} was started by another run; run the command again",
                code="begun_by_another_run",
            )
        self._clear()
        if randomness is not None:
            return randomness
        create_key(self._key)
        return key_source(self._key)

    def kept_randomness(self) -> KeyedRandom | None:
        """The random source of the key in this folder; None if the caller has the key."""
        return key_source(self._key) if self._key.exists() else None

    def pin(self, manifest: Manifest) -> None:
        """Bind the folder to one job. Also flushes the folder, and so the name of the key."""
        content = json.dumps(manifest, indent=2, sort_keys=True).encode()
        write_atomically({self._manifest: lambda part: _write_new(part, content)})
        self._job = sha256(content).hexdigest()

    def resume(self) -> Manifest:
        """Lock the folder of a job that was begun, and return its manifest."""
        self._lock_private()
        try:
            content = self._manifest.read_bytes()
            manifest = json.loads(content)
        except (OSError, ValueError):
            manifest = None
        if not isinstance(manifest, dict) or not {*PINNED, "survey"} <= set(manifest):
            raise SchemaError(
                f"{self._manifest} must describe this job, but is damaged; remove "
                f"{self.folder} to start again",
                code="manifest_damaged",
            )
        self._job = sha256(content).hexdigest()
        return manifest

    def check_same(self, begun: Manifest, expected: Manifest) -> None:
        """Refuse to resume another job, whose reports would be mixed with those of this one."""
        # Through JSON, as the manifest was: a tuple comes back as a list.
        expected = json.loads(json.dumps(expected))
        differs = [name for name in PINNED if begun[name] != expected[name]]
        if differs:
            differences = [PINNED[name] for name in differs]
            raise SchemaError(
                f"{self.folder} must belong to this job, but belongs to one with "
                f"{' and '.join(differences)}; finish that job with its own command, name "
                "another --out, or remove the folder to start again",
                code="another_job_begun",
                differs=tuple(differs),
            )

    def finished_parts(self, rows: Sequence[int]) -> set[int]:
        """The indices of finished parts; part k must have ``rows[k]`` reports."""
        for temporary in self.folder.glob(".part-*"):  # what a killed run was writing
            temporary.unlink(missing_ok=True)
        finished = {k for k in range(len(rows)) if self._part(k).exists()}
        for k in finished:
            self._open_part(k, rows[k]).close()
        return finished

    def write_part(self, k: int, reports: Sequence[pa.RecordBatch], parts: int) -> None:
        """Write a part atomically, with one row group for each range of ids."""
        described = {PART_KEY: json.dumps({"job": self._job, "part": k})}
        table = pa.Table.from_batches(reports).replace_schema_metadata(described)
        # Joining then reads one range of every part at a time, in bounded memory.
        groups = _split_by_id(table, min(parts, RANGES_MAX)) if self._shuffled else [table]
        write_atomically({self._part(k): lambda path: _write(path, groups)})

    def finish(self, rows: Sequence[int], metadata: bytes) -> None:
        """Join all parts into the target, then delete the folder.

        The target appears in one step while key and parts still exist. After a crash before
        that step the job resumes; after it, only the folder is left to be deleted.
        """
        joined = self.folder / "joined.parquet"
        write_atomically({joined: lambda path: self._join(path, rows, metadata)}, [joined])
        move_atomically(joined, self.target)
        self._clear()
        with contextlib.suppress(OSError):
            self.folder.rmdir()  # not empty if somebody else put something there

    def _join(self, path: Path, rows: Sequence[int], metadata: bytes) -> None:
        """Write one range of ids of all parts at a time; without random ids, part by part.

        Ids are uniform, so ranges of equal width are about equally large.
        """
        parts = range(len(rows))
        ranges = [[(k, 0)] for k in parts]  # pairs of a part and a row group in it
        if self._shuffled:
            ranges = [[(k, r) for k in parts] for r in range(min(len(rows), RANGES_MAX))]
        with self._open_part(0, rows[0]) as first:
            schema = first.schema_arrow.with_metadata({METADATA_KEY: metadata})
        with pq.ParquetWriter(path, schema) as writer:
            for groups in ranges:
                tables = [self._read(k, rows[k], group) for k, group in groups]
                table = pa.concat_tables(tables).replace_schema_metadata(schema.metadata)
                table = table.sort_by("tid") if self._shuffled else table
                writer.write_table(table, max(table.num_rows, 1))
                pa.default_memory_pool().release_unused()

    def _open_part(self, k: int, rows: int) -> Any:
        """Open a part, and refuse it if it belongs to another job or has lost reports."""
        try:
            file = pq.ParquetFile(self._part(k), page_checksum_verification=True)
            described = json.loads((file.schema_arrow.metadata or {}).get(PART_KEY, b"0"))
        except (pa.ArrowException, OSError, ValueError):
            described = None
        if described != {"job": self._job, "part": k} or file.metadata.num_rows != rows:
            raise self._damaged(k)
        return file

    def _read(self, k: int, rows: int, group: int) -> Any:
        with self._open_part(k, rows) as file:
            try:
                return file.read_row_group(group)
            except (pa.ArrowException, OSError):
                refusal = self._damaged(k)
        raise refusal

    def _damaged(self, k: int) -> SchemaError:
        return SchemaError(
            f"{self._part(k)} must hold the reports of its part, but is damaged or of another "
            "job; remove it and run the same command again, which draws the same reports",
            code="part_damaged",
            part=k,
        )

    def _part(self, k: int) -> Path:
        return self.folder / f"part-{k:06d}.parquet"

    def _clear(self) -> None:
        """Delete our files, the manifest first: without it the rest is never used again."""
        ours = [self._manifest, self._key, self.folder / "joined.parquet"]
        for path in (*ours, *self.folder.glob("part-*.parquet"), *self.folder.glob(".part-*")):
            path.unlink(missing_ok=True)

    def _lock_private(self) -> None:
        if self.folder.is_symlink() or not is_owner_only(self.folder):
            raise SchemaError(
                f"{self.folder} must be a folder that only its owner may open, but is not; "
                "remove it, or name another --out",
                code="folder_not_private",
            )
        self._lock = _lock_folder(self.folder)


def _lock_folder(folder: Path) -> int | None:
    """An advisory lock, which the system releases when the process ends, even if killed."""
    try:
        import fcntl
    except (
        ImportError
    ):  # not POSIX: two runs at once draw the same reports, and one of them fails
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
    except OSError:  # a file system without locks: as on a system without them
        pass
    return handle


def _write_new(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)


def _write(path: Path, groups: Sequence[Any]) -> None:
    with pq.ParquetWriter(path, groups[0].schema, write_page_checksum=True) as writer:
        for group in groups:
            writer.write_table(group, max(group.num_rows, 1))


def _split_by_id(table: Any, ranges: int) -> list[Any]:
    """Split rows into equal ranges of their ids, by the first 32 of 128 random bits."""
    ordered = table.sort_by("tid")
    index = [int(tid[:8], 16) * ranges >> 32 for tid in ordered["tid"].to_pylist()]
    ends = [bisect_right(index, r) for r in range(ranges)]
    return [ordered.slice(a, b - a) for a, b in zip([0, *ends], ends, strict=False)]
