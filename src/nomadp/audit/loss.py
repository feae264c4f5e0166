"""The exact privacy loss of one mechanism on one small map, over all inputs of one length.

The *transcript* loss is that of everything released on the way, which composition bounds; the
*final* loss is that of the reported trajectory alone. The verdict uses exact rationals: the
shares on every path must add up to epsilon, and the words of every single draw must stay within
its share. The two losses are measured in floats from the same integer weights, and printed
rounded up.
"""

import math
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.audit.certificate import StepRecord, StepWitness
from nomadp.audit.walk import Outcome, distinct_secrets, explore, finished
from nomadp.budget import format_epsilon
from nomadp.errors import DomainError
from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.base import Mechanism

__all__ = [
    "Measurement",
    "final_laws",
    "measure",
    "measure_loss",
    "number",
    "told",
]

Parts = list[tuple[dict[Any, Outcome], Ints]]
"""For each released part: its possible outcomes, and the index of each input's secret."""
_MEASURING_ERROR = 1e-10  # a sum of a few hundred logarithms in floats


@dataclass(frozen=True)
class Measurement:
    """The result of an audit for one mechanism, map and length."""

    epsilon: Fraction
    spent: frozenset[Fraction]
    transcript_loss: float
    final_loss: float
    steps: dict[str, StepRecord]
    flags: tuple[str, ...]
    """The rules that were broken; empty for a sound mechanism."""

    @property
    def ok(self) -> bool:
        return not self.flags


def measure(mechanism: Mechanism, length: int) -> Measurement:
    """Walk every choice for every input, and compare all pairs of inputs."""
    witness = StepWitness()
    parts = _parts(mechanism, length, witness)
    transcript = _transcript_loss(parts)
    spent = {Fraction(0)}
    for outcomes, _ in parts:
        costs = frozenset().union(*(outcome.spent for outcome in outcomes.values()))
        spent = {a + b for a in spent for b in costs}
    final = _spread(_final_laws(mechanism, parts)[1])
    flags = set(witness.flags)
    if spent != {mechanism.epsilon}:
        flags.add("budget")
    if transcript > mechanism.epsilon + _MEASURING_ERROR:
        flags.add("transcript")
    if final > transcript + _MEASURING_ERROR:  # post-processing cannot add loss
        flags.add("final")
    return Measurement(
        mechanism.epsilon,
        frozenset(spent),
        transcript,
        final,
        witness.steps,
        tuple(sorted(flags)),
    )


def final_laws(mechanism: Mechanism, length: int) -> Floats:
    """The law of the report under every input, (inputs, rows of as many entries)."""
    codes, law, count = _final_laws(mechanism, _parts(mechanism, length, StepWitness()))
    dense = np.zeros((len(law), count))
    dense[:, codes] = law
    return dense


def _parts(mechanism: Mechanism, length: int, witness: StepWitness) -> Parts:
    inputs = mechanism.inputs(length)
    parts = []
    for program, secret in mechanism.parts(inputs):
        distinct, where = distinct_secrets(secret)
        outcomes = explore(program, distinct, witness)
        parts.append((outcomes, np.arange(inputs.shape[1]) if where is None else where))
    return parts


def _transcript_loss(parts: Parts) -> float:
    worst = [
        np.max([outcome.log_ratio for outcome in outcomes.values()], axis=0)[np.ix_(at, at)]
        for outcomes, at in parts
    ]
    with np.errstate(invalid="ignore"):
        total = np.sum(worst, axis=0)
    total[np.isnan(total)] = -np.inf
    return _upper(float(total.max()))


def _final_laws(mechanism: Mechanism, parts: Parts) -> tuple[list[int], Floats, int]:
    """All combinations of what was released, finished at once.

    Which reports there are, as numbers; their law under every input; of how many rows.
    """
    combination = np.indices([len(outcomes) for outcomes, _ in parts]).reshape(len(parts), -1)
    released, chance = [], np.ones((len(parts[0][1]), combination.shape[1]))
    for (outcomes, where), index in zip(parts, combination, strict=True):
        table = np.exp([outcome.log_probability for outcome in outcomes.values()])
        chance *= table[:, where][index].T
        values = np.array(list(outcomes))[index]
        released.append(tuple(values.T) if values.ndim == 2 else values)
    found: dict[int, Floats] = {}
    for reported, toss in finished(mechanism.finish, released):
        shape = (mechanism.report_size,) * len(reported)
        codes, where = np.unique(
            np.ravel_multi_index(tuple(reported), shape), return_inverse=True
        )
        laws = [np.bincount(where, weight, len(codes)) for weight in chance * toss]
        for code, law in zip(codes.tolist(), np.transpose(laws), strict=True):
            found[code] = found.get(code, 0.0) + law
    return list(found), np.stack(list(found.values()), axis=1), math.prod(shape)


def _spread(law: Floats) -> float:
    """The largest log-ratio between two rows."""
    possible = law[:, law.any(axis=0)]
    if not possible.all():
        return math.inf
    return _upper(float((np.log(possible.max(axis=0)) - np.log(possible.min(axis=0))).max()))


def _upper(loss: float) -> float:
    return loss if loss in (0.0, math.inf) else loss + _MEASURING_ERROR


def told(found: Any) -> Any:
    """For JSON: rows as what they hold, fractions as text, losses rounded up."""
    if is_dataclass(found):
        return {each.name: told(getattr(found, each.name)) for each in fields(found)}
    if isinstance(found, tuple):
        return [told(each) for each in found]
    if isinstance(found, float):
        return number(found)
    return str(found) if isinstance(found, Fraction) else found


def number(loss: float) -> float | str:
    """A loss for JSON, which has no infinity; rounded up to six digits."""
    return "infinite" if loss == math.inf else float(format_epsilon(loss))


INPUTS_MAX = 1024
"""Trajectories that are compared, each with each."""


def measure_loss(mechanism: Mechanism, length: int) -> Measurement:
    """The exact privacy loss over all trajectories of ``length``, by walking every choice.

    For a mechanism over a few locations. ``transcript_loss`` is the loss of everything that is
    released, ``final_loss`` that of the report alone, both in epsilon and rounded up; ``spent``
    is what was drawn for, and ``flags`` are the rules that were broken, none for a sound one
    (``ok``). Raises `DomainError` where there are more than 1,024 trajectories, or no finite
    laws to walk (CGM, TraCS).

    >>> import nomadp
    >>> four = nomadp.synthetic_city(seed=1, places=4, trips=1).locations
    >>> found = nomadp.measure_loss(nomadp.make_mechanism("brr", four, epsilon=1), length=2)
    >>> found.ok, found.final_loss <= 1
    (True, True)
    """
    size = len(mechanism.locations)
    hours = mechanism.inputs(1).shape[1] // size  # distinct time slots
    if length < 1 or hours * size**length > INPUTS_MAX:
        raise DomainError(
            f"an exact audit must have from 1 to {INPUTS_MAX} trajectories to walk, got {size} "
            f"locations and length={length}; measure it on fewer locations",
            code="audit_too_large",
            locations=size,
            length=length,
            most=INPUTS_MAX,
        )
    return measure(mechanism, length)
