"""Many trajectories on this machine, on one core or several.

Every trajectory draws from the stream of words that bears its tid, so the result is the same on
any number of cores, in any order, and from any file or engine.
"""

from collections.abc import Callable, Generator
from concurrent.futures import as_completed
from contextlib import closing

import numpy as np

from nomadp.engine.workers import assigned, worker_pool
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.paths import REFERENCE, path_of, perturb_many
from nomadp.randomness import SystemWords, Words, check_names
from nomadp.trajectory import TrajectorySet

__all__ = ["Progress", "perturb_set", "unlinked"]

Progress = Callable[[int], None]
"""Told how many trajectories were finished since it was last called."""

CHUNK = 64
"""Trajectories per piece of Python work: well under a second, so an interruption is prompt."""
KERNEL_CHUNK = 16384
"""The same for kernels."""
KERNEL_MIN = 512
"""Fewer than this, a kernel has perturbed before another thread has started."""

Piece = tuple[int, Ints]
"""The index of the first trajectory, and the reported locations."""


def perturb_set(
    mechanism: Mechanism,
    trajectories: TrajectorySet,
    words: Words | None = None,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> TrajectorySet:
    """Every trajectory perturbed once, in the same order; all of them or an exception.

    Each costs the mechanism's epsilon, whatever ``words`` are: fresh ones of the system by
    default, `KeyedWords` to be able to repeat the draws, `SimulatedWords` for experiments.
    ``jobs`` is the number of cores; ``progress`` is told how many more are done. Raises
    `DomainError` for locations outside the mechanism's set and `SchemaError` for a tid that
    comes twice, before anything is drawn.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> reports = nomadp.perturb_set(exp, city.trajectories, nomadp.SimulatedWords(1))
    >>> len(reports), reports.lengths.tolist() == city.trajectories.lengths.tolist()
    (10, True)
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got jobs={jobs}")
    check_names(trajectories.tids)
    words = (words or SystemWords()).bound_to(mechanism.identity)
    path = path_of(mechanism, len(trajectories))
    starts = _starts(path, trajectories, jobs)
    reported = np.empty(len(trajectories.locations), dtype=np.int64)
    # Closing stops the workers at once, whoever raises: a worker, the caller, or Ctrl-C.
    with closing(_pieces((mechanism, words, path), trajectories, starts, jobs)) as finished:
        for start, piece in finished:
            offset = trajectories.offsets[start]
            reported[offset : offset + len(piece)] = piece
            if progress is not None:
                progress(min(starts.step, len(trajectories) - start))
    result = TrajectorySet(trajectories.offsets, reported, trajectories.tids)
    result.check_size(len(mechanism.locations))
    return result


def unlinked(reported: TrajectorySet, words: Words) -> TrajectorySet:
    """The same reports under random 128-bit ids, in the order of the ids."""
    pairs = words.bound_to("report ids").stream(0).take(2 * len(reported)).reshape(-1, 2)
    ids = [f"{high:016x}{low:016x}" for high, low in pairs.tolist()]
    order = sorted(range(len(ids)), key=ids.__getitem__)
    shuffled = reported.select(order)
    return TrajectorySet(shuffled.offsets, shuffled.locations, tuple(ids[k] for k in order))


def _starts(path: str, trajectories: TrajectorySet, jobs: int) -> range:
    """Where each piece of work begins."""
    size = CHUNK
    if path != REFERENCE:
        size = min(KERNEL_CHUNK, max(KERNEL_MIN, -(-len(trajectories) // jobs)))
    return range(0, len(trajectories), size)


def _pieces(
    how: tuple[Mechanism, Words, str], trajectories: TrajectorySet, starts: range, jobs: int
) -> Generator[Piece, None, None]:
    mechanism, words, path = how

    def chunk(start: int) -> TrajectorySet:
        return trajectories.between(start, min(start + starts.step, len(trajectories)))

    workers = min(jobs, len(starts))
    if workers <= 1:
        for start in starts:
            yield start, _drawn(mechanism, words, chunk(start), path)
        return
    with worker_pool(mechanism, words, workers, threads=path != REFERENCE) as pool:
        pending = [pool.submit(_work, start, chunk(start), path) for start in starts]
        for future in as_completed(pending):
            yield future.result()


def _work(start: int, trajectories: TrajectorySet, path: str) -> Piece:
    mechanism, words = assigned()
    return start, _drawn(mechanism, words, trajectories, path)


def _drawn(mechanism: Mechanism, words: Words, trajectories: TrajectorySet, path: str) -> Ints:
    named = words.named(trajectories.tids)
    return perturb_many(mechanism, trajectories, named, path).locations
