"""One report for one trajectory: fresh words each time, and a type that says what it is."""

import os
from collections import Counter

import pytest
from refusals import refused
from scipy import stats
from worlds import JOURNEYS, final_law, part_laws, scattered, triangle

import nomadp
from nomadp.errors import DomainError, NotPrivateError, RandomnessUnavailable
from nomadp.mechanisms import (
    EXPERIMENTAL,
    PUBLISHED,
    Report,
    SimulatedReport,
    make_mechanism,
)

NOT_PRIVATE = [*PUBLISHED, *EXPERIMENTAL]


@pytest.mark.parametrize("name", JOURNEYS)
def test_a_report_has_as_many_locations_and_names_its_mechanism(name):
    mechanism = make_mechanism(name, scattered(40), 3)
    report = mechanism.report([1, 2, 3])
    assert type(report) is Report
    assert report.mechanism == mechanism
    assert len(report.locations) == 3
    assert report.location_ids == tuple(f"p{k}" for k in report.locations)
    assert (report.number is None) == (name != "atlas")


@pytest.mark.parametrize("name", ["exp", "brr"])
def test_five_reports_of_one_trajectory_are_five_draws(name):
    mechanism = make_mechanism(name, scattered(200), "0.01")
    # Eight points that are nearly uniform over 200 places: the same twice in 1e-15 of runs.
    drawn = [mechanism.report(range(8)).locations for _ in range(5)]
    assert len({*drawn}) >= 4


def test_reports_follow_the_exact_law():
    mechanism = make_mechanism("brr", triangle(), 2)
    law = final_law(mechanism, part_laws(mechanism, (0, 2)))
    draws = 3_000
    seen = Counter(mechanism.report([0, 2]).locations for _ in range(draws))
    expected = {y: draws * float(p) for y, p in law.items()}
    assert set(seen) <= set(expected)
    statistic = sum((seen[y] - e) ** 2 / e for y, e in expected.items())
    # The words are the system's: a right law fails this once in a billion runs.
    assert statistic <= stats.chi2.isf(1e-9, len(expected) - 1)


@pytest.mark.parametrize("name", NOT_PRIVATE)
def test_what_is_not_private_makes_no_report_but_can_be_simulated(name):
    mechanism = make_mechanism(name, scattered(9), 1)
    with refused(NotPrivateError, "mechanism_not_private", mechanism=name):
        mechanism.report([1, 2])
    assert len(mechanism.simulate([1, 2], seed=1).locations) == 2


def test_a_simulated_report_is_another_type_and_can_be_repeated():
    mechanism = make_mechanism("exp", scattered(40), 3)
    simulated = mechanism.simulate([1, 2, 3], seed=4)
    assert type(simulated) is SimulatedReport
    assert not isinstance(simulated, Report)
    assert simulated == mechanism.simulate([1, 2, 3], seed=4)
    assert simulated != Report(mechanism, simulated.locations)
    other = mechanism.with_params(epsilon="3.1").simulate([1, 2, 3], seed=4)
    assert simulated.locations != other.locations


def test_what_is_not_private_says_why(wording):
    kinds = {**PUBLISHED, **EXPERIMENTAL}
    said = "".join(f"{name}: {kind.warning}\n" for name, kind in kinds.items())
    wording("laws", "warnings of what is not private", said)


@pytest.mark.parametrize(
    ("trajectory", "code"),
    [
        ([], "trajectory_malformed"),
        ([40], "unknown_locations"),
        ([-1], "unknown_locations"),
        ([[1, 2]], "trajectory_malformed"),
    ],
)
def test_a_trajectory_outside_the_set_is_refused_and_not_shown(trajectory, code):
    with refused(DomainError, code) as refusal:
        make_mechanism("exp", scattered(40), 3).report(trajectory)
    assert "-1" not in str(refusal.value)


def test_without_randomness_there_is_no_report(monkeypatch):
    def broken(count):
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", broken)
    with refused(RandomnessUnavailable, "randomness_failed"):
        make_mechanism("exp", scattered(40), 3).report([1, 2])


@pytest.mark.parametrize(
    ("name", "options", "shown"),
    [
        ("atlas", {}, "ATLAS(epsilon=4, locations=50)"),
        ("brr", {"near_count": 5}, "BRR(epsilon=4, locations=50, near_count=5)"),
        ("trips", {"zones": "grid:2"}, "TRIPS(epsilon=4, locations=50, zones='grid:2')"),
    ],
)
def test_a_notebook_shows_a_mechanism_in_a_line(name, options, shown):
    city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    assert repr(nomadp.make_mechanism(name, city.locations, 4, **options)) == shown
