"""Who perturbs: threads on a fast path, whose loops let each other run; else processes.

A worker is given the mechanism and the words once, when it starts.
"""

import signal
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from threading import local

from nomadp.mechanisms import Mechanism
from nomadp.randomness import Words

__all__ = ["assigned", "worker_pool"]

_assigned = local()


def worker_pool(mechanism: Mechanism, words: Words, workers: int, *, threads: bool) -> Executor:
    """So many workers, each with this mechanism and these words."""
    if threads:
        return ThreadPoolExecutor(workers, initializer=_assign, initargs=(mechanism, words))
    return ProcessPoolExecutor(
        workers,
        # Not fork: a copy of a process that has threads (Arrow's, BLAS's) may hang.
        mp_context=get_context("spawn"),
        initializer=_start_process,
        initargs=(mechanism, words),
    )


def assigned() -> tuple[Mechanism, Words]:
    """What this worker perturbs with."""
    return _assigned.mechanism, _assigned.words


def _start_process(mechanism: Mechanism, words: Words) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    _assign(mechanism, words)


def _assign(mechanism: Mechanism, words: Words) -> None:
    _assigned.mechanism, _assigned.words = mechanism, words
