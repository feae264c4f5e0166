"""Where people go, learned from their reports: expectation-maximisation with the exact law.

A journey of the public walk becomes likelier by the appeal of each location it visits and of
each step's length. Appeal is a sum over cells of several grids and the location itself, so
that a few thousand reports shift whole districts and only many shift a single location. One
prior serves every length, and every mechanism and epsilon it is learned from together.

Each round is generalised iterative scaling (Darroch and Ratcliff, 1972) on the expected truth;
`PSEUDO_JOURNEYS` made-up journeys of the public walk hold it back where reports are few.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.evidence import Evidence
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.square import UnitSquare

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Features", "Group", "Learner", "Prior", "learn", "softmax"]

GRIDS = (3, 6, 12, 24)
STEP_BINS = 8
"""Steps are told apart by halvings of the largest distance."""
PSEUDO_JOURNEYS = 300.0
ROUNDS_MAX = 300
STOP_PART = 0.003
"""Learning ends when a round gains less than this part of what all rounds gained."""


@dataclass(frozen=True, eq=False)
class Features:
    """What makes a journey more or less likely: cells it visits, and lengths of its steps."""

    locations: LocationSet

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
        return self.first_step + STEP_BINS

    def of(self, support: Ints) -> "csr_array[Any]":
        """How often each journey (row) has each feature (column)."""
        from scipy.sparse import csr_array  # slow to import

        visited = np.concatenate([level[support] for level in self.levels], axis=1)
        columns = np.concatenate([visited, self.first_step + self._steps(support)], axis=1)
        rows = np.repeat(np.arange(len(support)), columns.shape[1])
        entries = (np.ones(columns.size), (rows, columns.reshape(-1)))
        return csr_array(entries, shape=(len(support), len(self)))

    def _steps(self, support: Ints) -> Ints:
        km = self.locations.distances_between_km(support[:, :-1], support[:, 1:])
        edges = self.locations.diameter_km * 2.0 ** np.arange(1 - STEP_BINS, 0)
        return np.searchsorted(edges, km, side="right")


@dataclass(frozen=True, eq=False)
class Prior:
    """How likely a journey is, against others of the public walk of the same length."""

    features: Features
    scores: Floats = field(repr=False)
    """Log-odds of every feature."""
    history: tuple[float, ...] = ()
    """What every round of learning left: the penalised log-likelihood per report."""
    settled: bool = True
    """False when learning ended because its rounds did."""

    def weights(self, support: Ints) -> Floats:
        """The probability of each of these journeys among them."""
        return softmax(self.features.of(support) @ self.scores)

    def location_weights(self) -> Floats:
        """The probability of each location as a journey of its own."""
        return self.weights(np.arange(len(self.features.locations))[:, None])


@dataclass(frozen=True, eq=False)
class Group:
    """Reports with one law: what they say, and how often each distinct one came in."""

    evidence: Evidence
    counts: Floats

    @cached_property
    def total(self) -> float:
        return float(self.counts.sum())


@dataclass(frozen=True, eq=False)
class _Rows:
    """A group with the features of its support."""

    group: Group
    matrix: Any
    transposed: Any
    walk: Floats  # mean features of the public walk

    def expected(self, journeys: Floats) -> Floats:
        found: Floats = self.transposed @ journeys
        return found


def learn(
    locations: LocationSet, groups: Sequence[Group], pseudo: float = PSEUDO_JOURNEYS
) -> Prior:
    """The prior under which the reports are likeliest, held back by made-up journeys."""
    return Learner(locations, groups, pseudo).learn()


class Learner:
    """Learns from the same distinct reports, however often each came in."""

    def __init__(
        self, locations: LocationSet, groups: Sequence[Group], pseudo: float = PSEUDO_JOURNEYS
    ) -> None:
        if not sum(group.total for group in groups):
            raise ValueError("there must be at least one report to learn from, got none")
        self._features, self._pseudo = Features(locations), pseudo
        self._rows = [_prepared(group, self._features) for group in groups]
        longest = max(group.evidence.support.shape[1] for group in groups)
        self._safe = 1.0 / (longest * len(self._features.levels) + longest - 1)

    def learn(self, counts: Sequence[Floats] | None = None) -> Prior:
        """From the counts of the groups themselves, or from others in their place."""
        rows = self._rows
        if counts is not None:
            pairs = zip(rows, counts, strict=True)
            rows = [replace(row, group=replace(row.group, counts=c)) for row, c in pairs]
        total = sum(row.group.total for row in rows)
        bold = 1.0 / (len(self._features.levels) + 1)
        ascent = _Ascent(rows, self._pseudo / total, len(self._features), bold, self._safe)
        history = [ascent.state[0] / total]
        settled = False
        while not settled and len(history) <= ROUNDS_MAX:
            gained = ascent.climb() / total
            if gained > 0:
                history.append(ascent.state[0] / total)
            settled = gained <= STOP_PART * (history[-1] - history[0])
        return Prior(self._features, ascent.scores, tuple(history), settled)


_State = tuple[float, Floats, Floats]


class _Ascent:
    """Scores on their way up: no round loses likelihood."""

    def __init__(
        self, rows: list[_Rows], share: float, size: int, step: float, safe: float
    ) -> None:
        self.rows, self.share, self.scores = rows, share, np.zeros(size)
        self.step, self.safe = step, safe
        self.state = _round(rows, self.scores, share)

    def climb(self) -> float:
        """One round; what it gained, below 0 where rounding leaves nothing to gain."""
        value, target, model = self.state
        seen = (target > 0) & (model > 0)
        rise = np.zeros(len(self.scores))
        rise[seen] = np.log(target[seen] / model[seen])
        moved = _round(self.rows, self.scores + self.step * rise, self.share)
        while moved[0] < value and self.step > self.safe:  # too bold; a safe step never loses
            self.step = max(self.safe, self.step / 2)
            moved = _round(self.rows, self.scores + self.step * rise, self.share)
        if moved[0] >= value:
            self.scores, self.state = self.scores + self.step * rise, moved
        return moved[0] - value


def _prepared(group: Group, features: Features) -> _Rows:
    from scipy.sparse import csr_array

    matrix = features.of(group.evidence.support)
    transposed = csr_array(matrix.T)
    flat = np.full(matrix.shape[0], 1.0 / matrix.shape[0])
    return _Rows(group, matrix, transposed, transposed @ flat)


def _round(rows: list[_Rows], scores: Floats, share: float) -> _State:
    """The penalised log-likelihood; features as expected from reports, and by the model."""
    value, target, model = 0.0, np.zeros(len(scores)), np.zeros(len(scores))
    for row in rows:
        group = row.group
        log_odds = row.matrix @ scores
        prior = softmax(log_odds)
        chance = group.evidence.chances(prior)
        value += float(group.counts @ np.log(chance))
        made_up = share * group.total
        log_total = log_odds.max() + np.log(np.exp(log_odds - log_odds.max()).sum())
        value += made_up * float(log_odds.mean() - log_total)
        target += row.expected(group.evidence.explained(prior, group.counts))
        target += made_up * row.walk
        model += (group.total + made_up) * row.expected(prior)
    return value, target, model


def softmax(log_odds: Floats) -> Floats:
    weight: Floats = np.exp(log_odds - log_odds.max())
    weight /= weight.sum()
    return weight
