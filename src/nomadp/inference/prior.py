"""The prior of trajectories: a log-linear model of the places they visit and of step lengths.

The log-popularity of a location is a sum over the cells of several grids that contain it and
the location itself. So a few thousand reports shift whole districts, and only many reports
shift a single location. One prior serves trajectories of every length, and can be fitted to
reports of several mechanisms and epsilons together (`empirical_bayes.py`).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.unit_square import UnitSquare

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Features", "Prior", "softmax", "table_of"]

GRIDS = (3, 6, 12, 24)
STEP_BINS = 8
"""Bins of step lengths; each bin ends at half the distance of the next."""
_SUPPORTS = 16  # supports whose feature tables are cached
_SAMPLES = 4096  # random trajectories that estimate step lengths between uniform locations


@dataclass(frozen=True, eq=False)
class Features:
    """The features of trajectories: cells they visit, and bins of their step lengths."""

    locations: LocationSet
    _tables: list[tuple[Ints, "FeatureTable"]] = field(
        default_factory=list, init=False, repr=False
    )

    @cached_property
    def levels(self) -> Ints:
        """The cell of each location on each level, (levels, m); no two levels share numbers."""
        square, rows, before = UnitSquare(self.locations), [], 0
        for grid in GRIDS:
            rows.append(before + square.cells(grid))
            before += grid**2
        rows.append(before + np.arange(len(self.locations)))
        return np.stack(rows)

    @property
    def first_step(self) -> int:
        return int(self.levels[-1, -1]) + 1

    def __len__(self) -> int:
        return self.first_step + 2 * STEP_BINS

    def table(self, support: Ints) -> "FeatureTable":
        """How often each trajectory (row) has each feature (column); cached by support."""
        # By identity, because comparing the contents of large supports is slow.
        cached = next((table for key, table in self._tables if key is support), None)
        if cached is None:
            columns = np.concatenate([support, len(self.locations) + self._steps(support)], 1)
            cached = FeatureTable(self, table_of(columns, len(self.locations) + 2 * STEP_BINS))
            self._tables.append((support, cached))
            del self._tables[:-_SUPPORTS]
        return cached

    def location_sums(self, scores: Floats) -> Floats:
        """The sum of scores of each location over all levels, then the scores of step bins."""
        return np.concatenate([scores[self.levels].sum(axis=0), scores[self.first_step :]])

    def to_features(self, sums: Floats) -> Floats:
        """The transpose of `location_sums`: from locations and step bins to features."""
        size, values = len(self.locations), np.zeros(len(self))
        for level in self.levels:
            values += np.bincount(level, sums[:size], len(self))
        values[self.first_step :] += sums[size:]
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        return Features, (self.locations,)  # without the cached tables

    def uniform_counts(self, support: Ints) -> Floats:
        """The expected features of a trajectory of independent, uniform points."""
        visited, length = np.unique(support), support.shape[1]
        count = np.zeros(len(self))
        for level in self.levels:
            np.add.at(count, level[visited], length / len(visited))
        rng = np.random.default_rng(0)  # public; a Monte Carlo estimate of step lengths
        steps = self._steps(visited[rng.integers(0, len(visited), (_SAMPLES, length))])
        np.add.at(count, self.first_step + steps, 1 / _SAMPLES)
        return count

    def centred(self, scores: Floats) -> Floats:
        """Scores with mean 0 on every level, under which the odds of trajectories are the same.

        So a place that no possible trajectory visits, whose score was never fitted, is average.
        """
        values = scores.copy()
        for level in self.levels:
            cells = np.unique(level)
            fitted = cells[scores[cells] != 0]
            if len(fitted):
                values[fitted] -= scores[fitted].mean()
        return values

    def _steps(self, support: Ints) -> Ints:
        """The bin of each step, then the bin of the mean step, as people differ in scale."""
        if support.shape[1] == 1:
            return np.zeros((len(support), 0), dtype=np.int64)
        km = self.locations.distances_between_km(support[:, :-1], support[:, 1:])
        edges = self.locations.diameter_km * 2.0 ** np.arange(1 - STEP_BINS, 0)
        step_bins = np.searchsorted(edges, km, side="right")
        mean = np.searchsorted(edges, km.mean(axis=1, keepdims=True), side="right")
        return np.concatenate([step_bins, STEP_BINS + mean], axis=1)


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The feature counts of trajectories, factored: visits of locations, and their cells."""

    features: Features
    visits: "csr_array[Any]"
    """How often each trajectory visits each location, then how often it has each step bin."""

    def __matmul__(self, scores: Floats) -> Floats:
        values: Floats = self.visits @ self.features.location_sums(scores)
        return values

    @cached_property
    def T(self) -> "TransposedTable":
        from scipy.sparse import csr_array  # slow to import

        return TransposedTable(self.features, csr_array(self.visits.T))


@dataclass(frozen=True, eq=False)
class TransposedTable:
    """The transpose: feature counts of weighted trajectories."""

    features: Features
    visitors: "csr_array[Any]"

    def __matmul__(self, weights: Floats) -> Floats:
        return self.features.to_features(self.visitors @ weights)


def table_of(columns: Ints, size: int) -> "csr_array[Any]":
    """A sparse table that counts, in each row, the columns named in that row of ``columns``."""
    from scipy.sparse import csr_array  # slow to import

    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    entries = (np.ones(columns.size), (rows, columns.reshape(-1)))
    return csr_array(entries, shape=(len(columns), size))


@dataclass(frozen=True, eq=False)
class Prior:
    """A prior probability of trajectories, relative to public random walks of the same length.

    `fit_prior` returns it, and `decode` uses it. ``location_weights()`` are the probabilities
    of single locations. ``effect_std`` is the fitted standard deviation of popularity effects,
    or None if no effect was significant. ``converged`` says whether the fit converged.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=20)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon="0.1")
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> print(nomadp.fit_prior(brr, reports).effect_std)
    None
    """

    features: Features
    """The features of trajectories: the cells that they visit, and their step lengths."""
    scores: Floats = field(repr=False)
    """The log-odds of every feature."""
    history: tuple[float, ...] = ()
    """The penalised log-likelihood per report, at the start and after each iteration."""
    converged: bool = True
    """False if the optimiser reached its limit of iterations."""
    effect_std: float | None = None
    """The standard deviation of the popularity effects of cells, in log-odds; None if held-out
    reports gave no evidence for any effect, so that the prior is a public one."""

    def weights(self, support: Ints) -> Floats:
        """The probability of each trajectory (a row of location indices); they add up to 1."""
        return softmax(self.features.table(support) @ self.scores)

    @property
    def is_public(self) -> bool:
        """Whether all public random walks are equally likely: nothing was fitted."""
        return not self.scores.any()

    def location_weights(self) -> Floats:
        """The probability of each location, as a trajectory of one point."""
        return self.weights(np.arange(len(self.features.locations))[:, None])


def softmax(log_odds: Floats) -> Floats:
    # Subtracting the maximum changes nothing but prevents overflow.
    weight: Floats = np.exp(log_odds - log_odds.max())
    weight /= weight.sum()
    return weight
