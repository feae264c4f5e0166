"""Walk what a mechanism makes of released values, for all cases at once.

Nothing here is secret any more, so a draw may depend on whatever was released: every case,
which is one combination of released values, has its own law.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.drawing import Choose, Task
from nomadp.laws import Channel, probabilities

__all__ = ["Finishing", "finished"]

Floats = NDArray[np.float64]


class Finishing:
    """A Choose that follows ``path`` and, beyond its end, always takes the first branch."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path = path
        self.branches: list[tuple[int, ...]] = []
        self.chance: Floats = np.ones(1)
        """Of this path in each case, or in all: 0 where a case cannot take it."""
        self._taken: tuple[int, ...] = ()

    def __call__(self, step: str, channel: Channel, secret: Any) -> int:
        law = np.atleast_2d(probabilities(channel, secret))
        possible = np.flatnonzero(law.any(axis=0))
        if len(self._taken) < len(self.path):
            here = self.path[len(self._taken)]
        else:
            here = 0
            self.branches.extend((*self._taken, k) for k in range(1, len(possible)))
        self._taken = (*self._taken, here)
        self.chance = self.chance * law[:, possible[here]]
        return int(channel.outputs[possible[here]])

    def each(self, tasks: Sequence[Task[Any]]) -> list[Any]:
        return [program(released, self) for program, released in tasks]


def finished(
    finish: Callable[[Sequence[Any], Choose], tuple[Any, ...]], released: Sequence[Any]
) -> Iterator[tuple[tuple[Any, ...], Floats]]:
    """Everything that may be reported, with its chance in each case."""
    pending: list[tuple[int, ...]] = [()]
    while pending:
        path = Finishing(pending.pop())
        yield finish(released, path), path.chance
        pending.extend(path.branches)
