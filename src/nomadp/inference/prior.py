"""How likely journeys are: the appeal of the locations they visit, and of their steps.

Appeal is a sum over cells of several grids and the location itself, so that a few thousand
reports shift whole districts and only many shift a single location. One prior serves every
length, and every mechanism and epsilon it is learned from together (`empirical_bayes.py`).
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
"""Steps are told apart by halvings of the largest distance."""
_SUPPORTS = 16  # whose features are kept
_JOURNEYS = 4096  # that tell how long steps are between uniform locations


@dataclass(frozen=True, eq=False)
class Features:
    """What makes a journey more or less likely: cells it visits, and lengths of its steps."""

    locations: LocationSet
    _known: list[tuple[Ints, "FeatureTable"]] = field(
        default_factory=list, init=False, repr=False
    )

    @cached_property
    def levels(self) -> Ints:
        """The cell of each location on each level, numbered through all, (levels, m)."""
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
        """How often each journey (row) has each feature (column); found once for a support."""
        kept = next((found for known, found in self._known if known is support), None)
        if kept is None:
            columns = np.concatenate([support, len(self.locations) + self._steps(support)], 1)
            kept = FeatureTable(self, table_of(columns, len(self.locations) + 2 * STEP_BINS))
            self._known.append((support, kept))
            del self._known[:-_SUPPORTS]
        return kept

    def gathered(self, scores: Floats) -> Floats:
        """What a location has on all levels together, and then the steps."""
        return np.concatenate([scores[self.levels].sum(axis=0), scores[self.first_step :]])

    def spread_out(self, sums: Floats) -> Floats:
        """What locations and steps have, as features: the other way round."""
        size, found = len(self.locations), np.zeros(len(self))
        for level in self.levels:
            found += np.bincount(level, sums[:size], len(self))
        found[self.first_step :] += sums[size:]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Features, (self.locations,)  # what was found is not sent along

    def uniform_counts(self, support: Ints) -> Floats:
        """What a journey is expected to have whose every location is uniform, of these."""
        visited, length = np.unique(support), support.shape[1]
        count = np.zeros(len(self))
        for level in self.levels:
            np.add.at(count, level[visited], length / len(visited))
        rng = np.random.default_rng(0)  # public, and only about lengths of steps
        steps = self._steps(visited[rng.integers(0, len(visited), (_JOURNEYS, length))])
        np.add.at(count, self.first_step + steps, 1 / _JOURNEYS)
        return count

    def centred(self, scores: Floats) -> Floats:
        """The same odds between journeys of one length, and 0 for a place of average appeal.

        So a place that no possible journey visited, and whose score never moved, is average.
        """
        found = scores.copy()
        for level in self.levels:
            cells = np.unique(level)
            moved = cells[scores[cells] != 0]
            if len(moved):
                found[moved] -= scores[moved].mean()
        return found

    def _steps(self, support: Ints) -> Ints:
        """The kind of each step, and of all of them on average: people have their scale."""
        if support.shape[1] == 1:
            return np.zeros((len(support), 0), dtype=np.int64)
        km = self.locations.distances_between_km(support[:, :-1], support[:, 1:])
        edges = self.locations.diameter_km * 2.0 ** np.arange(1 - STEP_BINS, 0)
        each = np.searchsorted(edges, km, side="right")
        mean = np.searchsorted(edges, km.mean(axis=1, keepdims=True), side="right")
        return np.concatenate([each, STEP_BINS + mean], axis=1)


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """How often journeys have features, in two steps: where they are, and what is there."""

    features: Features
    visits: "csr_array[Any]"
    """How often each journey visits each location, and then takes each kind of step."""

    def __matmul__(self, scores: Floats) -> Floats:
        found: Floats = self.visits @ self.features.gathered(scores)
        return found

    @cached_property
    def T(self) -> "TurnedTable":
        from scipy.sparse import csr_array  # slow to import

        return TurnedTable(self.features, csr_array(self.visits.T))


@dataclass(frozen=True, eq=False)
class TurnedTable:
    """The same turned: how often features are had by journeys of some weights."""

    features: Features
    visitors: "csr_array[Any]"

    def __matmul__(self, weights: Floats) -> Floats:
        return self.features.spread_out(self.visitors @ weights)


def table_of(columns: Ints, size: int) -> "csr_array[Any]":
    """One row for each journey, counting the columns named in its row."""
    from scipy.sparse import csr_array  # slow to import

    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    entries = (np.ones(columns.size), (rows, columns.reshape(-1)))
    return csr_array(entries, shape=(len(columns), size))


@dataclass(frozen=True, eq=False)
class Prior:
    """How likely a journey is, against others of the public walk of the same length.

    `fit_prior` makes it, for `decode`. ``location_weights()`` are the probabilities of the
    locations, ``converged`` says whether fitting converged, and ``effect_std`` is None where
    the reports told nothing beyond chance.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=20)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon="0.1")
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> print(nomadp.fit_prior(brr, reports).effect_std)
    None
    """

    features: Features
    scores: Floats = field(repr=False)
    """Log-odds of every feature."""
    history: tuple[float, ...] = ()
    """What every round of learning left: the penalised log-likelihood per report."""
    converged: bool = True
    """False when learning ended because its rounds did."""
    effect_std: float | None = None
    """How far places may differ, as the deviation of the log-appeal of a cell; None when
    reports told nothing beyond chance, and the prior is a public one."""

    def weights(self, support: Ints) -> Floats:
        """The probability of each of these journeys among them."""
        return softmax(self.features.table(support) @ self.scores)

    @property
    def is_public(self) -> bool:
        """Whether all journeys of the public walk are as likely: it says nothing of people."""
        return not self.scores.any()

    def location_weights(self) -> Floats:
        """The probability of each location as a journey of its own."""
        return self.weights(np.arange(len(self.features.locations))[:, None])


def softmax(log_odds: Floats) -> Floats:
    weight: Floats = np.exp(log_odds - log_odds.max())
    weight /= weight.sum()
    return weight
