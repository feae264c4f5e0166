"""A Parquet file of trajectories in, a Parquet file of reports out, in bounded memory.

The reports are written in parts, each whole or not at all, and joined at the end in the order
of their random ids, which says nothing of the order they were drawn in. A job that
was killed goes on where it stopped. Its key outlives it, so a part that was drawn and lost is
drawn again the same: nothing is spent twice, and the file is the one an undisturbed run writes.
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
from nomadp.engine.workers import assigned, worker_pool
from nomadp.errors import InvalidArgument, NotPrivateError
from nomadp.formats.nested_files import NestedFile
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.paths import REFERENCE, path_of
from nomadp.randomness import KeyedRandom, RandomSource
from nomadp.reports.header import Header

__all__ = ["Job", "Running", "open_job"]

PIECES_PER_PART = 16
WAITING_PER_WORKER = 3
"""Pieces read ahead, so that nobody waits while a part is written."""

Piece = tuple[int, pa.RecordBatch]
"""The number of its part, and rows."""


@dataclass(frozen=True)
class Job:
    """What is to be perturbed, how, and where the reports go."""

    mechanism: Mechanism
    source: Path
    target: Path
    randomness: KeyedRandom | None = None
    """None: a new key, kept beside the target until the job is done."""
    keep_tids: bool = False
    """For experiments: reports bear the tids of their trajectories, in the same order."""
    simulated: bool = False
    """Must be said of what protects nobody: a seed, or a mechanism that is not private."""

    def header(self, path: str) -> Header:
        """What the reports say about themselves."""
        found = Header.of(self.mechanism, self.randomness, linked=self.keep_tids, path=path)
        if not (found.private or self.simulated):
            raise NotPrivateError(
                "a file of reports for people must come from a private mechanism and secret "
                "words, and these would not; say simulated=True for an experiment",
                code="reports_not_private",
            )
        return found


@dataclass(frozen=True)
class Running:
    """A job that was surveyed and may draw."""

    job: Job
    source: NestedFile
    survey: Survey
    randomness: KeyedRandom
    part_rows: tuple[int, ...]
    """How many reports each part has."""
    done: frozenset[int]
    """The parts that an earlier run finished."""
    unfinished: Unfinished
    path: str
    """Which path draws: the same to the end, whatever is installed meanwhile."""

    @property
    def header(self) -> Header:
        return self.job.header(self.path)

    @property
    def rows_done(self) -> int:
        return sum(self.part_rows[k] for k in self.done)

    def run(self, *, jobs: int = 1, progress: Progress | None = None) -> None:
        """Perturb what is left, and put the whole into the target's place."""
        if jobs < 1:
            raise InvalidArgument(
                f"jobs must be at least 1, got jobs={jobs}", code="jobs_out_of_range", jobs=jobs
            )
        missing = set(range(len(self.part_rows))) - self.done
        with closing(self._drawn(missing, jobs)) as drawn:
            for part, pieces in groupby(drawn, key=itemgetter(0)):
                reports = []
                for _, batch in pieces:
                    reports.append(batch)
                    if progress is not None:
                        progress(batch.num_rows)
                self.unfinished.write_part(part, reports, len(self.part_rows))
                pa.default_memory_pool().release_unused()
        self.source.check_unchanged()
        self.unfinished.finish(self.part_rows, self.header.to_json())

    def _drawn(self, missing: set[int], jobs: int) -> Generator[Piece, None, None]:
        """Every missing piece perturbed, in the order of the file."""
        mechanism = self.job.mechanism
        threads, linked = self.path != REFERENCE, self.job.keep_tids
        pieces = self._pieces(missing, KERNEL_CHUNK if threads else CHUNK)
        if jobs == 1:
            for part, piece in pieces:
                yield part, _perturb(piece, self.path, linked, (mechanism, self.randomness))
            return
        waiting: deque[tuple[int, Future[Any]]] = deque()
        with worker_pool(mechanism, self.randomness, jobs, threads=threads) as pool:
            for part, piece in pieces:
                piece = piece if threads else _compact(piece)
                waiting.append((part, pool.submit(_perturb, piece, self.path, linked)))
                if len(waiting) > WAITING_PER_WORKER * jobs:
                    first, future = waiting.popleft()
                    yield first, future.result()
            for first, future in waiting:
                yield first, future.result()

    def _pieces(self, missing: set[int], rows_max: int) -> Iterator[Piece]:
        """The rows of the missing parts, so many at a time; none crosses a part's end."""
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
    """The job begun, or taken up where it was left; nothing is drawn yet.

    ``accept`` may refuse by raising. ``progress`` hears of the look at all trajectories, which
    a job that is taken up had already.
    """
    source = NestedFile(job.source, hours=job.mechanism.timed)
    wanted = _pinned(job, source)
    with Unfinished(job.target, shuffled=not job.keep_tids) as unfinished:
        if unfinished.is_begun():
            randomness, found = _taken_up(job, wanted, unfinished)
        else:
            randomness, found = None, survey(source, job.mechanism.locations, progress)
        if accept is not None:
            accept(found)
        if randomness is None:
            randomness = unfinished.begin(job.randomness)  # from here on bound to the job
            begun = {**wanted, "survey": asdict(found), "key": fingerprint(randomness)}
            unfinished.pin(begun)
        part_rows = _part_rows(source)
        done = frozenset(unfinished.finished_parts(part_rows))
        yield Running(
            job, source, found, randomness, part_rows, done, unfinished, wanted["path"]
        )


def _taken_up(
    job: Job, wanted: Mapping[str, Any], unfinished: Unfinished
) -> tuple[KeyedRandom | None, Survey]:
    """The words and the survey of the job that was begun, if it is this one."""
    begun = unfinished.resume()
    randomness = job.randomness or unfinished.kept_randomness()
    key = "" if randomness is None else fingerprint(randomness)
    unfinished.check_same(begun, {**wanted, "key": key})
    return randomness, Survey(**begun["survey"])


def _pinned(job: Job, source: NestedFile) -> dict[str, Any]:
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
    """The rows alone: a slice would take the whole batch along to another process."""
    return piece.take(pa.array(range(piece.num_rows)))


def _perturb(
    piece: pa.RecordBatch,
    path: str,
    linked: bool,  # noqa: FBT001 - carried to another process as it is
    who: tuple[Mechanism, RandomSource] | None = None,
) -> pa.RecordBatch:
    mechanism, randomness = who or assigned()
    return perturb_batch(mechanism, randomness, piece, path, linked=linked)
