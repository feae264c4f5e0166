"""Random sources of 64-bit words: the operating system, a secret key, or a public seed.

Every random choice of a mechanism consumes a public number of uniform words, usually one. A
source provides one stream of words per trajectory, so results do not depend on the order of
trajectories or the number of cores. Two reports drawn with the same words reveal information
about each other. `SystemRandom` never repeats a word; use it for people's trajectories.
"""

import hashlib
import hmac
import operator
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import InvalidArgument, RandomnessUnavailable, SchemaError, WrongType

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

__all__ = [
    "KeyedRandom",
    "SeededRandom",
    "SystemRandom",
    "WordStream",
    "RandomSource",
    "check_names",
    "new_key",
]

_WORD_BYTES = 8
_KEY_BYTES = 32
_BLOCK_WORDS = 64  # enough for most trajectories; unused words are discarded


class WordStream(ABC):
    """An endless sequence of uniform 64-bit words."""

    def __init__(self) -> None:
        self._block = b""
        self._used = 0

    @abstractmethod
    def _more(self, count: int) -> bytes:
        """The next ``count`` bytes of the stream."""

    def next(self) -> int:
        if self._used == len(self._block):
            self._block, self._used = self._more(_BLOCK_WORDS * _WORD_BYTES), 0
        word = self._block[self._used : self._used + _WORD_BYTES]
        self._used += _WORD_BYTES
        return int.from_bytes(word, "little")

    def take(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` words at once: the same ones that `next` would return."""
        ready = self._block[self._used : self._used + count * _WORD_BYTES]
        self._used += len(ready)
        missing = count * _WORD_BYTES - len(ready)
        block = ready + self._more(missing) if missing else ready
        return np.frombuffer(block, dtype="<u8").astype(np.uint64)


class RandomSource(ABC):
    """A source of word streams, one for each trajectory."""

    simulated: bool = False
    """True if anyone who knows a seed can repeat the words. Reports are then not private."""

    @abstractmethod
    def stream(self, index: int) -> WordStream:
        """The stream of 64-bit words of trajectory number ``index``, from its beginning."""

    @abstractmethod
    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        """The first ``width`` words of the streams with these ``indices``, one stream per row.

        For bulk perturbation. `SystemRandom` cannot repeat its words and raises `TypeError`:
        call `bound_to` first.
        """

    @abstractmethod
    def bound_to(self, purpose: str) -> "KeyedRandom":
        """An independent source for one purpose, which any text may name.

        Two mechanisms must never share words, so each needs a purpose of its own.
        """

    @abstractmethod
    def named(self, names: Sequence[str]) -> "KeyedRandom":
        """The same source with streams identified by name: stream k belongs to ``names[k]``.

        Perturbing the trajectory of a name again, in any order, batch or process, uses the same
        words and no further budget. A name must therefore stand for one trajectory only. Raises
        `SchemaError` if a name is repeated.
        """


class _SystemStream(WordStream):
    def _more(self, count: int) -> bytes:
        return _system_bytes(count)


class SystemRandom(RandomSource):
    """Fresh randomness of the operating system: for people's trajectories.

    `perturb_set` uses it by default. Every call uses a new key, so you can use one source for
    any number of jobs: no two reports share words. Raises `RandomnessUnavailable` if the system
    has no randomness; then nothing is released.

    >>> import nomadp
    >>> fresh = nomadp.SystemRandom()
    >>> fresh.bound_to("day 1").stream(0).next() == fresh.bound_to("day 1").stream(0).next()
    False
    """

    def stream(self, index: int) -> WordStream:
        return _SystemStream()

    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        # A caller that then needs wider rows calls again, and must get the same first words.
        # Only a key can repeat them.
        raise WrongType(
            "bulk perturbation needs a source that can repeat its words; call bound_to first",
            code="words_not_bound",
        )

    def bound_to(self, purpose: str) -> "KeyedRandom":
        """A source with a new random key, which nobody else has. The purpose has no effect."""
        return KeyedRandom(new_key())

    def named(self, names: Sequence[str]) -> "KeyedRandom":
        return KeyedRandom(new_key()).named(names)


class _CipherStream(WordStream):
    def __init__(self, key: bytes, counter: bytes) -> None:
        super().__init__()
        self._encryptor = _encryptor(key, counter)

    def _more(self, count: int) -> bytes:
        return self._encryptor.update(bytes(count))


def _encryptor(key: bytes, counter: bytes | None = None) -> "CipherContext":
    """AES-256 in counter mode from this counter; without a counter, in ECB mode."""
    # Imported here: a device uses the system's randomness and needs no cipher.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    mode = modes.ECB() if counter is None else modes.CTR(counter)
    return Cipher(algorithms.AES256(key), mode).encryptor()


class KeyedRandom(RandomSource):
    """Randomness from a secret key of 32 bytes: only its holder can repeat it.

    For jobs that may be interrupted: perturbing the same trajectories again gives the same
    reports and uses no budget. Use each key for one set of trajectories only. For another
    day, use another key or bind the key to the day's name (`bound_to`); otherwise anyone who
    sees the reports of both days learns from comparing them. Raises `InvalidArgument`, a
    `ValueError`, for a key of another size.

    >>> import nomadp
    >>> keyed = nomadp.KeyedRandom(bytes(range(32)))
    >>> keyed.bound_to("day 1").stream(0).next() == keyed.bound_to("day 1").stream(0).next()
    True
    >>> keyed.bound_to("day 1").stream(0).next() == keyed.bound_to("day 2").stream(0).next()
    False
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != _KEY_BYTES:
            raise InvalidArgument(
                f"key must have {_KEY_BYTES} bytes, got {len(key)}",
                code="key_length_invalid",
                length=len(key),
                expected=_KEY_BYTES,
            )
        self._key = key

    def stream(self, index: int) -> WordStream:
        return _CipherStream(self._key, self._first_blocks(np.array([index])).tobytes())

    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        # The counter blocks of all streams, encrypted in one call: the same words as `stream`.
        blocks = np.empty((len(indices), (width + 1) // 2, 2), dtype=">u8")
        blocks[...] = self._first_blocks(indices)[:, None]
        blocks[..., 1] += np.arange(blocks.shape[1], dtype=np.uint64)
        encryptor = _encryptor(self._key)
        stream = np.frombuffer(encryptor.update(blocks.tobytes()), dtype="<u8")
        return stream.astype(np.uint64).reshape(len(indices), -1)[:, :width]

    def _first_blocks(self, indices: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The first counter block of each stream, as two words.

        The upper word is the trajectory's number and the lower word counts blocks, so streams
        of different trajectories never share a block of the cipher.
        """
        firsts = np.zeros((len(indices), 2), dtype=">u8")
        firsts[:, 0] = indices
        return firsts

    def bound_to(self, purpose: str) -> "KeyedRandom":
        # HMAC as a pseudorandom function: keys of different purposes look independent, and none
        # of them reveals this key.
        bound = KeyedRandom(hmac.digest(self._key, purpose.encode(), "sha256"))
        bound.simulated = self.simulated
        return bound

    def named(self, names: Sequence[str]) -> "KeyedRandom":
        return _NamedRandom(self, names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(key withheld)"


class _NamedRandom(KeyedRandom):
    """Streams whose first counter block is derived from a name instead of a number."""

    def __init__(self, source: KeyedRandom, names: Sequence[str]) -> None:
        super().__init__(source._key)
        self.simulated, self._source, self._names = source.simulated, source, names
        check_names(names)
        hashed = b"".join(
            hashlib.blake2b(name.encode(), digest_size=12).digest() + bytes(4) for name in names
        )
        # 95 bits of the name's hash and 32 bits to count blocks. The highest bit of the lower
        # word is set, which no numbered stream reaches: the two kinds never overlap. Two of n
        # names share a stream with probability below n^2 / 2^96 (birthday bound).
        self._starts = np.frombuffer(hashed, dtype=">u8").reshape(-1, 2).copy()
        self._starts[:, 1] |= np.uint64(1 << 63)

    def _first_blocks(self, indices: NDArray[np.int64]) -> NDArray[np.uint64]:
        return self._starts[indices]

    def bound_to(self, purpose: str) -> KeyedRandom:
        return self._source.bound_to(purpose).named(self._names)


class SeededRandom(KeyedRandom):
    """Randomness that anyone who knows the seed can repeat: for experiments, never for people.

    Reports drawn with it have their own type (`SimulatedReport`), and nothing that sends or
    stores people's reports accepts them. ``seed`` is any integer.

    >>> import nomadp
    >>> nomadp.SeededRandom(7).stream(0).next() == nomadp.SeededRandom(7).stream(0).next()
    True
    >>> nomadp.SeededRandom(7).simulated
    True
    """

    simulated = True

    def __init__(self, seed: int) -> None:
        self.seed = operator.index(seed)
        super().__init__(hashlib.sha256(b"nomadp simulated words v1:%d" % self.seed).digest())

    def __repr__(self) -> str:
        return f"SeededRandom({self.seed})"


def check_names(names: Sequence[str]) -> None:
    """Refuse repeated names, such as trajectory ids, without showing any of them."""
    if repeated := len(names) - len({*names}):
        raise SchemaError(
            "every tid must name one trajectory, because two with one tid would share random "
            f"words, got {repeated} repeated of {len(names)}; number the trajectories",
            code="tid_repeated",
            repeated=repeated,
            rows=len(names),
        )


def new_key() -> bytes:
    """A new secret key, from the system's randomness."""
    return _system_bytes(_KEY_BYTES)


def _system_bytes(count: int) -> bytes:
    try:
        block = os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise RandomnessUnavailable(
            "the system's randomness must be available to perturb anything, got an error from "
            "the system; nothing was released",
            code="randomness_failed",
        ) from error
    if len(block) != count:
        raise RandomnessUnavailable(
            f"the system's randomness must return {count} bytes, got {len(block)}; "
            "nothing was released",
            code="randomness_incomplete",
            expected=count,
            length=len(block),
        )
    return block
