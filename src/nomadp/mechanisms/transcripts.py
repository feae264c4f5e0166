"""Transcripts: all values that the steps of a program released; they are as public as reports.

For mechanisms whose reports contain only a part of what was released (TP, ATP), the transcript
is more informative. It uses no further budget: epsilon bounds the loss of all released values.
"""

from dataclasses import dataclass

from nomadp.drawing import Drawing
from nomadp.laws import Channel, Ints, Secret
from nomadp.mechanisms.base import Mechanism
from nomadp.randomness import WordStream

__all__ = ["Transcript", "report_with_transcript"]


@dataclass(frozen=True)
class Transcript:
    """Every value released for one trajectory, in the order of the program."""

    length: int
    released: tuple[int, ...]


class _Recording(Drawing):
    def __init__(self, words: WordStream) -> None:
        super().__init__(words)
        self.released: list[int] = []

    def __call__(self, step: str, channel: Channel, secret: Secret) -> int:
        self.released.append(super().__call__(step, channel, secret))
        return self.released[-1]


def report_with_transcript(
    mechanism: Mechanism, trajectory: Ints, words: WordStream
) -> tuple[tuple[int, ...], int | None, Transcript]:
    """Draw one report with the reference program, and record every value it releases."""
    choose = _Recording(words)
    released = choose.each(mechanism.parts(trajectory))
    transcript = Transcript(len(trajectory), tuple(choose.released))
    number = mechanism.report_number(released)
    return mechanism.finish(released, choose), number, transcript
