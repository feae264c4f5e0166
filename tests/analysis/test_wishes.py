"""Which mechanism is advised for a wish, against the exact laws of both."""

import numpy as np
import pytest
from worlds import scattered

from nomadp.analysis.wishes import Advice, advise, drawn_reports
from nomadp.laws import probabilities
from nomadp.mechanisms import make_mechanism

LOCATIONS = scattered(40)


@pytest.fixture(scope="module")
def atlas():
    return make_mechanism("atlas", LOCATIONS, 4, size=16)


@pytest.fixture(scope="module")
def flows(atlas):
    return {people: advise("flows", atlas, people) for people in (3_000, 300_000)}


def test_a_direct_question_gets_better_with_people_and_its_floors_frame_it(flows):
    few, many = (flows[people].errors for people in (3_000, 300_000))
    assert many["direct"] < few["direct"] / 3
    assert few["flat"] == many["flat"]
    assert many["no privacy"] < many["direct"]
    assert few["direct"] < few["flat"]


def test_with_many_people_asking_directly_is_advised(flows):
    found = flows[300_000]
    assert (found.question, found.zones, found.better) == ("trips", "grid:4", "trips")
    assert found.tells
    assert found.times == found.errors["atlas"] / found.errors["direct"]


def test_the_error_of_raw_answers_follows_from_their_variance(flows):
    # A hundred times the people, a tenth of the error.
    ratio = flows[3_000].errors["raw"] / flows[300_000].errors["raw"]
    assert ratio == pytest.approx(10)
    assert flows[300_000].errors["direct"] < 1.1 * flows[300_000].errors["raw"]


def test_the_same_question_gets_the_same_answer(atlas, flows):
    assert advise("flows", atlas, 3_000) == flows[3_000]


def test_zones_may_be_said(atlas):
    found = advise("hotspots", atlas, 3000, "grid:2")
    assert (found.question, found.zones, found.labels) == ("visits", "grid:2", 4)


def test_a_tie_goes_to_the_question_and_nothing_beats_nothing():
    errors = {"direct": 0.2, "raw": 0.2, "atlas": 0.2, "no privacy": 0.0, "flat": 0.1}
    found = Advice("flows", "trips", "grid:4", 256, 10, 1, errors)
    assert found.better == "trips"
    assert not found.tells


def test_reports_are_drawn_as_often_as_their_law_says(atlas):
    channel, people = atlas.channel(2), np.array([60_000, 30_000])
    journeys = np.array([[0, 1], [20, 30]])
    count = drawn_reports(channel, journeys, people, np.random.default_rng(1))
    chances = probabilities(channel, journeys.T)
    deviation = np.sqrt(people @ (chances * (1 - chances)))
    assert np.abs((count - people @ chances) / deviation).max() < 4
