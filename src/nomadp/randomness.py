"""Where 64-bit random words come from.

Every random choice of a mechanism consumes exactly one uniform word. A source hands out
one stream of words per trajectory, so a result does not depend on the order or the number
of cores in which trajectories are perturbed. Only `SeededWords` can be repeated by
somebody else; it says so (`simulated`), and its outputs are for experiments.
"""

import hashlib
import hmac
import os
from abc import ABC, abstractmethod

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from nomadp.errors import RandomnessUnavailable

__all__ = ["KeyedWords", "SeededWords", "SystemWords", "WordStream", "Words", "words_for"]

_WORD_BYTES = 8
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


class Words(ABC):
    """A source of word streams, one for each trajectory."""

    simulated: bool = False
    """True when somebody who knows a seed can repeat the words: then nothing is private."""

    @abstractmethod
    def stream(self, index: int) -> WordStream:
        """The words of trajectory number ``index``, always from their beginning."""

    @abstractmethod
    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        """The first ``width`` words of each of these streams, for bulk work."""

    def bound_to(self, purpose: str) -> "Words":
        """A source of its own for one purpose: no words may ever serve two mechanisms."""
        return self


class _SystemStream(WordStream):
    def _more(self, count: int) -> bytes:
        return _system_bytes(count)


class SystemWords(Words):
    """The operating system's randomness, fresh at every call: what a client uses."""

    def stream(self, index: int) -> WordStream:
        return _SystemStream()

    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        # Asked again for more, the rows must begin with the same words: that takes a key.
        raise TypeError("bulk work needs words it can ask for again; use KeyedWords()")


class _CipherStream(WordStream):
    def __init__(self, key: bytes, index: int) -> None:
        super().__init__()
        # The upper half of the counter block is the trajectory, the lower half counts blocks:
        # streams of different trajectories never share a block of the cipher.
        counter = index.to_bytes(8, "big") + bytes(8)
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(counter)).encryptor()

    def _more(self, count: int) -> bytes:
        return self._encryptor.update(bytes(count))


class KeyedWords(Words):
    """AES-256-CTR under a secret key: bulk work, and the same words again after a restart."""

    def __init__(self, key: bytes | None = None) -> None:
        key = _system_bytes(32) if key is None else key
        if len(key) != 32:
            raise ValueError(f"key must have 32 bytes, got {len(key)}")
        self._key = key

    def stream(self, index: int) -> WordStream:
        return _CipherStream(self._key, index)

    def rows(self, indices: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        # The counter mode's blocks, encrypted all at once: the words that `stream` gives.
        blocks = np.empty((len(indices), (width + 1) // 2, 2), dtype=">u8")
        blocks[..., 0] = indices[:, None]
        blocks[..., 1] = np.arange(blocks.shape[1])
        encryptor = Cipher(algorithms.AES256(self._key), modes.ECB()).encryptor()
        stream = np.frombuffer(encryptor.update(blocks.tobytes()), dtype="<u8")
        return stream.astype(np.uint64).reshape(len(indices), -1)[:, :width]

    def bound_to(self, purpose: str) -> Words:
        bound = KeyedWords(hmac.digest(self._key, purpose.encode(), "sha256"))
        bound.simulated = self.simulated
        return bound

    def __repr__(self) -> str:
        return f"{type(self).__name__}(key withheld)"


class SeededWords(KeyedWords):
    """Words anybody can repeat from a seed: for experiments and tests, never for people."""

    simulated = True

    def __init__(self, seed: int) -> None:
        self.seed = seed
        super().__init__(hashlib.sha256(b"nomadp simulated words v1:%d" % seed).digest())

    def __repr__(self) -> str:
        return f"SeededWords({self.seed})"


def words_for(seed: int | None) -> Words:
    """System randomness by default; a seed only when the caller names one."""
    return KeyedWords() if seed is None else SeededWords(seed)


def _system_bytes(count: int) -> bytes:
    try:
        block = os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise RandomnessUnavailable(
            "the system's randomness must be available to perturb anything, and it failed; "
            "nothing was released"
        ) from error
    if len(block) != count:
        raise RandomnessUnavailable(
            f"the system's randomness must give {count} bytes, it gave {len(block)}; "
            "nothing was released"
        )
    return block
