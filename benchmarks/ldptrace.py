"""LDPTrace (Du, Hu, Zhang, Fang, Chen, Zheng and Gao, PVLDB 16(8), 2023), for comparison.

From the paper and its authors' program: a grid of 6 by 6; a journey is the row of neighbouring
cells it passes; a tenth of epsilon for its length, told by OUE, of which the .9 quantile L is
taken; the rest in L + 1 equal parts for the start, the end and up to L - 1 steps to one of 8
neighbours, each told by OUE; journeys are walked anew from these counts, and an end is held
back on the first cells. Decided here: two points are joined by a straight row of cells, so a
length is at most a side; who has fewer steps says so (no bit is true), or the number of reports
would tell the length; a cell becomes one of its public locations or the nearest one.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from answers_peers import projected
from numpy.random import Generator

from nomadp.locations import LocationSet
from nomadp.unit_square import UnitSquare

__all__ = ["LdpTrace", "Paths"]

LENGTH_SHARE = 0.1
QUANTILE = 0.9
NEIGHBOURS = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]
EARLY_ENDS, MORE_EACH = 0.3, 0.2
"""How much an end counts on the first cell, and how much more on each next."""
Ints = Any
Floats = Any


@dataclass(frozen=True, eq=False)
class Paths:
    """The rows of cells of some journeys, padded by repeating the last one."""

    grid: int
    cells: Ints  # (journeys, grid)
    lengths: Ints

    @classmethod
    def of(cls, locations: LocationSet, journeys: Ints, grid: int) -> "Paths":
        """Straight from the cell of the first location to that of the last."""
        cell = UnitSquare(locations).cells(grid)[journeys[:, [0, -1]]]
        row, column = np.divmod(cell, grid)
        steps = np.maximum(np.abs(np.diff(row)), np.abs(np.diff(column)))[:, 0]
        along = np.minimum(np.arange(grid), steps[:, None])
        share = along / np.maximum(steps, 1)[:, None]
        rows = np.rint(row[:, :1] + share * np.diff(row)).astype(np.int64)
        columns = np.rint(column[:, :1] + share * np.diff(column)).astype(np.int64)
        return cls(grid, rows * grid + columns, steps + 1)


@dataclass(frozen=True, eq=False)
class LdpTrace:
    """What the counts of people's rows of cells say, and journeys walked by it."""

    starts: Floats  # (cells,)
    lengths: Floats  # (longest,): a row of 1 cell, of 2, ...
    steps: Floats  # (cells, 8)
    ends: Floats  # (cells,)
    grid: int

    @classmethod
    def learned(cls, paths: Paths, people: Ints, epsilon: float, rng: Generator) -> "LdpTrace":
        """From so many people on each of the paths, at the cost of ``epsilon`` for each."""
        cells, total = paths.grid**2, int(people.sum())
        counts = np.bincount(paths.lengths - 1, weights=people, minlength=paths.grid)
        found = np.maximum(_told(counts, total, LENGTH_SHARE * epsilon, rng), 0.0)
        lengths = found / found.sum()
        longest = 1 + int(np.searchsorted(np.cumsum(lengths), QUANTILE))
        share = (1 - LENGTH_SHARE) * epsilon / (longest + 1)
        told = np.minimum(paths.lengths, longest)
        ends = paths.cells[np.arange(len(told)), told - 1]
        first, last = (
            _told(np.bincount(at, weights=people, minlength=cells), total, share, rng)
            for at in (paths.cells[:, 0], ends)
        )
        steps = np.zeros(8 * cells)
        for k in range(longest - 1):
            going = np.flatnonzero(told > k + 1)
            step = _steps(paths, going, k)
            counts = np.bincount(step, weights=people[going], minlength=8 * cells)
            steps += _told(counts, total, share, rng)
        return cls(
            projected(first / total),
            lengths,
            np.maximum(steps, 0.0).reshape(cells, 8),
            np.maximum(last, 0.0),
            paths.grid,
        )

    def journeys(self, locations: LocationSet, count: int, rng: Generator) -> Ints:
        """First and last locations of new journeys, (count, 2)."""
        return np.column_stack(
            [_somewhere(locations, cells, self.grid, rng) for cells in self.trips(count, rng)]
        )

    def trips(self, count: int, rng: Generator) -> tuple[Ints, Ints]:
        """First and last cells of new journeys."""
        first = rng.choice(len(self.starts), count, p=self.starts)
        left = rng.choice(len(self.lengths), count, p=self.lengths)
        here = first.copy()
        for k in range(int(left.max())):
            walking = np.flatnonzero(left > k)
            chosen = self._chosen(here[walking], k, rng)
            left[walking[chosen == 8]] = 0
            moving = walking[chosen < 8]
            here[moving] = self._after[here[moving], chosen[chosen < 8]]
        return first, here

    def _chosen(self, here: Ints, k: int, rng: Generator) -> Ints:
        """Which of the 8 steps each takes; 8 is to end."""
        ending = self.ends[here] * min(1.0, EARLY_ENDS + MORE_EACH * k)
        weights = np.where(self._after >= 0, self.steps, 0.0)[here]
        cumulative = np.cumsum(np.column_stack([weights, ending]), axis=1)
        drawn = rng.random(len(here)) * cumulative[:, -1]
        chosen = (cumulative <= drawn[:, None]).sum(axis=1)
        return np.where(cumulative[:, -1] > 0, np.minimum(chosen, 8), 8)

    @cached_property
    def _after(self) -> Ints:
        """Where each step leads from each cell; -1 is out of the grid."""
        row, column = np.divmod(np.arange(self.grid**2), self.grid)
        after = []
        for down, right in NEIGHBOURS:
            there = (row + down) * self.grid + column + right
            inside = (np.abs(2 * (row + down) + 1 - self.grid) < self.grid) & (
                np.abs(2 * (column + right) + 1 - self.grid) < self.grid
            )
            after.append(np.where(inside, there, -1))
        return np.stack(after, axis=1)


def _told(people: Floats, total: int, epsilon: float, rng: Generator) -> Floats:
    """How many have each label, by OUE; some may have none."""
    other = 1 / (math.exp(epsilon) + 1)
    count = people.astype(np.int64)
    support = rng.binomial(count, 0.5) + rng.binomial(total - count, other)
    return (support - total * other) / (0.5 - other)


def _steps(paths: Paths, going: Ints, k: int) -> Ints:
    """The label of the k-th step of these: its cell, and which of 8 neighbours is next."""
    here, there = paths.cells[going, k], paths.cells[going, k + 1]
    row, column = np.divmod(here, paths.grid)
    to_row, to_column = np.divmod(there, paths.grid)
    number = 3 * (to_row - row + 1) + (to_column - column + 1)  # 4 would be to stay
    return 8 * here + number - (number > 4)


def _somewhere(locations: LocationSet, cells: Ints, grid: int, rng: Generator) -> Ints:
    square = UnitSquare(locations)
    cell = square.cells(grid)
    order = np.argsort(cell, kind="stable")
    held = np.bincount(cell, minlength=grid**2)
    drawn = (np.cumsum(held) - held)[cells] + rng.random(len(cells)) * held[cells]
    row, column = np.divmod(np.arange(grid**2), grid)
    nearest = square.nearest(np.column_stack([column + 0.5, row + 0.5]) / grid)
    inside = order[np.minimum(drawn.astype(np.int64), len(order) - 1)]
    return np.where(held[cells] > 0, inside, nearest[cells])
