"""LDPTrace (Du, Hu, Zhang, Fang, Chen, Zheng and Gao, PVLDB 16(8), 2023), for comparison.

As in the paper and the authors' program: a 6 x 6 grid; a trajectory is a sequence of adjacent
cells. A tenth of epsilon reports its length with OUE, and L is the 0.9 quantile of the lengths.
The rest is divided into L + 1 equal parts, for the start, the end and up to L - 1 steps to one
of 8 neighbours, each reported with OUE. Trajectories are synthesized from these counts, and
ending is less likely in the first cells.

Differs from the paper: two points are joined by a straight sequence of cells, so a length is at
most the side of the grid. People with fewer steps report all-zero bits, otherwise the number of
reports would reveal the length. A cell becomes one of its public locations, or the nearest one.
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
"""The weight of ending in the first cell, and its increase with each further cell."""
Ints = Any
Floats = Any


@dataclass(frozen=True, eq=False)
class Paths:
    """The cell sequences of trips, padded by repeating the last cell."""

    grid: int
    cells: Ints  # (journeys, grid)
    lengths: Ints

    @classmethod
    def of(cls, locations: LocationSet, journeys: Ints, grid: int) -> "Paths":
        """Straight lines of cells from the first location to the last."""
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
    """The fitted model, which synthesizes trips."""

    starts: Floats  # (cells,)
    lengths: Floats  # (longest,): sequences of 1 cell, of 2, ...
    steps: Floats  # (cells, 8)
    ends: Floats  # (cells,)
    grid: int

    @classmethod
    def fit(cls, paths: Paths, people: Ints, epsilon: float, rng: Generator) -> "LdpTrace":
        """Fit the model to reports of people on each path; each person spends ``epsilon``."""
        cells, total = paths.grid**2, int(people.sum())
        counts = np.bincount(paths.lengths - 1, weights=people, minlength=paths.grid)
        estimate = np.maximum(_oue_counts(counts, total, LENGTH_SHARE * epsilon, rng), 0.0)
        lengths = estimate / estimate.sum()
        longest = 1 + int(np.searchsorted(np.cumsum(lengths), QUANTILE))
        share = (1 - LENGTH_SHARE) * epsilon / (longest + 1)
        reported_lengths = np.minimum(paths.lengths, longest)
        ends = paths.cells[np.arange(len(reported_lengths)), reported_lengths - 1]
        first, last = (
            _oue_counts(
                np.bincount(endpoint, weights=people, minlength=cells), total, share, rng
            )
            for endpoint in (paths.cells[:, 0], ends)
        )
        steps = np.zeros(8 * cells)
        for k in range(longest - 1):
            active = np.flatnonzero(reported_lengths > k + 1)
            step = _steps(paths, active, k)
            counts = np.bincount(step, weights=people[active], minlength=8 * cells)
            steps += _oue_counts(counts, total, share, rng)
        return cls(
            projected(first / total),
            lengths,
            np.maximum(steps, 0.0).reshape(cells, 8),
            np.maximum(last, 0.0),
            paths.grid,
        )

    def journeys(self, locations: LocationSet, count: int, rng: Generator) -> Ints:
        """First and last locations of synthesized trips, (count, 2)."""
        return np.column_stack(
            [
                _random_location(locations, cells, self.grid, rng)
                for cells in self.trips(count, rng)
            ]
        )

    def trips(self, count: int, rng: Generator) -> tuple[Ints, Ints]:
        """First and last cells of synthesized trips."""
        first = rng.choice(len(self.starts), count, p=self.starts)
        remaining = rng.choice(len(self.lengths), count, p=self.lengths)
        cell = first.copy()
        for k in range(int(remaining.max())):
            active = np.flatnonzero(remaining > k)
            step = self._chosen(cell[active], k, rng)
            remaining[active[step == 8]] = 0
            moving = active[step < 8]
            cell[moving] = self._after[cell[moving], step[step < 8]]
        return first, cell

    def _chosen(self, cell: Ints, k: int, rng: Generator) -> Ints:
        """Draw one of the 8 steps for each cell; 8 means to end."""
        ending = self.ends[cell] * min(1.0, EARLY_ENDS + MORE_EACH * k)
        weights = np.where(self._after >= 0, self.steps, 0.0)[cell]
        cumulative = np.cumsum(np.column_stack([weights, ending]), axis=1)
        drawn = rng.random(len(cell)) * cumulative[:, -1]
        chosen = (cumulative <= drawn[:, None]).sum(axis=1)
        return np.where(cumulative[:, -1] > 0, np.minimum(chosen, 8), 8)

    @cached_property
    def _after(self) -> Ints:
        """The cell after each step from each cell; -1 is outside of the grid."""
        row, column = np.divmod(np.arange(self.grid**2), self.grid)
        after = []
        for down, right in NEIGHBOURS:
            target = (row + down) * self.grid + column + right
            inside = (np.abs(2 * (row + down) + 1 - self.grid) < self.grid) & (
                np.abs(2 * (column + right) + 1 - self.grid) < self.grid
            )
            after.append(np.where(inside, target, -1))
        return np.stack(after, axis=1)


def _oue_counts(people: Floats, total: int, epsilon: float, rng: Generator) -> Floats:
    """Unbiased OUE estimates of the number of people with each label, or with none."""
    other = 1 / (math.exp(epsilon) + 1)
    count = people.astype(np.int64)
    support = rng.binomial(count, 0.5) + rng.binomial(total - count, other)
    return (support - total * other) / (0.5 - other)


def _steps(paths: Paths, active: Ints, k: int) -> Ints:
    """The label of the k-th step of these paths: its cell and the next of 8 neighbours."""
    cell, target = paths.cells[active, k], paths.cells[active, k + 1]
    row, column = np.divmod(cell, paths.grid)
    to_row, to_column = np.divmod(target, paths.grid)
    number = 3 * (to_row - row + 1) + (to_column - column + 1)  # 4 would mean to stay
    return 8 * cell + number - (number > 4)


def _random_location(locations: LocationSet, cells: Ints, grid: int, rng: Generator) -> Ints:
    square = UnitSquare(locations)
    cell = square.cells(grid)
    order = np.argsort(cell, kind="stable")
    counts = np.bincount(cell, minlength=grid**2)
    drawn = (np.cumsum(counts) - counts)[cells] + rng.random(len(cells)) * counts[cells]
    row, column = np.divmod(np.arange(grid**2), grid)
    nearest = square.nearest(np.column_stack([column + 0.5, row + 0.5]) / grid)
    inside = order[np.minimum(drawn.astype(np.int64), len(order) - 1)]
    return np.where(counts[cells] > 0, inside, nearest[cells])
