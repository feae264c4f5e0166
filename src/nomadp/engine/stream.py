"""Perturb a Parquet file of trajectories into a Parquet file of reports, in bounded memory.

Reports are written in parts, each atomically. At the end the parts are joined in the order of
the random ids, which is independent of the order of the trajectories. A job that was killed can
resume. Its key survives, so a part that was drawn and lost is drawn again bit for bit: no
epsilon is used twice, and the result is the file that an uninterrupted run writes.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from nomadp.engine.batches import Survey, perturb_batch, survey
from nomadp.engine.keys import fingerprint
from nomadp.engine.local import CHUNK, KERNEL_CHUNK, Progress
from nomadp.engine.unfinished import Unfinished
from nomadp.engine.workers import shared_state, worker_pool
from nomadp.errors import InvalidArgument, NotPrivateError
from nomadp.formats.nested_files import NestedFile
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.dispatch import REFERENCE, path_of
from nomadp.randomness import KeyedRandom, RandomSource
from nomadp.reports.header import Header

__all__ = ["Job", "Running", "open_job"]

PIECES_PER_PART = 16
PENDING_PER_WORKER = 3
"""Pieces submitted ahead, so that workers stay busy while a part is written. More would only
take memory."""

Piece = tuple[int, pa.RecordBatch]
"""The index of its part, and its rows."""


@dataclass(frozen=True)
class Job:
    """The trajectories to perturb, the mechanism, and the file for the reports."""

    mechanism: Mechanism
    source: Path
    target: Path
    randomness: KeyedRandom | None = None
    """None: a new key, which is kept beside the target until the job is done."""
    keep_tids: bool = False
    """For experiments: reports keep the tids and the order of their trajectories."""
    simulated: bool = False
    """Required if nobody is protected: with a seed, or a mechanism that is not private."""

    def header(self, path: str) -> Header:
        """The header of the reports."""
        header = Header.of(self.mechanism, self.randomness, linked=self.keep_tids, path=path)
        if not (header.private or self.simulated):
            raise NotPrivateError(
                "reports of people must come from a private mechanism and secret randomness, "
                "and these would not; set simulated=True for an experiment",
                code="reports_not_private",
            )
        return header


@dataclass(frozen=True)
class Running:
    """A job whose input was checked and whose manifest is written, so that it may draw."""

    job: Job
    source: NestedFile
    survey: Survey
    randomness: KeyedRandom
    part_rows: tuple[int, ...]
    """The number of reports of each part."""
    done: frozenset[int]
    """The parts that an earlier run finished."""
    unfinished: Unfinished
    path: str
    """The code path that draws. It stays the same if the job resumes with other packages."""

    @property
    def header(self) -> Header:
        return self.job.header(self.path)

    @property
    def rows_done(self) -> int:
        return sum(self.part_rows[k] for k in self.done)

    def run(self, *, jobs: int = 1, progress: Progress | None = None) -> None:
        """Perturb the missing parts, join all parts, and move the result to the target."""
        if jobs < 1:
            raise InvalidArgument(
                f"jobs must be at least 1, got jobs={jobs}", code="jobs_out_of_range", jobs=jobs
            )
        missing = set(range(len(self.part_rows))) - self.done
        with closing(self._draw(missing, jobs)) as drawn:
            # Pieces arrive in the order of the file, so each part is one group.
            for part, pieces in groupby(drawn, key=itemgetter(0)):
                reports = []
                for _, batch in pieces:
                    reports.append(batch)
                    if progress is not None:
                        progress(batch.num_rows)
                self.unfinished.write_part(part, reports, len(self.part_rows))
                pa.default_memory_pool().release_unused()
        # The parts belong to the file that was hashed; only now was all of it read.
        self.source.check_unchanged()
        self.unfinished.finish(self.part_rows, self.header.to_json())

    def _draw(self, missing: set[int], jobs: int) -> Generator[Piece, None, None]:
        """Perturb all missing pieces, in the order of the file."""
        mechanism = self.job.mechanism
        threads, linked = self.path != REFERENCE, self.job.keep_tids
        pieces = self._pieces(missing, KERNEL_CHUNK if threads else CHUNK)
        if jobs == 1:
            for part, piece in pieces:
                yield part, _perturb(piece, self.path, linked, (mechanism, self.randomness))
            return
        # First in, first out, and bounded: order and memory do not depend on the workers.
        pending: deque[tuple[int, Future[Any]]] = deque()
        with worker_pool(mechanism, self.randomness, jobs, threads=threads) as pool:
            for part, piece in pieces:
                piece = piece if threads else _compact(piece)
                pending.append((part, pool.submit(_perturb, piece, self.path, linked)))
                if len(pending) > PENDING_PER_WORKER * jobs:
                    first, future = pending.popleft()
                    yield first, future.result()
            for first, future in pending:
                yield first, future.result()

    def _pieces(self, missing: set[int], rows_max: int) -> Iterator[Piece]:
        """The rows of the missing parts, at most ``rows_max`` of one part at a time."""
        if not missing:
            return
        size = self.part_rows[0]
        for row, batch in self.source.batches(min(missing) * size):
            while batch.num_rows:
                part = row // size
                piece = batch.slice(0, min((part + 1) * size - row, rows_max))
                if part in missing:
                    yield part, piece
                row, batch = row + piece.num_rows, batch.slice(piece.num_rows)


@contextmanager
def open_job(
    job: Job,
    *,
    accept: Callable[[Survey], None] | None = None,
    progress: Progress | None = None,
) -> Iterator[Running]:
    """Start the job, or resume it; nothing is drawn yet.

    ``accept`` may refuse by raising. ``progress`` follows the survey of all trajectories, which
    a resumed job does not repeat.
    """
    source = NestedFile(job.source, hours=job.mechanism.timed)
    manifest = _manifest_of(job, source)
    with Unfinished(job.target, shuffled=not job.keep_tids) as unfinished:
        if unfinished.is_begun():
            randomness, surveyed = _resume(job, manifest, unfinished)
        else:
            randomness, surveyed = None, survey(source, job.mechanism.locations, progress)
        if accept is not None:
            accept(surveyed)
        if randomness is None:
            # The key and the manifest are on disk before anything is drawn: whatever a crash
            # leaves can be drawn again with the same words, and with no others.
            randomness = unfinished.begin(job.randomness)
            key = fingerprint(randomness)
            unfinished.pin({**manifest, "survey": asdict(surveyed), "key": key})
        part_rows = _part_rows(source)
        done = frozenset(unfinished.finished_parts(part_rows))
        path = manifest["path"]
        yield Running(job, source, surveyed, randomness, part_rows, done, unfinished, path)


def _resume(
    job: Job, manifest: Mapping[str, Any], unfinished: Unfinished
) -> tuple[KeyedRandom | None, Survey]:
    """The random source and the survey of the job that was begun, if it is this job."""
    begun = unfinished.resume()
    randomness = job.randomness or unfinished.kept_randomness()
    key = "" if randomness is None else fingerprint(randomness)
    unfinished.check_same(begun, {**manifest, "key": key})
    return randomness, Survey(**begun["survey"])


def _manifest_of(job: Job, source: NestedFile) -> dict[str, Any]:
    """Everything that the reports depend on, except the key."""
    path = path_of(job.mechanism, source.rows)
    header = job.header(path)  # refused now rather than at the end
    return {
        "source": {"sha256": source.sha256(), "rows": source.rows},
        "mechanism": job.mechanism.identity,
        "path": path,
        "parts": source.piece_rows * PIECES_PER_PART,
        "reports": header.as_dict(),
    }


def _part_rows(source: NestedFile) -> tuple[int, ...]:
    size = source.piece_rows * PIECES_PER_PART
    whole, rest = divmod(source.rows, size)
    return (size,) * whole + ((rest,) if rest else ())


def _compact(piece: pa.RecordBatch) -> pa.RecordBatch:
    """A copy of the rows: pickling a slice would send its whole batch to the other process."""
    return piece.take(pa.array(range(piece.num_rows)))


def _perturb(
    piece: pa.RecordBatch,
    path: str,
    linked: bool,  # noqa: FBT001 - pickled for another process
    shared: tuple[Mechanism, RandomSource] | None = None,
) -> pa.RecordBatch:
    mechanism, randomness = shared or shared_state()
    return perturb_batch(mechanism, randomness, piece, path, linked=linked)
