"""Walk every choice a mechanism's program can make, for all inputs at once.

The auditor runs the same lines as the client, with a `Choose` that does not draw: it follows
one path of released values, and every branch it passes is walked later. The secret it hands
to the program is the array of all possible secrets, so each path yields the probability of
that transcript under every input.
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

__all__ = ["FirstBranch", "Outcome", "Witness", "explore", "finished", "walk"]

Witness = Callable[[str, Channel, Secret], Floats]
"""Sees every law met on the way and returns its log-probabilities, (inputs, outputs)."""


@dataclass(frozen=True)
class Outcome:
    """Everything about one value a program may return."""

    log_probability: Floats
    """Of the value, under each input."""
    log_ratio: Floats
    """Under input x against input x', of the transcript leading here where it is largest."""
    spent: frozenset[Fraction]
    """The budgets spent on the ways here; a sound mechanism has just one."""

    def at(self, where: Ints | None) -> "Outcome":
        """The same for every input, when input k has the secret number ``where[k]``."""
        if where is None:
            return self
        ratio = self.log_ratio[np.ix_(where, where)]
        return Outcome(self.log_probability[where], ratio, self.spent)


class _Path:
    """Follows ``path`` and, beyond its end, always takes the first branch."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path = path
        self.branches: list[tuple[int, ...]] = []
        self._taken: tuple[int, ...] = ()

    def _branch(self, count: int) -> int:
        if len(self._taken) < len(self.path):
            here = self.path[len(self._taken)]
        else:
            here = 0
            self.branches.extend((*self._taken, other) for other in range(1, count))
        self._taken = (*self._taken, here)
        return here


class Walk(_Path):
    """A Choose on one path, for all inputs at once."""

    def __init__(
        self, path: tuple[int, ...], inputs: int, witness: Witness, explored: "_Explored"
    ) -> None:
        super().__init__(path)
        self._explored = explored
        self.log_probability = np.zeros(inputs)
        self.log_ratio = np.zeros((inputs, inputs))
        self.spent = frozenset([Fraction(0)])
        self._witness = witness

    def __call__(self, step: str, channel: Channel, secret: Secret) -> int:
        log_law = self._witness(step, channel, secret)
        known = self._explored.possible
        if self._taken not in known:
            known[self._taken] = np.flatnonzero(np.isfinite(log_law).any(axis=0))
        possible = known[self._taken]
        taken = int(possible[self._branch(len(possible))])
        column = log_law[:, taken]
        self._pass(Outcome(column, _against(column), frozenset([channel.share])))
        return int(channel.outputs[taken])

    def each(self, parts: Sequence[Part[Any]]) -> list[Any]:
        # Tasks depend on what was released before them, and that is the path taken so far.
        known = self._explored.parts
        if self._taken not in known:
            known[self._taken] = self._combinations(parts)
        combinations = known[self._taken]
        values, outcomes = combinations[self._branch(len(combinations))]
        for outcome in outcomes:
            self._pass(outcome)
        return values

    def _combinations(
        self, parts: Sequence[Part[Any]]
    ) -> list[tuple[list[Any], list[Outcome]]]:
        per_task = []
        for program, secret in parts:
            distinct, where = distinct_secrets(secret)
            outcomes = explore(program, distinct, self._witness).items()
            per_task.append([(value, outcome.at(where)) for value, outcome in outcomes])
        return [
            ([value for value, _ in chosen], [outcome for _, outcome in chosen])
            for chosen in product(*per_task)
        ]

    def _pass(self, outcome: Outcome) -> None:
        self.log_probability = self.log_probability + outcome.log_probability
        with np.errstate(invalid="ignore"):
            total = self.log_ratio + outcome.log_ratio
        self.log_ratio = _impossible_stays_impossible(total)
        self.spent = frozenset(a + b for a in self.spent for b in outcome.spent)


@dataclass(frozen=True)
class _Explored:
    """What is known after each path taken so far, so that replaying it finds nothing anew."""

    parts: dict[tuple[int, ...], list[tuple[list[Any], list[Outcome]]]]
    """What the parts met there may return."""
    possible: dict[tuple[int, ...], Ints]
    """Which outputs of the law met there some input may have."""


def walk(
    program: Callable[[Any, Walk], Any], secret: Secret, witness: Witness
) -> Iterator[tuple[Any, Walk]]:
    """Every path through a program, with what it returns at the path's end."""
    inputs = 1 if secret is None else np.shape(secret)[-1]
    pending: list[tuple[int, ...]] = [()]
    explored = _Explored({}, {})
    while pending:
        path = Walk(pending.pop(), inputs, witness, explored)
        yield program(secret, path), path
        pending.extend(path.branches)


def explore(
    program: Callable[[Any, Walk], Hashable], secret: Secret, witness: Witness
) -> dict[Any, Outcome]:
    """Every value a program may return, with its exact law and its worst transcript."""
    outcomes: dict[Any, Outcome] = {}
    for value, path in walk(program, secret, witness):
        here = Outcome(path.log_probability, path.log_ratio, path.spent)
        known = outcomes.get(value)
        outcomes[value] = here if known is None else _either(known, here)
    return outcomes


def distinct_secrets(secret: Secret) -> tuple[Secret, Ints | None]:
    """The distinct ones among the secrets of all inputs, and which one each input has."""
    if secret is None or np.ndim(secret) != 1:
        return secret, None
    distinct, where = np.unique(secret, return_inverse=True)
    return distinct, where


def _either(a: Outcome, b: Outcome) -> Outcome:
    return Outcome(
        np.logaddexp(a.log_probability, b.log_probability),
        np.maximum(a.log_ratio, b.log_ratio),
        a.spent | b.spent,
    )


def _against(log_probability: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        ratio = log_probability[:, None] - log_probability[None, :]
    return _impossible_stays_impossible(ratio)


def _impossible_stays_impossible(log_ratio: Floats) -> Floats:
    # A transcript that input x cannot produce says nothing about x: -inf whatever it meets.
    log_ratio[np.isnan(log_ratio)] = -np.inf
    return log_ratio


class Finishing(_Path):
    """The same for what is made of released values, where every case has its own law.

    Nothing is secret any more, so a draw may depend on whatever was released; a case is one
    combination of it.
    """

    def __init__(self, path: tuple[int, ...]) -> None:
        super().__init__(path)
        self.chance: Floats = np.ones(1)
        """Of this path in each case, or in all: 0 where a case cannot take it."""

    def __call__(self, step: str, channel: Channel, secret: Any) -> int:
        law = np.atleast_2d(probabilities(channel, secret))
        possible = np.flatnonzero(law.any(axis=0))
        taken = possible[self._branch(len(possible))]
        self.chance = self.chance * law[:, taken]
        return int(channel.outputs[taken])

    def each(self, parts: Sequence[Part[Any]]) -> list[Any]:
        return [program(released, self) for program, released in parts]


def finished(
    finish: Callable[[Sequence[Any], Choose], tuple[Any, ...]], released: Sequence[Any]
) -> Iterator[tuple[tuple[Any, ...], Floats]]:
    """Everything that may be reported, with its chance in each case."""
    pending: list[tuple[int, ...]] = [()]
    while pending:
        path = Finishing(pending.pop())
        yield finish(released, path), path.chance
        pending.extend(path.branches)


class FirstBranch:
    """A Choose that takes the first output of every law, and keeps those that read a secret."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, Channel]] = []

    def __call__(self, step: str, channel: Channel, secret: Secret) -> int:
        if channel.share:
            self.paid.append((step, channel))
        return channel.first_output

    def each(self, parts: Sequence[Part[Any]]) -> list[Any]:
        return [program(secret, self) for program, secret in parts]
