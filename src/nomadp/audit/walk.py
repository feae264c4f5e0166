"""Enumerate every choice that a mechanism's program can make, for all inputs at once.

The auditor runs the same lines as the client, with a `Choose` that does not draw. A walk
follows one path of released values and queues every branch that it passes, so that all paths
are walked in the end (depth-first search by replay, because a Python function cannot be
forked). The secret that the program gets is the array of all possible secrets, so each path
yields the probability of its transcript under every input.

Enumerating transcripts suffices because a program cannot branch on an array: all it can do with
its secret is to pass functions of it to `Choose`. Its course therefore depends on the released
values alone, the probability of a transcript is the product of its draws' probabilities, and
whatever is computed from the transcript is post-processing, which cannot add loss.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from nomadp.drawing import Choose, Part
from nomadp.geometry import Floats
from nomadp.laws import Channel, Ints, Secret, probabilities

__all__ = ["FirstBranch", "Outcome", "Witness", "explore", "possible_reports", "walk"]

Witness = Callable[[str, Channel, Secret], Floats]
"""Checks every law that a path meets; returns its log-probabilities, (inputs, outputs)."""


@dataclass(frozen=True)
class Outcome:
    """One value that a program may return, under all inputs."""

    log_probability: Floats  # (inputs,)
    log_ratio: Floats  # (inputs, inputs)
    """The log-ratio of a transcript's probabilities under two inputs: the maximum over all
    transcripts that lead to this value. It is at least the log-ratio of the value itself."""
    spent: frozenset[Fraction]
    """The total share of each transcript that leads here; a sound mechanism has just one."""

    def for_inputs(self, secret_index: Ints | None) -> "Outcome":
        """Expand from distinct secrets to all inputs; input k has ``secret_index[k]``."""
        if secret_index is None:
            return self
        ratio = self.log_ratio[np.ix_(secret_index, secret_index)]
        return Outcome(self.log_probability[secret_index], ratio, self.spent)


class _Path:
    """Follows ``path`` and takes the first branch beyond its end, queueing all the others."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path = path
        self.branches: list[tuple[int, ...]] = []
        self._taken: tuple[int, ...] = ()

    def _branch(self, count: int) -> int:
        if len(self._taken) < len(self.path):
            branch = self.path[len(self._taken)]
        else:
            branch = 0
            self.branches.extend((*self._taken, other) for other in range(1, count))
        self._taken = (*self._taken, branch)
        return branch


class Walk(_Path):
    """A `Choose` that follows one path, for all inputs at once."""

    def __init__(
        self, path: tuple[int, ...], inputs: int, witness: Witness, cache: "_Cache"
    ) -> None:
        super().__init__(path)
        self._cache = cache
        self.log_probability = np.zeros(inputs)
        self.log_ratio = np.zeros((inputs, inputs))
        self.spent = frozenset([Fraction(0)])
        self._witness = witness

    def __call__(self, step: str, channel: Channel, secret: Secret) -> int:
        log_law = self._witness(step, channel, secret)
        # A branch for every output that at least one input can produce: an output that is
        # impossible for only some of them is what breaks the rule of equal support.
        possible = self._cache.possible
        if self._taken not in possible:
            possible[self._taken] = np.flatnonzero(np.isfinite(log_law).any(axis=0))
        outputs = possible[self._taken]
        output = int(outputs[self._branch(len(outputs))])
        column = log_law[:, output]
        self._add(Outcome(column, _pairwise_log_ratio(column), frozenset([channel.share])))
        return int(channel.outputs[output])

    def each(self, parts: Sequence[Part[Any]]) -> list[Any]:
        # Parts depend on what was released before them, and that is the path taken so far.
        combinations = self._cache.combinations
        if self._taken not in combinations:
            combinations[self._taken] = self._combinations(parts)
        possible = combinations[self._taken]
        values, outcomes = possible[self._branch(len(possible))]
        for outcome in outcomes:
            self._add(outcome)
        return values

    def _combinations(
        self, parts: Sequence[Part[Any]]
    ) -> list[tuple[list[Any], list[Outcome]]]:
        # Parts are independent given the past. Exploring each alone and combining only the
        # values that they return is exact, and takes the product of far smaller numbers.
        outcomes_of_part = []
        for program, secret in parts:
            distinct, secret_index = distinct_secrets(secret)
            outcomes = explore(program, distinct, self._witness).items()
            outcomes_of_part.append(
                [(value, outcome.for_inputs(secret_index)) for value, outcome in outcomes]
            )
        return [
            ([value for value, _ in chosen], [outcome for _, outcome in chosen])
            for chosen in product(*outcomes_of_part)
        ]

    def _add(self, outcome: Outcome) -> None:
        # Chain rule: log-probabilities, log-ratios and shares add up along a transcript. The
        # worst transcripts of independent parts can occur together, so their maxima add up too.
        self.log_probability = self.log_probability + outcome.log_probability
        with np.errstate(invalid="ignore"):
            total = self.log_ratio + outcome.log_ratio
        self.log_ratio = _nan_to_impossible(total)
        self.spent = frozenset(a + b for a in self.spent for b in outcome.spent)


@dataclass(frozen=True)
class _Cache:
    """Results by the path taken so far, which determines them; a replay looks them up."""

    combinations: dict[tuple[int, ...], list[tuple[list[Any], list[Outcome]]]]
    """The values that the next parts may return, with their outcomes."""
    possible: dict[tuple[int, ...], Ints]
    """The outputs of the next law that some input may produce."""


def walk(
    program: Callable[[Any, Walk], Any], secret: Secret, witness: Witness
) -> Iterator[tuple[Any, Walk]]:
    """Yield every path through a program, with the value that it returns."""
    inputs = 1 if secret is None else np.shape(secret)[-1]
    pending: list[tuple[int, ...]] = [()]
    cache = _Cache({}, {})
    while pending:
        path = Walk(pending.pop(), inputs, witness, cache)
        yield program(secret, path), path
        pending.extend(path.branches)


def explore(
    program: Callable[[Any, Walk], Hashable], secret: Secret, witness: Witness
) -> dict[Any, Outcome]:
    """Every value that a program may return, with its exact law and its worst transcript."""
    outcomes: dict[Any, Outcome] = {}
    for value, path in walk(program, secret, witness):
        outcome = Outcome(path.log_probability, path.log_ratio, path.spent)
        earlier = outcomes.get(value)
        outcomes[value] = outcome if earlier is None else _merged(earlier, outcome)
    return outcomes


def distinct_secrets(secret: Secret) -> tuple[Secret, Ints | None]:
    """The distinct secrets of a part, and the index of each input's secret among them.

    Most parts read one point of a trajectory, which is the same in many inputs. The index is
    None for a part that reads nothing or several points, whose secrets are left as they are.
    """
    if secret is None or np.ndim(secret) != 1:
        return secret, None
    distinct, secret_index = np.unique(secret, return_inverse=True)
    return distinct, secret_index


def _merged(a: Outcome, b: Outcome) -> Outcome:
    # Several transcripts may lead to one value. Its probability is their sum; the transcript
    # loss is still that of the worst of them, because an observer may have seen everything.
    return Outcome(
        np.logaddexp(a.log_probability, b.log_probability),
        np.maximum(a.log_ratio, b.log_ratio),
        a.spent | b.spent,
    )


def _pairwise_log_ratio(log_probability: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        ratio = log_probability[:, None] - log_probability[None, :]
    return _nan_to_impossible(ratio)


def _nan_to_impossible(log_ratio: Floats) -> Floats:
    # NaN is inf - inf: input x cannot produce this transcript. It then contributes no loss for
    # x, whatever its probability under x' is, so its log-ratio is -inf.
    log_ratio[np.isnan(log_ratio)] = -np.inf
    return log_ratio


class _FinishWalk(_Path):
    """A `Choose` for post-processing, which may make draws of its own.

    Nothing is secret any more, so a draw may depend on whatever was released. Cases are the
    combinations of released values; all are computed at once, and each has its own law.
    """

    def __init__(self, path: tuple[int, ...]) -> None:
        super().__init__(path)
        self.probability: Floats = np.ones(1)
        """Of this path in each case, or one for all; 0 if a case cannot take it."""

    def __call__(self, step: str, channel: Channel, secret: Any) -> int:
        law = np.atleast_2d(probabilities(channel, secret))
        possible = np.flatnonzero(law.any(axis=0))
        output = possible[self._branch(len(possible))]
        self.probability = self.probability * law[:, output]
        return int(channel.outputs[output])

    def each(self, parts: Sequence[Part[Any]]) -> list[Any]:
        return [program(released, self) for program, released in parts]


def possible_reports(
    finish: Callable[[Sequence[Any], Choose], tuple[Any, ...]], released: Sequence[Any]
) -> Iterator[tuple[tuple[Any, ...], Floats]]:
    """Yield every report that post-processing may return, with its probability in each case."""
    pending: list[tuple[int, ...]] = [()]
    while pending:
        path = _FinishWalk(pending.pop())
        yield finish(released, path), path.probability
        pending.extend(path.branches)


class FirstBranch:
    """A `Choose` that takes the first output of every law, and lists the draws with a share."""

    def __init__(self) -> None:
        self.private_draws: list[tuple[str, Channel]] = []

    def __call__(self, step: str, channel: Channel, secret: Secret) -> int:
        if channel.share:
            self.private_draws.append((step, channel))
        return channel.first_output

    def each(self, parts: Sequence[Part[Any]]) -> list[Any]:
        return [program(secret, self) for program, secret in parts]
