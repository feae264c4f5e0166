"""Direct questions answer what was asked, and what follows from it, and nothing else."""

import numpy as np
import pytest
from refusals import refused
from worlds import scattered

from nomadp.engine import perturb_set
from nomadp.errors import DomainError
from nomadp.inference.hotspots import flow_shares, visit_shares
from nomadp.inference.model import fit
from nomadp.inference.oracle_shares import oracle_hotspots, oracle_trips
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet
from nomadp.zones import Zones, zones_of

LOCATIONS = scattered(60)
COUNT = 3000
OFTEN = np.arange(60) / 1770
ENDS = np.random.default_rng(1).choice(60, (COUNT, 2), p=OFTEN)
PEOPLE = TrajectorySet.from_lists(ENDS, size=60)
HOURS = np.random.default_rng(2).integers(0, 168, COUNT)


def hotspots(mechanism, reports, zones=None, *, at=None):
    return visit_shares(fit(mechanism, reports), zones, at)


def flows(mechanism, reports, zones=None):
    return flow_shares(fit(mechanism, reports), zones)


def asked(name, zones="grid:4", epsilon=8, when=None):
    question = make_mechanism(name, LOCATIONS, epsilon, zones=zones, when=when)
    people = PEOPLE if when is None else timed_people()
    return question, perturb_set(question, people, SeededRandom(1))


def timed_people():
    return TrajectorySet(PEOPLE.offsets, PEOPLE.locations, PEOPLE.tids, hours=HOURS)


def shares_of(points, zones):
    return np.bincount(zones.of[points], minlength=len(zones)) / len(points)


def assert_found(found, true):
    """Nearer than four deviations everywhere, and much nearer than flat."""
    assert (np.abs(found.unbiased - true) < 4 * found.std_error + 1e-9).all()
    assert np.abs(found.values - true).sum() < 0.5 * np.abs(found.baseline - true).sum()


@pytest.mark.parametrize(("name", "points"), [("starts", ENDS[:, 0]), ("ends", ENDS[:, 1])])
def test_one_zone_of_everybody(name, points):
    question, reports = asked(name)
    assert_found(hotspots(question, reports), shares_of(points, question.partition))


def test_visits_are_all_points_as_often():
    question, reports = asked("visits")
    found = hotspots(question, reports)
    assert_found(found, shares_of(ENDS.reshape(-1), question.partition))


def test_pairs_of_zones():
    question, reports = asked("trips", "grid:2")
    start, end = question.partition.of[ENDS].T
    found = flows(question, reports)
    assert_found(found, np.bincount(4 * start + end, minlength=16) / COUNT)
    held = np.bincount(question.partition.of) / 60
    assert found.baseline == pytest.approx(np.outer(held, held).reshape(-1))


@pytest.mark.parametrize(("at", "column"), [("starts", 0), ("ends", 1), (None, 0)])
def test_trips_tell_of_starts_and_ends(at, column):
    question, reports = asked("trips", "grid:3")
    found = hotspots(question, reports, at=at)
    assert_found(found, shares_of(ENDS[:, column], question.partition))
    pairs = flows(question, reports).unbiased.reshape(9, 9)
    assert found.unbiased == pytest.approx(pairs.sum(axis=1 - column))


def test_large_zones_are_told_of_by_small_ones():
    question, reports = asked("trips", "grid:4")
    large = zones_of(LOCATIONS, "grid:2")
    assert_found(hotspots(question, reports, "grid:2"), shares_of(ENDS[:, 0], large))
    start, end = large.of[ENDS].T
    found = flows(question, reports, large)
    assert_found(found, np.bincount(4 * start + end, minlength=16) / COUNT)


def test_zones_that_cut_up_others_are_refused():
    with refused(DomainError, "zones_not_nested", queried="grid:4", zones="grid:3"):
        hotspots(*asked("starts"), "grid:3")


def test_zones_of_another_set_are_refused():
    other = zones_of(scattered(20), "grid:2")
    for mechanism in (asked("starts"), asked("trips")):
        with refused(DomainError, "zones_of_other_locations"):
            hotspots(*mechanism, other)


def test_trips_need_to_be_asked_for():
    with refused(DomainError, "pairs_not_queried", mechanism="starts"):
        flows(*asked("starts"))


def test_ends_need_to_be_asked_for():
    with refused(DomainError, "points_not_queried", at="ends", mechanism="starts"):
        hotspots(*asked("starts"), at="ends")


def test_all_times_together_and_each():
    question, reports = asked("starts", "grid:2", when="day-part")
    zone, slot = question.partition.of[ENDS[:, 0]], HOURS // 6 % 4
    assert_found(hotspots(question, reports), np.bincount(zone, minlength=4) / COUNT)
    each = oracle_hotspots(question, reports, question.partition, timed=True)
    true = np.bincount(4 * zone + slot, minlength=16) / COUNT
    assert (np.abs(each.unbiased - true) < 4 * each.std_error).all()
    assert each.baseline.reshape(4, 4) == pytest.approx(
        hotspots(question, reports).baseline[:, None] / 4 * np.ones((4, 4))
    )


def test_trips_at_each_time():
    question, reports = asked("trips", "grid:2", when="weekday")
    start, end = question.partition.of[ENDS].T
    found = oracle_trips(question, reports, question.partition, timed=True)
    true = np.bincount(7 * (4 * start + end) + HOURS // 24, minlength=112) / COUNT
    assert (np.abs(found.unbiased - true) < 4.5 * found.std_error).all()
    assert flows(question, reports).unbiased == pytest.approx(
        found.unbiased.reshape(16, 7).sum(axis=1)
    )


def test_one_zone_has_everybody():
    question, reports = asked("visits", Zones(LOCATIONS, np.zeros(60, int), ("all",), "grid:1"))
    assert hotspots(question, reports).values.tolist() == [1.0]


def test_reports_of_another_question_are_refused():
    question, _ = asked("starts")
    with refused(DomainError, "reports_of_another_mechanism"):
        hotspots(question, asked("ends")[1])


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("at", ["pairs", "starts", "ends"])
def test_intervals_hold_what_people_do_as_often_as_they_say(epsilon, at):
    """Of everybody: who reports is drawn anew each time."""
    question = make_mechanism("trips", LOCATIONS, epsilon, zones="grid:3")
    one = np.bincount(question.partition.of, OFTEN)
    true = {"pairs": np.outer(one, one).reshape(-1), "starts": one, "ends": one}
    held = []
    for seed in range(200):
        ends = np.random.default_rng(seed).choice(60, (1000, 2), p=OFTEN)
        people = TrajectorySet.from_lists(ends, size=60)
        reports = perturb_set(question, people, SeededRandom(seed))
        found = (
            flows(question, reports) if at == "pairs" else hotspots(question, reports, at=at)
        )
        low, high = found.interval(0.9)
        held.append((low <= true[at]) & (true[at] <= high))
    assert 0.88 <= np.mean(held) <= 0.92
