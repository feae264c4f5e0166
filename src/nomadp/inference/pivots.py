"""Bayes estimates for TP and ATP, from the transcript of everything they released.

The reported trajectory of these mechanisms merges two perturbed copies. Their transcript has
more information: pivots, sectors, and the points of both copies. The likelihood is computed by
running the mechanism's own program again, on all locations at once, with the released values in
place of draws. So the laws are not restated here.

The anchor and the radius of ATP depend on all positions together. They are conditioned on, and
their information about single positions is not used.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from nomadp.drawing import Part
from nomadp.errors import DomainError
from nomadp.inference.estimate import Answers, DecodedPoints, Floats, check_level
from nomadp.inference.prior import Prior, softmax
from nomadp.laws import Channel, Exponential, Ints, Secret
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.fast.compiling import has_numba
from nomadp.mechanisms.fast.limits import has_tables
from nomadp.mechanisms.fast.tables import tables_of
from nomadp.mechanisms.fast.word_rows import ceiling
from nomadp.mechanisms.pivot.tp import PivotSampling
from nomadp.mechanisms.transcripts import Transcript
from nomadp.reports.counts import IMPOSSIBLE
from nomadp.reports.table import AnyReports

__all__ = ["decode_released", "log_likelihood"]

T = TypeVar("T")
SHARED_STEPS = ("anchor", "radius")
"""Steps that read the whole trajectory."""


def decode_released(
    mechanism: Mechanism, reports: AnyReports, prior: Prior | None = None, *, level: float = 0.9
) -> tuple[AnyReports, DecodedPoints]:
    """Decode the transcripts of reports; impossible ones are left out and counted."""
    check_level(level)
    if not isinstance(mechanism, PivotSampling) or reports.transcripts is None:
        raise DomainError(
            "decoding transcripts needs reports of tp or atp that contain them, got "
            f"{mechanism.name}; perturb with --transcript",
            code="transcripts_missing",
            mechanism=mechanism.name,
        )
    reports.header.check_made_by(mechanism)
    size = len(mechanism.locations)
    answers = Answers(mechanism.locations, np.arange(size))
    log_prior = np.zeros(size) if prior is None else np.log(prior.location_weights())
    transcripts = map(Transcript, reports.lengths.tolist(), reports.transcripts)
    bad, best, radius = [], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        for likelihood in threads.map(lambda t: _if_possible(mechanism, t), transcripts):
            bad.append(likelihood is None)
            if likelihood is not None:
                # Bayes' theorem in logarithms, one row for each position.
                rows = [softmax(row) for row in log_prior + likelihood]
                mass = np.stack(rows).astype(np.float32)
                best.append(answers.best(mass))
                radius.append(answers.radius_km(mass, best[-1], level))
    possible = reports.without(np.array(bad, dtype=bool), IMPOSSIBLE)
    return possible, DecodedPoints(np.concatenate(best), np.concatenate(radius), level)


def _if_possible(mechanism: PivotSampling, transcript: Transcript) -> Floats | None:
    """The log-likelihood of a transcript; None if the mechanism cannot have released it."""
    try:
        return log_likelihood(mechanism, transcript)
    except DomainError:
        return None


def log_likelihood(mechanism: PivotSampling, transcript: Transcript) -> Floats:
    """The log-likelihood of each location at each position, (n, m), up to constants by row."""
    # Run the program on all locations at once: one column for each, as the auditor does.
    replay = _Replay(transcript, len(mechanism.locations))
    locations = np.arange(len(mechanism.locations))
    possible = np.tile(locations, (transcript.length, 1)).view(_Possible)
    replay.each(mechanism.parts(possible))
    if next(replay.released, None) is not None:
        raise _mismatch()
    return replay.log_likelihood


class _Possible(np.ndarray[Any, Any]):
    """Every location at every position, (n, m); its rows know their position."""

    position: int

    def __getitem__(self, index: Any) -> Any:
        item = super().__getitem__(index)
        if self.ndim == 2 and isinstance(index, int):
            item.position = index
        return item


class _Replay:
    """A `Choose` that returns released values, and adds up their log-likelihood by position."""

    def __init__(self, transcript: Transcript, size: int) -> None:
        self.released: Iterator[int] = iter(transcript.released)
        self.log_likelihood: Floats = np.zeros((transcript.length, size))
        self._position = 0

    def __call__(self, step: str, channel: Channel, secret: Secret) -> int:
        value = next(self.released, None)
        if value is None:
            raise _mismatch()
        if step not in SHARED_STEPS:
            log_probability = _log_probability(channel, np.asarray(secret), value)
            self.log_likelihood[self._position] += log_probability
        return value

    def each(self, parts: Sequence[Part[T]]) -> list[T]:
        # Steps inside a part, such as sectors derived from the point, keep its position.
        results = []
        for program, secret in parts:
            self._position = getattr(secret, "position", self._position)
            results.append(program(secret, self))
        return results


def _log_probability(channel: Channel, secret: Ints, value: int) -> Floats:
    column = np.flatnonzero(channel.outputs == value)
    if len(column) != 1:
        raise _mismatch()
    if isinstance(channel, Exponential) and has_numba() and has_tables(channel.locations):
        return log_probability_fast(channel, value)
    return log_probability_reference(channel, secret, int(column[0]))


def log_probability_reference(channel: Channel, secret: Ints, column: int) -> Floats:
    """The law's own log-probability of one output, for each secret."""
    weight = channel.weights(secret)
    log_probability: Floats = np.log(weight[:, column] / weight.sum(axis=1))
    return log_probability


def log_probability_fast(channel: Exponential, value: int) -> Floats:
    """The same for every location as the secret, from tables or by a kernel."""
    # Without a disc, weights do not depend on the domain: one table serves all domains.
    if channel.disc is None:
        locations = np.arange(len(channel.locations))
        weight = _weight_table(replace(channel, domain=locations))
        total = weight[:, channel.domain].sum(axis=1)
        log_probability: Floats = np.log(weight[:, value] / total)
        return log_probability
    from nomadp.mechanisms.pivot.kernel_likelihood import log_likelihoods

    law = (channel.scale_per_km, ceiling(channel.share))
    distance_km = tables_of(channel.locations).distance_km
    disc = (channel.disc.anchor, channel.disc.radius_km)
    return np.asarray(log_likelihoods(distance_km, channel.domain, law, disc, value))


@lru_cache(maxsize=4)
def _weight_table(channel: Exponential) -> Ints:
    """The weight of every location (column) for every true one."""
    return channel.weights(channel.domain)


def _mismatch() -> DomainError:
    return DomainError(
        "a transcript must contain exactly what the mechanism releases, but this one does not; "
        "was it made with this mechanism and these options?",
        code="transcript_mismatch",
    )
