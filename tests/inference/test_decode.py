"""Decoding whole sets of reports, whichever mechanism made them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from many import drawn_numbers
from refusals import refused
from reported import reported
from worlds import scattered

from nomadp.analysis import constant_answer, scores
from nomadp.budget import Split, Step
from nomadp.engine import perturb_set
from nomadp.errors import DomainError
from nomadp.inference import CodebookDecoder, PointDecoder, decode, fit_prior
from nomadp.inference.decode import Decoders, groups_of
from nomadp.mechanisms import BipartiteResponse, Mechanism, make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.mechanisms.report_law import PointLaw
from nomadp.randomness import SeededRandom
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet

LOCATIONS = scattered(40)


def walks(count=200, seed=0):
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 40, rng.integers(1, 6)) for _ in range(count)]
    return TrajectorySet.from_lists(rows, size=40)


def made(name, epsilon):
    if name == "atlas":
        return Atlas(locations=LOCATIONS, epsilon=epsilon, size=256, control_points=4)
    return make_mechanism(name, LOCATIONS, epsilon)


def answered(reports, estimate):
    return Sequences(reports.offsets, estimate.locations, reports.names)


@pytest.fixture(params=["atlas", "exp", "brr", "l-srr"])
def name(request):
    return request.param


@pytest.mark.slow
def test_every_point_is_decoded_as_its_own_decoder_does(name):
    mechanism, true = made(name, 4), walks()
    reports = perturb_set(mechanism, true, SeededRandom(1), keep_tids=True)
    found = decode(mechanism, reports, level=0.5)
    assert len(found) == len(reports.locations)
    k = int(np.flatnonzero(true.lengths == 5)[0])
    here = slice(reports.offsets[k], reports.offsets[k + 1])
    if name == "atlas":
        randomness = SeededRandom(1).bound_to(mechanism.identity).named(true.tids)
        index = drawn_numbers(mechanism, true, randomness)[k]
        alone = CodebookDecoder(mechanism.report_law(5), None, 0.5).decode(np.array([index]))
        assert found.locations[here].tolist() == alone.locations[0].tolist()
        assert found.radius_km[here].tolist() == alone.radius_km[0].tolist()
    else:
        alone = PointDecoder(mechanism.report_law(5), None, 0.5).decode(reports[k])
        assert found.locations[here].tolist() == alone.locations.tolist()


@pytest.mark.slow
def test_estimates_beat_reports_and_the_constant(name):
    mechanism, true = made(name, 4), walks(1500)
    reports = perturb_set(mechanism, true, SeededRandom(2), keep_tids=True)
    found = scores(LOCATIONS, true, answered(reports, decode(mechanism, reports)))
    assert found.error_km < scores(LOCATIONS, true, reports).error_km
    assert found.error_km < constant_answer(LOCATIONS, true).error_km


def test_a_learned_prior_helps_where_people_are_not_everywhere(name):
    rng = np.random.default_rng(5)
    busy = np.argsort(LOCATIONS.distances_km(3))[:5]
    true = TrajectorySet.from_lists(list(rng.choice(busy, (2000, 2))), size=40)
    mechanism = made(name, 3)
    reports = perturb_set(mechanism, true, SeededRandom(3), keep_tids=True)
    flat = decode(mechanism, reports)
    learned = decode(mechanism, reports, fit_prior(mechanism, reports))
    errors = [scores(LOCATIONS, true, answered(reports, e)).error_km for e in (learned, flat)]
    assert errors[0] < errors[1]


def test_progress_is_told_of_every_report_once_and_of_learning(name):
    mechanism, true = made(name, 4), walks()
    reports = perturb_set(mechanism, true, SeededRandom(1), keep_tids=True)
    done, learned = [], []
    decode(mechanism, reports, progress=done.append)
    assert sum(done) == len(reports)
    fit_prior(mechanism, reports, progress=learned.append)
    assert sum(learned) == len(learned) >= 1


def test_groups_count_every_report_once(name):
    mechanism, true = made(name, 4), walks()
    groups = groups_of(mechanism, perturb_set(mechanism, true, SeededRandom(1), keep_tids=True))
    whole = len(true) if name == "atlas" else len(true.locations)
    assert sum(group.total for group in groups) == whole


def test_says_which_mechanisms_it_can_decode():
    reports = reported(made("tp", 1), [[1, 2]])
    with refused(DomainError, "mechanism_not_decodable", mechanism="tp"):
        decode(made("tp", 1), reports)
    with refused(DomainError, "mechanism_not_decodable", mechanism="tp"):
        fit_prior(made("tp", 1), reports)


@pytest.mark.parametrize("other", [made("exp", 2), made("brr", 1)])
def test_refuses_reports_of_another_mechanism(other):
    with refused(DomainError, "reports_of_another_mechanism"):
        decode(made("exp", 1), reported(other, [[1]]))


def test_refuses_reports_from_another_set():
    elsewhere = make_mechanism("exp", scattered(41), 1)
    with refused(DomainError, "reports_of_other_locations"):
        decode(made("exp", 1), reported(elsewhere, [[1]]))


@dataclass(frozen=True, kw_only=True)
class Sloppy(Mechanism):
    """Somebody else's: each point is kept, or replaced by any location."""

    name: ClassVar[str] = "sloppy"

    def split(self, length):
        return Split(self.epsilon, (Step("keep", 0, length, self.epsilon / length),))

    def channel(self, length):
        return BipartiteResponse(locations=self.locations, epsilon=self.epsilon).channel(
            self.epsilon / length
        )

    def parts(self, trajectory):
        channel = self.channel(len(trajectory))
        return [(lambda place, choose: choose("keep", channel, place), p) for p in trajectory]

    def finish(self, released, choose):
        return tuple(released)

    def report_law(self, length):
        return PointLaw(self.locations, self.channel(length))


def test_a_mechanism_of_somebody_else_is_decoded_by_what_it_says_of_its_reports():
    mechanism, true = Sloppy(locations=LOCATIONS, epsilon=8), walks(400)
    reports = perturb_set(mechanism, true, SeededRandom(1), keep_tids=True)
    prior = fit_prior(mechanism, reports)
    found = scores(LOCATIONS, true, answered(reports, decode(mechanism, reports, prior)))
    assert found.error_km < constant_answer(LOCATIONS, true).error_km


def test_a_law_of_points_must_lead_to_every_location():
    with refused(DomainError, "law_outputs_mismatch", size=40):
        PointLaw(LOCATIONS, make_mechanism("exp", scattered(30), 1).channel(Fraction(1)))


def test_long_journeys_of_all_lengths_share_one_decoder():
    mechanism = Atlas(locations=scattered(30), epsilon=4, size=16)
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 30, length) for length in (9, 20, 9, 150, 31)]
    true = TrajectorySet.from_lists(rows, size=30)
    reports = perturb_set(mechanism, true, SeededRandom(1))
    decoders = Decoders(mechanism, None, 0.9)
    found = decoders.decode(reports)
    assert len(decoders._by_law) == 1
    for row, number in enumerate(reports.numbers):
        length = int(reports.lengths[row])
        alone = CodebookDecoder(mechanism.report_law(length)).decode(np.array([number]))
        points = slice(reports.offsets[row], reports.offsets[row + 1])
        assert np.array_equal(found.locations[points], alone.locations[0])
        assert np.array_equal(found.radius_km[points], alone.radius_km[0])


def test_a_learned_prior_is_not_believed_of_long_journeys():
    """Journeys of eight points are read by it, and no track that is reported through eight."""
    mechanism = Atlas(locations=scattered(30), epsilon=4, size=16)
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 4, length) for length in [8] * 400 + [9, 60] * 200]
    true = TrajectorySet.from_lists(rows, size=30)
    reports = perturb_set(mechanism, true, SeededRandom(1), keep_tids=True)
    prior = fit_prior(mechanism, reports)
    flat, learned = (decode(mechanism, reports, each).locations for each in (None, prior))
    same = flat == learned
    short = int(true.offsets[400])
    assert prior.effect_std is not None
    assert same[short:].all()
    assert not same[:short].all()
