"""One word, one draw: how a released value is drawn from a channel's exact law.

Inverse transform sampling in integers: word w picks the cell that contains
floor(w * total / 2^64) among the cumulative weights. Laws over labels take several words
(laws/labels.py). There is no rejection loop, so the number of words of a report never depends
on the secret (fast paths do reject, see mechanisms/fast). The 64 bits of a word change an
output's probability by less than 2^-64.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from nomadp.laws import Channel, Ints, Secret
from nomadp.laws.channel import high_product
from nomadp.randomness import WordStream

__all__ = ["Choose", "Drawing", "Part", "draw", "draw_many", "high_product"]

T = TypeVar("T")
Program = Callable[[Any, "Choose"], T]
Part = tuple[Program[T], Any]
"""A program and the secret that it reads."""


class Choose(Protocol):
    """How a program makes random choices: the client draws one, the auditor tries them all."""

    def __call__(self, step: str, channel: Channel, secret: Secret) -> int:
        """A value released by ``channel`` for ``secret``; ``step`` is its name in the split."""
        ...

    def each(self, parts: Sequence[Part[T]]) -> list[T]:
        """Run programs that are independent, given everything released so far."""
        ...


class Drawing:
    """A `Choose` that draws at random: the only one that ever releases anything."""

    def __init__(self, words: WordStream) -> None:
        self._words = words

    def __call__(self, step: str, channel: Channel, secret: Secret) -> int:
        return channel.draw(secret, self._words.next)

    def each(self, parts: Sequence[Part[T]]) -> list[T]:
        return [program(secret, self) for program, secret in parts]

    def uniform(self) -> float:
        """The midpoint of one of 2^52 cells of (0, 1), for continuous laws.

        Only this `Choose` has it: draws from floats cannot be enumerated.
        """
        # The upper 52 bits and the half fit a double exactly, so the number is never 0 or 1.
        return ((self._words.next() >> 12) + 0.5) * 2.0**-52


def draw(channel: Channel, secret: Secret, word: int) -> int:
    """The output that one uniform 64-bit word picks, for a channel that takes one word."""
    return channel.draw(secret, iter([word]).__next__)


def draw_many(channel: Channel, secret: Secret, words: NDArray[np.uint64]) -> Ints:
    """The same as `draw` for many words and one secret, bit for bit."""
    cumulative = np.cumsum(channel.weights(secret))
    # Targets are below the total, so there always is a cumulative weight above the target.
    target = high_product(words, int(cumulative[-1]))
    return channel.outputs[cumulative.searchsorted(target, side="right")]
