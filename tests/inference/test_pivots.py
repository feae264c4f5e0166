"""TP and ATP from their transcripts, against the exact posterior over whole trajectories."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from refusals import refused
from reported import reported
from worlds import every_path, scattered, triangle

from nomadp.analysis import constant_answer, scores
from nomadp.engine import perturb_set
from nomadp.errors import DomainError
from nomadp.inference.pivots import (
    decode_released,
    log_likelihood,
    log_probability_fast,
    log_probability_reference,
)
from nomadp.inference.prior import Features, Prior, softmax
from nomadp.laws import Disc, Exponential
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.transcripts import Transcript, report_with_transcript
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet


def release(mechanism, trajectory, words):
    return report_with_transcript(mechanism, trajectory, words)[2]


def transcript_law(mechanism, trajectory):
    """All transcripts of one trajectory, each with its exact chance."""
    law = {}

    def program(secret, choose):
        return choose.each(mechanism.parts(secret))

    for _, replay in every_path(program, np.asarray(trajectory)):
        law[tuple(value for _, value in replay.transcript)] = replay.chance
    return law


@pytest.mark.parametrize("directions", ["both", "preceding"])
@pytest.mark.parametrize("length", [1, 2])
def test_the_posterior_of_tp_is_the_exact_one(length, directions):
    mechanism = make_mechanism("tp", triangle(), 8, granularity=2, directions=directions)
    inputs = list(product(range(3), repeat=length))
    laws = [transcript_law(mechanism, one) for one in inputs]
    for released in list(laws[0])[::37]:
        chances = [law[released] for law in laws]
        found = log_likelihood(mechanism, Transcript(length, released))
        for position in range(length):
            exact = [
                sum(c for c, one in zip(chances, inputs, strict=True) if one[position] == p)
                / sum(chances)
                for p in range(3)
            ]
            assert softmax(found[position]) == pytest.approx(
                np.array(exact, dtype=float), rel=1e-6
            )


def test_the_posterior_of_atp_takes_anchor_and_radius_as_given():
    mechanism = make_mechanism("atp", triangle(), 8, granularity=2, resolution=2)
    inputs = list(product(range(3), repeat=2))
    trajectory = np.array([0, 2])
    transcript = release(mechanism, trajectory, SeededRandom(1).stream(0))

    class Given:
        """The exact chance of the transcript's steps, but for anchor and radius."""

        def __init__(self):
            self.values, self.chance = iter(transcript.released), Fraction(1)

        def __call__(self, step, channel, secret):
            value = next(self.values)
            if step not in ("anchor", "radius"):
                weight = channel.weights(secret)
                here = int(weight[channel.outputs.tolist().index(value)])
                self.chance *= Fraction(here, int(weight.sum()))
            return value

        def each(self, tasks):
            return [program(secret, self) for program, secret in tasks]

    chances = []
    for one in inputs:
        given = Given()
        given.each(mechanism.parts(np.array(one)))
        chances.append(given.chance)
    found = log_likelihood(mechanism, transcript)
    for position in range(2):
        exact = [
            sum(c for c, one in zip(chances, inputs, strict=True) if one[position] == p)
            / sum(chances)
            for p in range(3)
        ]
        assert softmax(found[position]) == pytest.approx(np.array(exact, dtype=float), rel=1e-6)


@pytest.mark.parametrize("disc", [None, Disc(3, 30.0), Disc(5, 0.0)])
def test_the_kernel_reads_the_law_as_it_is(disc):
    locations, every = scattered(40), np.arange(40)
    domain = every[::3] if disc is None else locations.within(disc.anchor, disc.radius_km)
    span_km = locations.diameter_km if disc is None else 2 * disc.radius_km
    channel = Exponential(locations, domain, span_km, Fraction(5), disc)
    for column, value in enumerate(domain.tolist()):
        exact = log_probability_reference(channel, every, column)
        assert log_probability_fast(channel, value) == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("name", ["tp", "atp"])
def test_reads_the_same_without_the_kernel(name, monkeypatch):
    mechanism = make_mechanism(name, scattered(20), 6)
    transcript = release(mechanism, np.array([1, 2, 3]), SeededRandom(0).stream(0))
    fast = log_likelihood(mechanism, transcript)
    monkeypatch.setattr("nomadp.inference.pivots.has_numba", lambda: False)
    assert log_likelihood(mechanism, transcript) == pytest.approx(fast, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tp", "atp"])
def test_estimates_beat_reports_and_the_constant(name):
    locations, rng = scattered(40), np.random.default_rng(0)
    true = TrajectorySet.from_lists(
        [rng.integers(0, 40, rng.integers(1, 5)) for _ in range(150)], size=40
    )
    mechanism = make_mechanism(name, locations, 16)
    randomness = SeededRandom(2)
    reports = perturb_set(mechanism, true, randomness, keep_tids=True, transcripts=True)
    assert reports == replace(
        perturb_set(mechanism, true, randomness, keep_tids=True),
        transcripts=reports.transcripts,
    )
    kept, found = decode_released(mechanism, reports)
    assert kept == reports
    decoded = TrajectorySet(true.offsets, found.locations, true.tids)
    error = scores(locations, true, decoded).normalised_error
    assert error < scores(locations, true, reports).normalised_error
    assert error < constant_answer(locations, true).normalised_error


def test_a_prior_moves_the_estimate_to_where_people_are():
    locations = scattered(20)
    features = Features(locations)
    scores = np.zeros(len(features))
    scores[features.levels[-1, 7]] = 50.0  # everybody is at one location
    mechanism = make_mechanism("tp", locations, 1)
    true = TrajectorySet.from_lists([[1, 2]], size=20)
    reports = perturb_set(mechanism, true, SeededRandom(0), transcripts=True)
    _, found = decode_released(mechanism, reports, Prior(features, scores))
    assert found.locations.tolist() == [7, 7]
    assert found.radius_km.tolist() == [0.0, 0.0]


def test_a_transcript_that_cannot_be_is_left_out_and_counted():
    mechanism = make_mechanism("tp", scattered(9), 2)
    true = TrajectorySet.from_lists([[1, 2, 3], [4, 5]], size=9)
    reports = perturb_set(mechanism, true, SeededRandom(1), keep_tids=True, transcripts=True)
    first, second = reports.transcripts
    forged = replace(reports, transcripts=(first, (*second[:-1], 99)))
    kept, found = decode_released(mechanism, forged)
    assert (kept.ids, kept.n_refused, len(found)) == (("0",), 1, 3)


def test_without_transcripts_there_is_nothing_to_decode():
    mechanism = make_mechanism("tp", scattered(9), 2)
    with refused(DomainError, "transcripts_missing"):
        decode_released(mechanism, reported(mechanism, [[1, 2]]))


def test_decodes_nothing_to_nothing():
    mechanism = make_mechanism("tp", scattered(9), 1)
    nobody = TrajectorySet.from_lists([], size=9)
    reports = perturb_set(mechanism, nobody, SeededRandom(0), transcripts=True)
    assert len(decode_released(mechanism, reports)[1]) == 0


@pytest.mark.parametrize(
    "change", [lambda r: r[:-1], lambda r: (*r, 0), lambda r: (99, *r[1:])]
)
def test_refuses_a_transcript_of_another_mechanism(change):
    mechanism = make_mechanism("tp", scattered(9), 2)
    made = release(mechanism, np.array([1, 2, 3]), SeededRandom(0).stream(0))
    with refused(DomainError, "transcript_mismatch"):
        log_likelihood(mechanism, Transcript(3, change(made.released)))
