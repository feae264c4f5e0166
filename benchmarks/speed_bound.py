"""The lower bound of the cost of perturbing, and instrumented random sources.

The lower bound for one trajectory on one core is the time to generate the random words that its
law needs, plus the time to read the trajectory and to write the report:

    words x 8 bytes / rate of AES  +  2 x points x 8 bytes / rate of memory

The number of words is that of the plain reference, one for each random choice. Both rates are
measured in the same run, on one core: AES-256 over a long buffer, as it generates words, and a
copy between two buffers that exceed all caches, counted once for reading and once for writing.
The bound ignores all lookups in the map, so it can be approached but not reached.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from nomadp.randomness import RandomSource, WordStream

__all__ = [
    "WORD_BYTES",
    "CountedStream",
    "Tally",
    "TimedWords",
    "aes_gb_s",
    "both_clocks",
    "bound_us",
    "memory_gb_s",
]

WORD_BYTES = 8
POINT_BYTES = 8
AES_BYTES = 32_000_000
COPIED_BYTES = 128_000_000
REPEATS = 5


def bound_us(words: float, points: float, rates: dict[str, float]) -> float:
    """Microseconds of the lower bound; rates in GB/s, that is 1000 bytes a microsecond."""
    made = words * WORD_BYTES / (1000 * rates["aes_gb_s"])
    touched = 2 * points * POINT_BYTES / (1000 * rates["memory_gb_s"])
    return made + touched


def aes_gb_s() -> float:
    encryptor = Cipher(algorithms.AES256(bytes(32)), modes.ECB()).encryptor()
    plain, out = bytes(AES_BYTES), bytearray(AES_BYTES + 16)
    return AES_BYTES / fastest(lambda: encryptor.update_into(plain, out)) / 1e9


def memory_gb_s() -> float:
    source = np.ones(COPIED_BYTES // 8)
    target = np.zeros_like(source)
    return 2 * COPIED_BYTES / fastest(lambda: np.copyto(target, source)) / 1e9


def fastest(run: Callable[[], object]) -> float:
    """The fastest of several runs, because other load only makes a run slower."""
    return min(both_clocks(run)[0] for _ in range(REPEATS))


def both_clocks(run: Callable[[], object]) -> tuple[float, float]:
    """CPU time, which other load hardly affects, and wall-clock time."""
    busy, clock = time.process_time(), time.perf_counter()
    run()
    return time.process_time() - busy, time.perf_counter() - clock


@dataclass
class Tally:
    """The time spent on generating words, and their number."""

    seconds: float = 0.0
    words: int = 0

    def timed(self, make: Callable[[], object], words: int) -> object:
        started = time.process_time()
        made = make()
        self.seconds += time.process_time() - started
        self.words += words
        return made


class TimedWords(RandomSource):
    """Counts and times the words of another source. For one thread."""

    def __init__(self, source: RandomSource, tally: Tally) -> None:
        self._source, self._tally = source, tally
        self.simulated = source.simulated

    def stream(self, index):
        inner = self._tally.timed(lambda: self._source.stream(index), 0)
        return _TimedStream(inner, self._tally)

    def rows(self, indices, width):
        make = lambda: self._source.rows(indices, width)  # noqa: E731
        return self._tally.timed(make, len(indices) * width)

    def bound_to(self, purpose: str) -> RandomSource:
        return TimedWords(self._source.bound_to(purpose), self._tally)

    def named(self, names):
        return TimedWords(self._source.named(names), self._tally)


class _TimedStream(WordStream):
    def __init__(self, inner: WordStream, tally: Tally) -> None:
        super().__init__()
        self._inner, self._tally = inner, tally

    def _more(self, count: int) -> bytes:
        return self._tally.timed(lambda: self._inner._more(count), count // WORD_BYTES)


class CountedStream(WordStream):
    """Counts the words that are taken from another stream in `drawn`."""

    def __init__(self, inner: WordStream) -> None:
        super().__init__()
        self._inner, self.drawn = inner, 0

    def _more(self, count: int) -> bytes:
        return self._inner._more(count)

    def next(self) -> int:
        self.drawn += 1
        return super().next()
