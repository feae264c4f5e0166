"""Rows of words from which every trajectory takes its own, and proposals made of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Booleans, Words, below, weights

__all__ = ["Domain", "Near", "Rows", "draw_near"]

_PROPOSALS = 2**12  # looked at together: where few trajectories are left, several of each
_TRIES_MAX = 32


class Rows:
    """One row of words for each trajectory, and how many of it were taken."""

    def __init__(self, words: Words) -> None:
        self._width = words.shape[1]
        # One more word, zero, stands for all that a row lacks.
        self._words = np.concatenate([words, np.zeros((len(words), 1), np.uint64)], axis=1)
        self.used = np.zeros(len(words), dtype=np.int64)

    def ahead(self, which: Ints, steps: Ints) -> Words:
        """The words so many steps ahead in these rows; nothing is taken."""
        at = np.minimum(self.used[which] + steps, self._width)
        return np.asarray(self._words[which, at])

    def take(self, which: Ints) -> Words:
        """The next word of each of these rows, of which no two are the same."""
        taken = self.ahead(which, np.zeros(1, dtype=np.int64))
        self.used[which] += 1
        return taken

    def lack(self, which: Ints, steps: Ints) -> Booleans:
        """Whether the word so many steps ahead is missing."""
        return np.asarray(self.used[which] + steps >= self._width)

    def last(self, which: Ints) -> Booleans:
        """Whether no word of these rows was missing so far."""
        return np.asarray(self.used[which] <= self._width)


class Domain(NamedTuple):
    """Possible locations of each draw: a run of ``members``."""

    members: Ints | NDArray[np.int32]
    start: Ints
    size: Ints


class Near(NamedTuple):
    """The exponential law of each draw: around which location, and how it falls."""

    place: Ints
    scale: Floats
    offset_km: Floats
    ceiling: Ints

    def some(self, some: Ints) -> "Near":
        """Those of some draws."""
        place, scale, offset_km, ceiling = self
        return Near(place[some], scale[some], offset_km[some], ceiling[some])


def draw_near(rows: Rows, which: Ints, near: Near, domain: Domain, distance_km: Floats) -> Ints:
    """One location for each of these rows: proposed uniformly, then accepted or not."""
    drawn = np.empty(len(which), dtype=np.int64)
    pending = np.arange(len(which))
    while len(pending):
        tries = min(max(_PROPOSALS // len(pending), 1), _TRIES_MAX)
        row, step = which[pending, None], 2 * np.arange(tries)
        place, ceiling = near.place[pending, None], near.ceiling[pending, None]
        scale, offset_km = near.scale[pending, None], near.offset_km[pending, None]
        rank = below(rows.ahead(row, step), domain.size[pending, None])
        proposed = domain.members[domain.start[pending, None] + rank]
        apart_km = distance_km[place, proposed] - offset_km
        # A missing word is zero, below every weight: a row that has run out takes what it has.
        accepted = below(rows.ahead(row, step + 1), ceiling) < weights(apart_km, scale, ceiling)
        first, found = accepted.argmax(axis=1), accepted.any(axis=1)
        rows.used[which[pending]] += 2 * np.where(found, first + 1, tries)
        drawn[pending[found]] = proposed[found, first[found]]
        pending = pending[~found]
    return drawn
