"""Where 64-bit random words come from: the system, a secret key, or a seed anybody may know.

Every random choice of a mechanism consumes a public number of uniform words, mostly one. A
source hands out one stream of words per trajectory, so a result does not depend on the order or
the number of cores in which trajectories are perturbed. Two reports drawn with the same words
tell about each other: `SystemRandom` never gives any twice, and is what people's trajectories
are drawn with.
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
_BLOCK_WORDS = 64  # enough for most trajectories; the rest of a block is thrown away


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
        """The next ``count`` words at once: the same ones `next` would give."""
        ready = self._block[self._used : self._used + count * _WORD_BYTES]
        self._used += len(ready)
        missing = count * _WORD_BYTES - len(ready)
        block = ready + self._more(missing) if missing else ready
        return np.frombuffer(block, dtype="<u8").astype(np.uint64)


class RandomSource(ABC):
    """A source of word streams, one for each trajectory."""

    simulated: bool = False
    """True when somebody who knows a seed can repeat the words: then nothing is private."""

    @abstractmethod
    def stream(self, index: int) -> WordStream:
        """The words of trajectory number ``index``, always from their beginning."""

    @abstractmethod
    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        """The first ``width`` words of each of these streams, for bulk work."""

    @abstractmethod
    def bound_to(self, purpose: str) -> "KeyedRandom":
        """A source of its own for one purpose: no words may ever serve two mechanisms."""

    @abstractmethod
    def named(self, names: Sequence[str]) -> "KeyedRandom":
        """The same source, its streams told apart by name: stream k is that of ``names[k]``.

        Whoever perturbs the trajectory of a name again, in whatever order, batch or process,
        draws the same words and spends nothing. So a name must stand for one trajectory only:
        one that comes twice here is refused.
        """


class _SystemStream(WordStream):
    def _more(self, count: int) -> bytes:
        return _system_bytes(count)


class SystemRandom(RandomSource):
    """Fresh randomness of the operating system at every use: for people's trajectories.

    `perturb_set` takes it when it is given no words. Every call draws under a new key, so one
    source may serve any number of days: no two reports ever share their words. Raises
    `RandomnessUnavailable` where the system has none; nothing is released then.

    >>> import nomadp
    >>> fresh = nomadp.SystemRandom()
    >>> fresh.bound_to("day 1").stream(0).next() == fresh.bound_to("day 1").stream(0).next()
    False
    """

    def stream(self, index: int) -> WordStream:
        return _SystemStream()

    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        # Asked again for more, the rows must begin with the same words: that takes a key.
        raise WrongType(
            "bulk work needs words it can ask for again; bind SystemRandom first",
            code="words_not_bound",
        )

    def bound_to(self, purpose: str) -> "KeyedRandom":
        """Words under a new key, which nothing but the result holds."""
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
    """AES-256 that counts from there, or that takes blocks as they are."""
    # Imported here: a device, whose words are the system's, needs no cipher.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    mode = modes.ECB() if counter is None else modes.CTR(counter)
    return Cipher(algorithms.AES256(key), mode).encryptor()


class KeyedRandom(RandomSource):
    """Words of a secret key of 32 bytes: repeatable by its holder, and by nobody else.

    For jobs that may be interrupted: perturbing the same trajectories again gives the same
    reports and spends nothing. So one key is for one set of trajectories; another day takes
    another key, or a name for each day (`bound_to`), else who sees both days' reports learns
    from them. Raises `ValueError` for a key of another size.

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
        return _CipherStream(self._key, self._firsts(np.array([index])).tobytes())

    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        # The counter mode's blocks, encrypted all at once: the words that `stream` gives.
        blocks = np.empty((len(indices), (width + 1) // 2, 2), dtype=">u8")
        blocks[...] = self._firsts(indices)[:, None]
        blocks[..., 1] += np.arange(blocks.shape[1], dtype=np.uint64)
        encryptor = _encryptor(self._key)
        stream = np.frombuffer(encryptor.update(blocks.tobytes()), dtype="<u8")
        return stream.astype(np.uint64).reshape(len(indices), -1)[:, :width]

    def _firsts(self, indices: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The first counter block of each stream, as two words.

        The upper one is the trajectory, the lower one counts blocks: streams of different
        trajectories never share a block of the cipher.
        """
        firsts = np.zeros((len(indices), 2), dtype=">u8")
        firsts[:, 0] = indices
        return firsts

    def bound_to(self, purpose: str) -> "KeyedRandom":
        bound = KeyedRandom(hmac.digest(self._key, purpose.encode(), "sha256"))
        bound.simulated = self.simulated
        return bound

    def named(self, names: Sequence[str]) -> "KeyedRandom":
        return _NamedRandom(self, names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(key withheld)"


class _NamedRandom(KeyedRandom):
    """Streams that begin at a block made of a name instead of a number."""

    def __init__(self, source: KeyedRandom, names: Sequence[str]) -> None:
        super().__init__(source._key)
        self.simulated, self._source, self._names = source.simulated, source, names
        check_names(names)
        hashed = b"".join(
            hashlib.blake2b(name.encode(), digest_size=12).digest() + bytes(4) for name in names
        )
        # 95 bits of the name and 32 to count blocks. The highest bit of the lower word is set,
        # which no numbered stream reaches: the two kinds never meet.
        self._starts = np.frombuffer(hashed, dtype=">u8").reshape(-1, 2).copy()
        self._starts[:, 1] |= np.uint64(1 << 63)

    def _firsts(self, indices: NDArray[np.int64]) -> NDArray[np.uint64]:
        return self._starts[indices]

    def bound_to(self, purpose: str) -> KeyedRandom:
        return self._source.bound_to(purpose).named(self._names)


class SeededRandom(KeyedRandom):
    """Words that anybody who knows the seed can repeat: for experiments, never for people.

    What is drawn with them says so in its type (`SimulatedReport`), and nothing that sends or
    stores people's reports accepts it. ``seed`` is any whole number.

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
    """Refuse names, such as tids, of which one comes twice; none of them is shown."""
    if again := len(names) - len({*names}):
        raise SchemaError(
            "every tid must name one trajectory, as two of one tid would share their words, "
            f"got {again} repeated of {len(names)}; number the trajectories",
            code="tid_repeated",
            repeated=again,
            rows=len(names),
        )


def new_key() -> bytes:
    """A secret key of the system's randomness."""
    return _system_bytes(_KEY_BYTES)


def _system_bytes(count: int) -> bytes:
    try:
        block = os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise RandomnessUnavailable(
            "the system's randomness must be available to perturb anything, and it failed; "
            "nothing was released",
            code="randomness_failed",
        ) from error
    if len(block) != count:
        raise RandomnessUnavailable(
            f"the system's randomness must give {count} bytes, it gave {len(block)}; "
            "nothing was released",
            code="randomness_incomplete",
            expected=count,
            length=len(block),
        )
    return block
