"""Pools of workers: threads for fast paths, whose loops release the GIL; else processes.

A worker receives the state that all its work shares once, when it starts. Processes end at once
when the work is cancelled, print nothing then, and never outlive the process that started them.
"""

import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import (
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread, current_thread, local, main_thread
from typing import Any, TypeVar

from nomadp.mechanisms import Mechanism
from nomadp.randomness import RandomSource

__all__ = ["Processes", "run_all", "shared_state", "worker_pool"]

Shared = TypeVar("Shared")
Result = TypeVar("Result")

_worker = local()


class _SpawnContext(SpawnContext):
    """Remembers the processes that it started, so that they can be killed."""

    # Not fork: a copy of a process that has threads (Arrow's, BLAS's) may hang.

    def __init__(self) -> None:
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        self.started.append(SpawnProcess(*args, **kwargs))
        return self.started[-1]


class Processes(ProcessPoolExecutor):
    """A pool of processes in which `shared_state` returns ``shared``. Use it in ``with``."""

    def __init__(self, count: int, shared: Any) -> None:
        self._context = _SpawnContext()
        super().__init__(
            count, mp_context=self._context, initializer=_start_process, initargs=(shared,)
        )

    def submit(
        self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any
    ) -> "Future[Result]":
        with _signals_deferred():
            return super().submit(fn, *args, **kwargs)

    def __exit__(self, kind: object, *failure: object) -> None:
        # After an error or Ctrl-C, waiting for pieces that nobody needs could take minutes.
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
    """A pool of workers that share this mechanism and this random source."""
    if threads:
        return _Threads(workers, initializer=_set_shared, initargs=((mechanism, randomness),))
    return Processes(workers, (mechanism, randomness))


def run_all(
    shared: Shared, calls: Sequence[Callable[[Shared], Result]], jobs: int
) -> Generator[tuple[int, Result], None, None]:
    """The index and result of each call, in the order in which they finish.

    Each process receives ``shared`` once, so that its caches serve all calls in the process.
    """
    if min(jobs, len(calls)) <= 1:
        yield from ((k, call(shared)) for k, call in enumerate(calls))
        return
    with Processes(min(jobs, len(calls)), shared) as pool:
        index = {pool.submit(_call, call): k for k, call in enumerate(calls)}
        for future in as_completed(index):
            yield index[future], future.result()


def shared_state() -> Any:
    """The state that this worker received when it started."""
    return _worker.shared


def _call(call: Callable[[Any], Result]) -> Result:
    return call(shared_state())


def _set_shared(shared: Any) -> None:
    _worker.shared = shared


def _start_process(shared: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    Thread(target=_exit_with_parent, daemon=True).start()
    _set_shared(shared)


def _exit_with_parent() -> None:
    """Exit with the parent: if killed, it cannot stop its workers, which would wait forever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Hold back signals while a process starts: half started, it could be left behind.

    A process that starts in this block inherits a mask that blocks SIGINT. It never sees
    Ctrl-C, which a terminal sends to every process of the group, and prints no traceback.
    """
    if current_thread() is not main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    received: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, frame: received.append(number))
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
        if received:
            signal.raise_signal(received[0])
