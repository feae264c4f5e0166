"""Independent pieces of work that all read one shared value, on one core or several."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any, TypeVar

__all__ = ["run_all"]

S = TypeVar("S")
T = TypeVar("T")


def run_all(shared: S, calls: Sequence[Callable[[S], T]], jobs: int) -> Iterator[tuple[int, T]]:
    """Every call's position and result, as they finish; what ``shared`` caches stays warm."""
    if jobs == 1:
        yield from ((k, call(shared)) for k, call in enumerate(calls))
        return
    executor = ProcessPoolExecutor(
        min(jobs, len(calls)),
        # Not fork: a copy of a process that has threads (Arrow's, BLAS's) may hang.
        mp_context=get_context("spawn"),
        initializer=_start_worker,
        initargs=(shared,),
    )
    try:
        position = {executor.submit(_work, call): k for k, call in enumerate(calls)}
        for future in as_completed(position):
            yield position[future], future.result()
    finally:
        executor.shutdown(cancel_futures=True)


_shared: Any = None
"""What a worker's calls read; sent once, when the worker starts."""


def _start_worker(shared: Any) -> None:
    global _shared
    _shared = shared


def _work(call: Callable[[Any], T]) -> T:
    return call(_shared)
