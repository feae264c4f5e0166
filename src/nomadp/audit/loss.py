"""The exact privacy loss of one mechanism on one small map, over all inputs of one length.

The *transcript* loss is that of everything released on the way, which composition bounds; the
*final* loss is that of the reported trajectory alone, which post-processing makes no larger.
The verdict uses exact rationals: the shares on every path must add up to epsilon, and the words
of every single draw must stay within its share. The two losses are computed in floats from the
same integer weights. They are rounded up, and checked for consistency with the verdict.
"""

import math
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.audit.certificate import StepRecord, StepWitness
from nomadp.audit.walk import Outcome, distinct_secrets, explore, possible_reports
from nomadp.budget import format_epsilon
from nomadp.errors import DomainError
from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.base import Mechanism

__all__ = [
    "Measurement",
    "as_json",
    "final_laws",
    "json_loss",
    "measure",
    "measure_loss",
]

Parts = list[tuple[dict[Any, Outcome], Ints]]
"""For each released part: its possible outcomes, and the index of each input's secret."""
# Losses are sums of at most a few hundred logarithms. Each is below 50 in magnitude, so it is
# off by less than 10^-14, and the sum by a few times 10^-12.
_FLOAT_ERROR = 1e-10


@dataclass(frozen=True)
class Measurement:
    """The result of an audit for one mechanism, map and length."""

    epsilon: Fraction
    """The epsilon that the mechanism claims."""
    spent: frozenset[Fraction]
    """The total share of all draws on each path: only epsilon, for a sound mechanism."""
    transcript_loss: float
    """The loss of everything that is released on the way, rounded up."""
    final_loss: float
    """The loss of the report alone, rounded up."""
    steps: dict[str, StepRecord]
    """The worst draw of each step: its share, and its largest ratio of probabilities."""
    flags: tuple[str, ...]
    """The rules that were broken; empty for a sound mechanism."""

    @property
    def ok(self) -> bool:
        return not self.flags


def measure(mechanism: Mechanism, length: int) -> Measurement:
    """Enumerate every choice for every input, and compare all pairs of inputs."""
    # Exact, while walking: support, ratio and scale of every law (`StepWitness`).
    witness = StepWitness()
    parts = _parts(mechanism, length, witness)
    transcript = _transcript_loss(parts)
    # Exact: the total share of every transcript. Parts combine freely, so the possible totals
    # are all sums of one total of each part.
    spent = {Fraction(0)}
    for outcomes, _ in parts:
        totals = frozenset().union(*(outcome.spent for outcome in outcomes.values()))
        spent = {a + b for a in spent for b in totals}
    final = _largest_log_ratio(_final_laws(mechanism, parts)[1])
    flags = set(witness.flags)
    if spent != {mechanism.epsilon}:  # spending less is a mistake, too: it costs accuracy
        flags.add("budget")
    # In floats: the consequences of composition and of post-processing.
    if transcript > mechanism.epsilon + _FLOAT_ERROR:
        flags.add("transcript")
    if final > transcript + _FLOAT_ERROR:
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
    """The probability of every report under every input, (inputs, report_size^entries)."""
    codes, law, count = _final_laws(mechanism, _parts(mechanism, length, StepWitness()))
    dense = np.zeros((len(law), count))
    dense[:, codes] = law
    return dense


def _parts(mechanism: Mechanism, length: int, witness: StepWitness) -> Parts:
    inputs = mechanism.inputs(length)
    parts = []
    for program, secret in mechanism.parts(inputs):
        distinct, secret_index = distinct_secrets(secret)
        outcomes = explore(program, distinct, witness)
        every = np.arange(inputs.shape[1])
        parts.append((outcomes, every if secret_index is None else secret_index))
    return parts


def _transcript_loss(parts: Parts) -> float:
    # Parts are independent, so for each pair of inputs the worst transcripts of all parts can
    # occur together. Take the maximum over pairs last: the parts' worst pairs may differ.
    worst = [
        np.max([outcome.log_ratio for outcome in outcomes.values()], axis=0)[np.ix_(k, k)]
        for outcomes, k in parts
    ]
    with np.errstate(invalid="ignore"):
        total = np.sum(worst, axis=0)
    total[np.isnan(total)] = -np.inf  # inf - inf: impossible under the first input
    return _rounded_up(float(total.max()))


def _final_laws(mechanism: Mechanism, parts: Parts) -> tuple[list[int], Floats, int]:
    """The possible reports as codes, their law (inputs, reports), and the number of all codes.

    A case is one combination of the parts' outcomes; post-processing runs once for all cases.
    """
    case = np.indices([len(outcomes) for outcomes, _ in parts]).reshape(len(parts), -1)
    # 1. The probability of each case under each input: parts are independent given the input.
    released, probability = [], np.ones((len(parts[0][1]), case.shape[1]))
    for (outcomes, secret_index), index in zip(parts, case, strict=True):
        table = np.exp([outcome.log_probability for outcome in outcomes.values()])
        probability *= table[:, secret_index][index].T
        values = np.array(list(outcomes))[index]
        released.append(tuple(values.T) if values.ndim == 2 else values)
    # 2. Sum it over all cases, and all draws of post-processing, that lead to the same report.
    law_of: dict[int, Floats] = {}
    for report, draw in possible_reports(mechanism.finish, released):
        shape = (mechanism.report_size,) * len(report)
        codes, code_index = np.unique(
            np.ravel_multi_index(tuple(report), shape), return_inverse=True
        )
        laws = [np.bincount(code_index, weight, len(codes)) for weight in probability * draw]
        for code, law in zip(codes.tolist(), np.transpose(laws), strict=True):
            law_of[code] = law_of.get(code, 0.0) + law
    return list(law_of), np.stack(list(law_of.values()), axis=1), math.prod(shape)


def _largest_log_ratio(law: Floats) -> float:
    """The largest log-ratio of one report's probabilities under two inputs (rows)."""
    possible = law[:, law.any(axis=0)]
    if not possible.all():
        return math.inf
    ratio = np.log(possible.max(axis=0)) - np.log(possible.min(axis=0))
    return _rounded_up(float(ratio.max()))


def _rounded_up(loss: float) -> float:
    """An upper bound that covers the error of the floats; exact values stay as they are."""
    return loss if loss in (0.0, math.inf) else loss + _FLOAT_ERROR


def as_json(value: Any) -> Any:
    """Convert to JSON types: dataclasses to dicts, fractions to strings, losses rounded up."""
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    if isinstance(value, float):
        return json_loss(value)
    return str(value) if isinstance(value, Fraction) else value


def json_loss(loss: float) -> float | str:
    """A loss for JSON, which has no infinity; rounded up to six digits."""
    return "infinite" if loss == math.inf else float(format_epsilon(loss))


INPUTS_MAX = 1024
"""Maximum number of trajectories, of which all pairs are compared."""


def measure_loss(mechanism: Mechanism, length: int) -> Measurement:
    """Compute the exact privacy loss over all trajectories of one length.

    The audit enumerates every choice that the mechanism can make, so it needs a small location
    set.

    Args:
        mechanism: A mechanism over a few locations.
        length: The number of points of a trajectory.

    Returns:
        The `Measurement`. Its ``transcript_loss`` is the privacy loss of everything that is
        released, and its ``final_loss`` that of the report alone. Both are natural logarithms,
        like epsilon. ``flags`` are the rules that were broken; ``ok`` if there are none.

    Raises:
        DomainError: There are more than 1,024 trajectories, or the mechanism has no finite laws
            (CGM, TraCS).

    >>> import nomadp
    >>> four = nomadp.synthetic_city(seed=1, places=4, trips=1).locations
    >>> brr = nomadp.make_mechanism("brr", four, epsilon=1)
    >>> measurement = nomadp.measure_loss(brr, length=2)
    >>> measurement.ok, measurement.final_loss <= 1
    (True, True)
    """
    size = len(mechanism.locations)
    hours = mechanism.inputs(1).shape[1] // size  # the distinct hours of a timed query, or 1
    if length < 1 or hours * size**length > INPUTS_MAX:
        raise DomainError(
            f"an exact audit must have from 1 to {INPUTS_MAX} trajectories to enumerate, got "
            f"{size} locations and length={length}; measure it on fewer locations",
            code="audit_too_large",
            locations=size,
            length=length,
            most=INPUTS_MAX,
        )
    return measure(mechanism, length)
