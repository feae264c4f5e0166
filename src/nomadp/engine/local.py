"""Perturb many trajectories on this machine, on one core or several.

Every trajectory draws from the random stream named by its tid, so the result is the same on any
number of cores, in any order, and from any file or engine.
"""

from collections.abc import Callable, Generator
from concurrent.futures import as_completed
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from nomadp.engine.workers import shared_state, worker_pool
from nomadp.errors import DomainError, InvalidArgument, WrongType
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.dispatch import REFERENCE, path_of, perturb_many
from nomadp.mechanisms.transcripts import report_with_transcript
from nomadp.randomness import RandomSource, SystemRandom, check_names
from nomadp.reports.header import Header
from nomadp.reports.table import AnyReports, order_of_ids, report_ids, reports_as
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet

__all__ = ["PerturbOptions", "Progress", "perturb_set"]

Progress = Callable[[int], None]
"""Called with the number of trajectories finished since the last call."""

CHUNK = 64
"""Trajectories per piece of work in Python: under a second, so that Ctrl-C responds quickly."""
KERNEL_CHUNK = 16384
"""Trajectories per piece of work of a compiled kernel."""
KERNEL_MIN = 512
"""A smaller piece takes a kernel less time than starting a thread does."""


class PerturbOptions(TypedDict, total=False):
    """Keyword options of `perturb_set`."""

    jobs: int
    """Number of cores (default: 1)."""
    progress: Progress | None
    """Called with the number of trajectories finished since its last call."""
    keep_tids: bool
    """For experiments: reports keep the tids and the order of their trajectories."""
    transcripts: bool
    """Keep every released value (TP and ATP release more than they report)."""


class Piece(NamedTuple):
    """The reports of consecutive trajectories, the first of which has the index ``start``."""

    start: int
    locations: Ints
    numbers: Ints | None
    transcripts: list[tuple[int, ...]]


class Drawing(NamedTuple):
    """What every piece of work shares; ``transcripts`` says whether they are kept."""

    mechanism: Mechanism
    randomness: RandomSource
    path: str
    transcripts: bool


def perturb_set(
    mechanism: Mechanism,
    trajectories: TrajectorySet,
    randomness: RandomSource | None = None,
    **options: Unpack[PerturbOptions],
) -> AnyReports:
    """Perturb every trajectory once. If anything fails, no report is returned.

    Each trajectory uses the mechanism's epsilon. Reports have random ids and are sorted by
    them, so neither ids nor order reveal a tid.

    Args:
        mechanism: The mechanism.
        trajectories: The private trajectories.
        randomness: By default fresh from the system. `KeyedRandom` can repeat the draws, and
            `SeededRandom` is for experiments.
        options: The fields of `PerturbOptions`, such as ``jobs`` and ``keep_tids``.

    Returns:
        The `Reports`, or `SimulatedReports` if a seed was used or the mechanism is not private.

    Raises:
        DomainError: A location is outside the mechanism's set.
        SchemaError: A tid occurs twice. Nothing has been drawn.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> nomadp.perturb_set(exp, city.trajectories)
    Reports(10 of exp at epsilon 4)
    >>> experiment = nomadp.perturb_set(exp, city.trajectories, nomadp.SeededRandom(1))
    >>> type(experiment).__name__, len(experiment)
    ('SimulatedReports', 10)
    """
    jobs = options.get("jobs", 1)
    if jobs < 1:
        raise InvalidArgument(
            f"jobs must be at least 1, got jobs={jobs}", code="jobs_out_of_range", jobs=jobs
        )
    _check_arguments(trajectories, randomness)
    source = SystemRandom() if randomness is None else randomness
    transcripts = _with_transcripts(mechanism, options)
    # Fast paths return reports only.
    path = REFERENCE if transcripts else path_of(mechanism, len(trajectories))
    task = Drawing(mechanism, source.bound_to(mechanism.identity), path, transcripts)
    pieces = _draw_all(task, trajectories, jobs, options.get("progress"))
    columns = _concatenate(pieces, transcripts=transcripts)
    linked = options.get("keep_tids", False)
    header = Header.of(mechanism, randomness, linked=linked, path=path)
    offsets = mechanism.report_offsets(trajectories.offsets)
    sequences = Sequences(offsets, columns.pop("locations"), trajectories.tids)
    columns["entry_size"] = mechanism.report_size if mechanism.is_oracle else None
    reports = reports_as(header, mechanism.locations, sequences, **columns)
    return reports if linked else _with_random_ids(reports, source, mechanism)


def _check_arguments(trajectories: Any, randomness: Any) -> None:
    if not isinstance(trajectories, TrajectorySet):
        raise WrongType(
            f"trajectories must be a TrajectorySet, got {type(trajectories).__name__}; "
            "use read_trajectories to read files and frames",
            code="trajectory_set_required",
            type=type(trajectories).__name__,
        )
    if randomness is not None and not isinstance(randomness, RandomSource):
        raise WrongType(
            "randomness must be SystemRandom(), KeyedRandom(key) or SeededRandom(seed), got "
            f"{type(randomness).__name__}; leave it out for people",
            code="random_source_required",
            type=type(randomness).__name__,
        )
    check_names(trajectories.tids)


def _with_transcripts(mechanism: Mechanism, options: PerturbOptions) -> bool:
    """Whether transcripts are kept; frequency oracles have none beyond the report."""
    transcripts = options.get("transcripts", False)
    if transcripts and mechanism.is_oracle:
        raise DomainError(
            "transcripts must be left out for a frequency oracle, whose report is all that it "
            f"releases, got transcripts=True for {mechanism.name}",
            code="no_transcripts",
            mechanism=mechanism.name,
        )
    return transcripts


def _draw_all(
    task: Drawing, trajectories: TrajectorySet, jobs: int, progress: Progress | None
) -> list[Piece]:
    """All pieces, in the order of the trajectories."""
    starts = _piece_starts(task.path, trajectories, jobs)
    pieces: list[Piece] = []
    # Closing stops the workers at once if anything raises: a worker, `progress`, or Ctrl-C.
    with closing(_pieces(task, trajectories, starts, jobs)) as finished:
        for piece in finished:
            pieces.append(piece)
            if progress is not None:
                progress(min(starts.step, len(trajectories) - piece.start))
    return sorted(pieces, key=lambda piece: piece.start)


def _with_random_ids(
    reports: AnyReports, randomness: RandomSource, mechanism: Mechanism
) -> AnyReports:
    """The same reports with random ids, sorted by them: the order no longer links to tids."""
    ids = report_ids(randomness, mechanism, reports.names)
    return replace(reports, names=ids).select(order_of_ids(ids))


def _concatenate(pieces: list[Piece], *, transcripts: bool) -> dict[str, Any]:
    numbers = [piece.numbers for piece in pieces if piece.numbers is not None]
    empty = np.zeros(0, dtype=np.int64)
    every_transcript = tuple(one for piece in pieces for one in piece.transcripts)
    return {
        "locations": np.concatenate([empty, *(piece.locations for piece in pieces)]),
        "numbers": np.concatenate(numbers) if numbers else None,
        "transcripts": every_transcript if transcripts else None,
    }


def _piece_starts(path: str, trajectories: TrajectorySet, jobs: int) -> range:
    """The index of the first trajectory of each piece of work."""
    size = CHUNK
    if path != REFERENCE:
        size = min(KERNEL_CHUNK, max(KERNEL_MIN, -(-len(trajectories) // jobs)))
    return range(0, len(trajectories), size)


def _pieces(
    task: Drawing, trajectories: TrajectorySet, starts: range, jobs: int
) -> Generator[Piece, None, None]:
    def chunk(start: int) -> TrajectorySet:
        return trajectories.between(start, min(start + starts.step, len(trajectories)))

    workers = min(jobs, len(starts))
    if workers <= 1:
        for start in starts:
            yield _draw(task, start, chunk(start))
        return
    # The loops of fast paths release the GIL; the reference program needs processes.
    threads, how = task.path != REFERENCE, (task.path, task.transcripts)
    with worker_pool(task.mechanism, task.randomness, workers, threads=threads) as pool:
        pending = [pool.submit(_draw_in_worker, how, start, chunk(start)) for start in starts]
        for future in as_completed(pending):
            yield future.result()


def _draw_in_worker(how: tuple[str, bool], start: int, trajectories: TrajectorySet) -> Piece:
    mechanism, randomness = shared_state()
    return _draw(Drawing(mechanism, randomness, *how), start, trajectories)


def _draw(task: Drawing, start: int, trajectories: TrajectorySet) -> Piece:
    named = task.randomness.named(trajectories.tids)
    if not task.transcripts:
        drawn = perturb_many(task.mechanism, trajectories, named, task.path)
        return Piece(start, *drawn, [])
    trajectories.check_size(len(task.mechanism.locations))
    reports = [
        report_with_transcript(task.mechanism, trajectories[k], named.stream(k))
        for k in range(len(trajectories))
    ]
    numbers = [number for _, number, _ in reports if number is not None]
    return Piece(
        start,
        np.array([place for places, _, _ in reports for place in places], dtype=np.int64),
        np.array(numbers, dtype=np.int64) if numbers else None,
        [transcript.released for _, _, transcript in reports],
    )
