"""Where people go, learned from their reports: expectation-maximisation with the exact law.

`PSEUDO_JOURNEYS` made-up journeys hold it back as long as reports are few. They visit every
location as often, so that without a word from anybody all are as popular, although the public
walk, like every walk in a bounded place, prefers the middle. The lengths of steps are only a
handful of scores and need no holding back: in every pass the made-up journeys take the steps
that the pass before found.

Each round is generalised iterative scaling (Darroch and Ratcliff, 1972) on the expected truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.evidence import Evidence
from nomadp.inference.prior import Features, Prior, softmax
from nomadp.locations import LocationSet

__all__ = ["Group", "Learner", "learn"]

PSEUDO_JOURNEYS = 500.0
PASSES = 2
ROUNDS_MAX = 300
STOP_PART = 0.003
"""Learning ends when a round gains less than this part of what all rounds gained."""


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
    made_up: Floats  # features of a made-up journey
    heard: float = 1.0  # 0 where reports are to be ignored

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

    def learn(self, groups: Sequence[Group] | None = None) -> Prior:
        """From the counts of the groups themselves, or from others of the same reports."""
        rows = self._rows
        if groups is not None:
            pairs = zip(rows, groups, strict=True)
            rows = [replace(row, group=group) for row, group in pairs]
        ascent = self._ascent(rows, np.zeros(len(self._features)))
        for _ in range(PASSES - 1):
            rows = [_with_steps(row, ascent.scores, self._features.first_step) for row in rows]
            ascent = self._ascent(rows, ascent.scores)
        return self._prior(ascent)

    def unheard(self) -> Prior:
        """What the made-up journeys alone lead to, whatever was reported."""
        silent = [replace(row, heard=0.0) for row in self._rows]
        return self._prior(self._ascent(silent, np.zeros(len(self._features))))

    def _ascent(self, rows: list["_Rows"], start: Floats) -> "_Ascent":
        total = sum(row.group.total for row in rows)
        ascent = _Ascent(rows, self._pseudo / total, self._safe, start)
        ascent.climb_up(total)
        return ascent

    def _prior(self, ascent: "_Ascent") -> Prior:
        scores = self._features.centred(ascent.scores)
        return Prior(self._features, scores, tuple(ascent.history), ascent.settled)


_State = tuple[float, Floats, Floats]


class _Ascent:
    """Scores on their way up: no round loses likelihood."""

    def __init__(self, rows: list[_Rows], share: float, safe: float, start: Floats) -> None:
        self.rows, self.share, self.safe, self.scores = rows, share, safe, start
        self.step = 1.0 / 6  # bold: it takes one level to explain a place, and the steps
        self.state = _round(rows, self.scores, share)
        self.history: list[float] = []
        self.settled = False

    def climb_up(self, total: float) -> None:
        """Climb until little is gained, keeping the likelihood per report of every round."""
        self.history, self.settled = [self.state[0] / total], False
        while not self.settled and len(self.history) <= ROUNDS_MAX:
            gained = self.climb() / total
            if gained > 0:
                self.history.append(self.state[0] / total)
            self.settled = gained <= STOP_PART * (self.history[-1] - self.history[0])

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
    from scipy.sparse import csr_array  # slow to import

    matrix = features.of(group.evidence.support)
    made_up = features.anywhere(group.evidence.support)
    walked = np.asarray(matrix.mean(axis=0)).reshape(-1)
    made_up[features.first_step :] = walked[features.first_step :]
    return _Rows(group, matrix, csr_array(matrix.T), made_up)


def _with_steps(row: _Rows, scores: Floats, first_step: int) -> _Rows:
    """Made-up journeys whose steps are as these scores have them."""
    made_up = row.made_up.copy()
    made_up[first_step:] = row.expected(softmax(row.matrix @ scores))[first_step:]
    return replace(row, made_up=made_up)


def _round(rows: list[_Rows], scores: Floats, share: float) -> _State:
    """The penalised log-likelihood; features as expected from reports, and by the model."""
    value, target, model = 0.0, np.zeros(len(scores)), np.zeros(len(scores))
    for row in rows:
        group = row.group
        log_odds = row.matrix @ scores
        prior = softmax(log_odds)
        chance = group.evidence.chances(prior)
        value += row.heard * float(group.counts @ np.log(chance))
        made_up = share * group.total
        log_total = log_odds.max() + np.log(np.exp(log_odds - log_odds.max()).sum())
        value += made_up * float(row.made_up @ scores - log_total)
        explained = group.evidence.explained(prior, row.heard * group.counts)
        target += row.expected(explained) + made_up * row.made_up
        model += (row.heard * group.total + made_up) * row.expected(prior)
    return value, target, model
