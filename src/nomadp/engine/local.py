"""Many trajectories on this machine, on one core or several.

Trajectory number k draws only from stream k of the source, so the result is the same on
any number of cores and in any order. Work is shared among processes, not threads: a
mechanism is Python code, and a fresh process inherits no half-used state.
"""

import signal
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from nomadp.mechanisms import Mechanism, perturb_one
from nomadp.randomness import Words
from nomadp.trajectory import TrajectorySet

__all__ = ["Progress", "perturb_set", "unlinked"]

Progress = Callable[[int], None]
"""Told how many trajectories were finished since it was last called."""

CHUNK = 64
"""Trajectories per piece of work: well under a second, so that an interruption is prompt."""

Chunk = tuple[int, list[NDArray[np.int64]]]
"""The index of the first trajectory, and the trajectories."""

Piece = tuple[int, list[tuple[int, ...]]]
"""The index of the first trajectory, and the outputs."""


def perturb_set(
    mechanism: Mechanism,
    trajectories: TrajectorySet,
    words: Words,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> TrajectorySet:
    """Every trajectory perturbed once, in the same order; all of them or an exception.

    ``words`` are bound to the mechanism, so one seed gives two mechanisms independent noise.
    A source must not serve the same mechanism for other people's trajectories: two reports
    drawn with the same words tell about each other.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got jobs={jobs}")
    words = words.bound_to(mechanism.identity)
    chunks = _chunks(trajectories)
    workers = min(jobs, len(chunks))
    outputs: list[tuple[int, ...]] = [()] * len(trajectories)
    # Closing stops the workers at once, whoever raises: a worker, the caller, or Ctrl-C.
    with closing(
        _in_processes(mechanism, words, chunks, workers)
        if workers > 1
        else _in_this_process(mechanism, words, chunks)
    ) as finished:
        for start, piece in finished:
            outputs[start : start + len(piece)] = piece
            if progress is not None:
                progress(len(piece))
    return TrajectorySet.from_lists(
        outputs, tids=trajectories.tids, size=len(mechanism.locations)
    )


def unlinked(reported: TrajectorySet, words: Words) -> TrajectorySet:
    """The same reports under random 128-bit ids, in the order of the ids."""
    pairs = words.bound_to("report ids").stream(0).take(2 * len(reported)).reshape(-1, 2)
    ids = [f"{high:016x}{low:016x}" for high, low in pairs.tolist()]
    order = sorted(range(len(ids)), key=ids.__getitem__)
    shuffled = reported.select(order)
    return TrajectorySet(shuffled.offsets, shuffled.locations, tuple(ids[k] for k in order))


def _chunks(trajectories: TrajectorySet) -> list[Chunk]:
    indices = range(len(trajectories))
    return [
        (start, [trajectories[k] for k in indices[start : start + CHUNK]])
        for start in indices[::CHUNK]
    ]


def _perturb_chunk(mechanism: Mechanism, words: Words, chunk: Chunk) -> Piece:
    start, trajectories = chunk
    outputs = [
        perturb_one(mechanism, trajectory, words.stream(start + k))
        for k, trajectory in enumerate(trajectories)
    ]
    return start, outputs


def _in_this_process(
    mechanism: Mechanism, words: Words, chunks: list[Chunk]
) -> Generator[Piece, None, None]:
    for chunk in chunks:
        yield _perturb_chunk(mechanism, words, chunk)


def _in_processes(
    mechanism: Mechanism, words: Words, chunks: list[Chunk], workers: int
) -> Generator[Piece, None, None]:
    executor = ProcessPoolExecutor(
        workers,
        # Not fork: a copy of a process that has threads (Arrow's, BLAS's) may hang.
        mp_context=get_context("spawn"),
        initializer=_start_worker,
        initargs=(mechanism, words),
    )
    try:
        pending = [executor.submit(_work, chunk) for chunk in chunks]
        for future in as_completed(pending):
            yield future.result()
    finally:
        # Nothing queued starts any more, and no worker is left behind.
        executor.shutdown(cancel_futures=True)


_assignment: tuple[Mechanism, Words] | None = None
"""What a worker process perturbs with; sent once, when the worker starts."""


def _start_worker(mechanism: Mechanism, words: Words) -> None:
    global _assignment
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    _assignment = mechanism, words


def _work(chunk: Chunk) -> Piece:
    if _assignment is None:
        raise RuntimeError("a worker must be given its mechanism before its first chunk")
    return _perturb_chunk(*_assignment, chunk)
