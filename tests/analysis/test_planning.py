"""Which mechanism is advised for a wish, against the exact laws of both."""

import numpy as np
import pytest
from worlds import scattered

from nomadp.analysis.planning import FEASIBLE, Advice, advise
from nomadp.analysis.populations import Population, SimulatedQuery, simulated_reports
from nomadp.laws import probabilities
from nomadp.mechanisms import make_mechanism
from nomadp.zones import polygon_zones

LOCATIONS = scattered(40)


@pytest.fixture(scope="module")
def atlas():
    return make_mechanism("atlas", LOCATIONS, 4, size=16)


@pytest.fixture(scope="module")
def flows(atlas):
    return {people: advise("flows", atlas, people) for people in (3_000, 300_000)}


@pytest.mark.slow
def test_a_direct_question_gets_better_with_people_and_its_floors_frame_it(flows):
    few, many = (flows[people].errors for people in (3_000, 300_000))
    assert many["oracle"] < few["oracle"] / 3
    assert few["baseline"] == many["baseline"]
    assert many["sampling"] < many["oracle"]
    assert few["oracle"] < few["baseline"]


def test_with_many_people_asking_directly_is_advised(flows):
    found = flows[300_000]
    assert (found.oracle, found.zones, found.better) == ("trips", "grid:4", "trips")
    assert found.informative
    assert found.error_ratio == found.errors["atlas"] / found.errors["oracle"]


def test_the_error_of_raw_answers_follows_from_their_variance(flows):
    # A hundred times the people, a tenth of the error.
    ratio = flows[3_000].errors["raw"] / flows[300_000].errors["raw"]
    assert ratio == pytest.approx(10)
    assert flows[300_000].errors["oracle"] < 1.1 * flows[300_000].errors["raw"]


def test_the_same_question_gets_the_same_answer(atlas, flows):
    assert advise("flows", atlas, 3_000) == flows[3_000]


def test_zones_may_be_said(atlas):
    found = advise("hotspots", atlas, 3000, "grid:2")
    assert (found.oracle, found.zones, found.labels) == ("visits", "grid:2", 4)


def test_a_tie_goes_to_the_question_and_nothing_beats_nothing():
    errors = {"oracle": 0.2, "raw": 0.2, "atlas": 0.2, "sampling": 0.0, "baseline": 0.1}
    found = Advice("flows", "trips", "grid:4", 256, 10, 1, errors)
    assert found.better == "trips"
    assert not found.informative


def test_reports_are_drawn_as_often_as_their_law_says(atlas):
    channel, people = atlas.channel(2), np.array([60_000, 30_000])
    journeys = np.array([[0, 1], [20, 30]])
    count = simulated_reports(channel, journeys, people, np.random.default_rng(1))
    chances = probabilities(channel, journeys.T)
    std_error = np.sqrt(people @ (chances * (1 - chances)))
    assert np.abs((count - people @ chances) / std_error).max() < 4


@pytest.mark.slow
def test_a_wish_out_of_reach_comes_with_the_finest_coarser_areas_that_are_not(atlas):
    found = advise("flows", atlas, 1_000, "grid:8")
    assert not found.feasible
    assert found.coarser.feasible
    tried = ["grid:4", "grid:2"]
    nearer = tried[: tried.index(found.coarser.zones)]
    assert not any(advise("flows", atlas, 1_000, zones).feasible for zones in nearer)
    assert advise("flows", atlas, 1_000, found.coarser.zones) == found.coarser


def test_what_is_in_reach_needs_no_other_areas(flows):
    assert flows[300_000].feasible
    assert flows[300_000].coarser is None


def test_where_no_areas_are_large_enough_none_are_named(atlas):
    found = advise("flows", atlas.with_params(epsilon="0.01"), 10, "grid:4")
    assert not found.feasible
    assert found.coarser is None


def test_own_zones_have_no_coarser_ones(atlas):
    middle = float(np.median(LOCATIONS.lng))
    west = [[[-180, -90], [middle, -90], [middle, 90], [-180, 90]]]
    zones = polygon_zones(LOCATIONS, [west], ["west"])
    found = advise("flows", atlas.with_params(epsilon="0.01"), 10, zones)
    assert found.coarser is None
    assert not found.feasible


def test_enough_people_bring_raw_answers_into_reach_and_no_more(atlas):
    found = advise("density", atlas, 50, "grid:4")
    there = advise("density", atlas, found.people_needed, "grid:4").errors
    assert found.people_needed > 50
    assert there["raw"] <= FEASIBLE * there["baseline"]
    assert there["raw"] == pytest.approx(FEASIBLE * there["baseline"], rel=0.01)


def test_a_share_has_the_deviation_of_its_exact_law(atlas):
    visits = make_mechanism("visits", LOCATIONS, 2, zones="grid:2")
    asked = SimulatedQuery(Population(LOCATIONS, 500), visits)
    law, rng = visits.channel, np.random.default_rng(5)
    true, other = float(law.true_chance), float(law.other_chance)
    support = rng.binomial(500, other + asked.truth * (true - other), (20_000, 4))
    drawn = ((support / 500 - other) / (true - other)).std(axis=0)
    assert asked.std_error == pytest.approx(drawn, rel=0.03)
    found = advise("density", atlas.with_params(epsilon=2), 500, "grid:2")
    assert found.std_error == pytest.approx(asked.std_error.mean())
