"""Who perturbs: threads on a fast path, whose loops let each other run; else processes.

A worker is given what all its work shares once, when it starts. Processes end at once when the
work is given up, print nothing then, and never outlive the process that started them.
"""

import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import as_completed as finished
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread, current_thread, local, main_thread
from typing import Any, TypeVar

from nomadp.mechanisms import Mechanism
from nomadp.randomness import RandomSource

__all__ = ["Processes", "assigned", "run_all", "worker_pool"]

S = TypeVar("S")
T = TypeVar("T")

_assigned = local()


class _Spawning(SpawnContext):
    """Remembers what it started."""

    # Not fork: a copy of a process that has threads (Arrow's, BLAS's) may hang.

    def __init__(self) -> None:
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        self.started.append(SpawnProcess(*args, **kwargs))
        return self.started[-1]


class Processes(ProcessPoolExecutor):
    """So many processes, each with ``shared`` as `assigned`; leave it by ``with``."""

    def __init__(self, count: int, shared: Any) -> None:
        self._context = _Spawning()
        super().__init__(
            count, mp_context=self._context, initializer=_start_process, initargs=(shared,)
        )

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        with _undisturbed():
            return super().submit(fn, *args, **kwargs)

    def __exit__(self, kind: object, *failure: object) -> None:
        if kind is not None:
            for process in self._context.started:
                if process.pid is not None:  # one whose start failed has none
                    process.kill()
        self.shutdown(cancel_futures=True)


class _Threads(ThreadPoolExecutor):
    def __exit__(self, kind: object, *failure: object) -> None:
        self.shutdown(wait=kind is None, cancel_futures=True)


def worker_pool(
    mechanism: Mechanism, randomness: RandomSource, workers: int, *, threads: bool
) -> Executor:
    """So many workers, each with this mechanism and these words."""
    if threads:
        return _Threads(workers, initializer=_assign, initargs=((mechanism, randomness),))
    return Processes(workers, (mechanism, randomness))


def run_all(
    shared: S, calls: Sequence[Callable[[S], T]], jobs: int
) -> Generator[tuple[int, T], None, None]:
    """Every call's position and result, as they finish; what ``shared`` caches stays warm."""
    if min(jobs, len(calls)) <= 1:
        yield from ((k, call(shared)) for k, call in enumerate(calls))
        return
    with Processes(min(jobs, len(calls)), shared) as pool:
        position = {pool.submit(_call, call): k for k, call in enumerate(calls)}
        for future in finished(position):
            yield position[future], future.result()


def assigned() -> Any:
    """What this worker's work shares."""
    return _assigned.shared


def _call(call: Callable[[Any], T]) -> T:
    return call(assigned())


def _assign(shared: Any) -> None:
    _assigned.shared = shared


def _start_process(shared: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    Thread(target=_leave_with_the_parent, daemon=True).start()
    _assign(shared)


def _leave_with_the_parent() -> None:
    """A killed parent cannot tell its workers to stop: they would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait: half started, a process would be left behind, or print a traceback.

    What starts inside never hears Ctrl-C, which a terminal sends to every process.
    """
    if current_thread() is not main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    heard: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, frame: heard.append(number))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if callable(signal.getsignal(number))
    }
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if heard:
            signal.raise_signal(heard[0])
