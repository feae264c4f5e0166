"""Direct questions: the right label, and nothing but its law, whatever the journey is like."""

import math
from fractions import Fraction

import numpy as np
import pytest
from many import drawn_many
from refusals import refused
from worlds import scattered, small_map, triangle

from nomadp.audit import measure
from nomadp.audit.loss import final_laws
from nomadp.audit.paths import Sampling, check_full_size, check_path
from nomadp.errors import DomainError
from nomadp.laws import ProjectiveResponse, SubsetSelection
from nomadp.locations import LocationSet
from nomadp.mechanisms import make_mechanism, perturb_one
from nomadp.mechanisms.oracles import batch
from nomadp.randomness import SeededRandom, WordStream
from nomadp.trajectory import TrajectorySet
from nomadp.zones import polygon_zones

NAMES = ["trips", "starts", "ends", "visits"]


def corners():
    """South-west, south-east, north-west, north-east."""
    return LocationSet.from_columns("abcd", [41.0, 41.0, 42.0, 42.0], [-88, -87, -88, -87])


def ask(name, **options):
    return make_mechanism(name, corners(), 4, **({"zones": "grid:2"} | options))


def names(question):
    return tuple(map(question.label_name, range(question.label_count)))


@pytest.mark.parametrize(
    ("name", "label", "said"),
    [("trips", 1 * 4 + 2, "r0_c1 > r1_c0"), ("starts", 1, "r0_c1"), ("ends", 2, "r1_c0")],
)
def test_a_question_reads_its_own_zones_of_a_journey(name, label, said):
    question = ask(name)
    assert question.labels_at(question.partition.of[[1, 3, 0, 2]], None) == label
    assert question.label_name(label) == said
    assert question.label_count == (16 if name == "trips" else 4)


@pytest.mark.parametrize(
    ("when", "hour", "said"),
    [
        ("day-part", 0, "0-6 h"),
        ("day-part", 24 + 6, "6-12 h"),
        ("day-part", 167, "18-24 h"),
        ("weekday", 23, "Mon"),
        ("weekday", 24, "Tue"),
        ("weekday", 167, "Sun"),
    ],
)
def test_a_question_of_when_puts_the_hour_into_the_label(when, hour, said):
    question = ask("starts", when=when)
    label = question.labels_at(question.partition.of[[3, 0]], hour)
    assert question.label_name(int(label)) == f"r1_c1, {said}"
    assert question.label_count == 4 * len(question.slots.names)


@pytest.mark.parametrize("name", NAMES)
def test_a_question_of_when_is_refused_where_nobody_knows_the_hour(name):
    question = ask(name, when="weekday")
    nowhen = TrajectorySet.from_lists([[0, 1]], size=4)
    with refused(DomainError, "hour_missing"):
        question.report([0, 1])
    with refused(DomainError, "hour_missing"):
        drawn_many(question, nowhen, SeededRandom(1))


@pytest.mark.parametrize("hour", [-1, 168, 777, 3.5, True])
def test_an_hour_out_of_range_is_refused_and_not_shown(hour):
    with refused(DomainError, "hour_out_of_range") as refusal:
        ask("starts", when="weekday").report([0, 1], hour=hour)
    assert "777" not in str(refusal.value)


@pytest.mark.parametrize("when", ["hourly", "", 3])
def test_refuses_an_unknown_when(when):
    with refused(DomainError, "unknown_time_division", choices=("day-part", "weekday")):
        ask("starts", when=when)


def test_refuses_zones_of_another_location_set():
    others = make_mechanism("starts", triangle(), 1).partition
    for zones in (others, 16, None):
        with refused(DomainError, "not_zones"):
            make_mechanism("starts", corners(), 1, zones=zones)


def test_zones_are_part_of_the_identity():
    square = [[(-89, 40.5), (-87.5, 40.5), (-87.5, 43), (-89, 43)]]
    made = polygon_zones(corners(), [square], ["west"])
    identities = {
        ask("starts", zones=zones, when=when).identity
        for zones in ("grid:1", "grid:2", made)
        for when in (None, "weekday")
    }
    assert len(identities) == 6
    assert made.sha256 in ask("starts", zones=made).identity
    assert names(ask("starts", zones=made)) == ("west", "elsewhere")
    assert ask("starts") == ask("starts", zones=ask("starts").partition)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4", "20"])
@pytest.mark.parametrize("name", NAMES)
def test_no_hour_and_no_place_costs_more_than_epsilon(name, epsilon):
    zones = "grid:1" if name == "trips" else "grid:2"  # as few as can be walked
    question = make_mechanism(name, triangle(), epsilon, zones=zones, when="day-part")
    assert question.inputs(2).shape == (3, 9 * 4)
    found = measure(question, 2)
    assert (found.flags, found.spent) == ((), {Fraction(epsilon)})
    # The audit rounds up by 1e-10.
    assert found.final_loss <= found.transcript_loss <= float(epsilon) + 2e-10
    if name != "visits" or epsilon != "0.1":
        assert math.isclose(found.transcript_loss, float(epsilon), rel_tol=1e-5)


def test_a_visit_of_several_points_is_a_mixture_of_their_laws():
    question = make_mechanism("visits", triangle(), 4, zones="grid:2")
    alone = final_laws(question, 1)
    assert np.allclose(final_laws(question, 3), alone[question.inputs(3)].mean(axis=0))


@pytest.mark.parametrize("when", [None, "day-part"])
@pytest.mark.parametrize("name", NAMES)
def test_many_reports_are_single_ones(name, when):
    question = make_mechanism(name, scattered(60), 2, zones="grid:4", when=when)
    rng = np.random.default_rng(3)
    lists = [rng.integers(0, 60, 1 + k % 4) for k in range(50)]
    hours = rng.integers(0, 168, 50)
    some = TrajectorySet.from_lists(lists, size=60, hours=hours)
    alone = [
        perturb_one(question, some[k], SeededRandom(1).stream(k), int(hours[k]))
        for k in range(50)
    ]
    found = drawn_many(question, some, SeededRandom(1)).reshape(50, -1)
    assert list(map(tuple, found.tolist())) == alone


@pytest.mark.parametrize(("name", "when"), [("trips", None), ("visits", "weekday")])
def test_the_fast_path_is_the_same_however_it_is_cut(monkeypatch, name, when):
    question = make_mechanism(name, scattered(60), 2, when=when)
    lists, hours = [[k, 59 - k] for k in range(60)], 5 * np.arange(60) % 168
    some = TrajectorySet.from_lists(lists, size=60, hours=hours)
    whole = drawn_many(question, some, SeededRandom(1)).tolist()
    monkeypatch.setattr(batch, "_NUMBERS_AT_ONCE", 1)
    assert drawn_many(question, some, SeededRandom(1)).tolist() == whole


@pytest.mark.parametrize("name", ["ends", "visits"])
def test_the_fast_path_of_a_question_of_when_follows_the_exact_law(name):
    question = make_mechanism(name, small_map(3), 4, zones="grid:2", when="day-part")
    assert check_path(question, "numpy", 2, Sampling((2,), 36_000, 0, 0)).ok


class OthersFromTheTruthOn(SubsetSelection):
    """The other labels of a set are those that follow the true one."""

    def drawn(self, labels, words):
        first = labels + ~self._is_inside(words)
        return np.sort((first[:, None] + np.arange(self.count)) % self.size, axis=1)


class ReadsTheTruth(SubsetSelection):
    """Holds the truth whatever the first word says."""

    def drawn(self, labels, words):
        rows = words.copy()
        rows[:, 0] = 0
        return super().drawn(labels, rows)


@pytest.mark.parametrize("kind", [OthersFromTheTruthOn, ReadsTheTruth])
def test_a_drawing_that_strays_from_its_law_is_flagged_by_the_audit(kind):
    """Weights that say one thing while words draw another."""
    question = make_mechanism("starts", small_map(7), 1, zones="grid:30")
    law = question.channel
    assert law.count == 2
    assert check_path(question, "numpy", 2, Sampling((2,), 98_000, 0, 0)).ok
    vars(question)["channel"] = kind(law.size, law.count, law.share)
    assert not check_path(question, "numpy", 2, Sampling((2,), 98_000, 0, 0)).ok


@pytest.mark.parametrize("name", NAMES)
def test_at_full_size_a_question_keeps_epsilon_in_words_by_either_law(name):
    fine, coarse = (
        make_mechanism(name, scattered(4000), "1/2", zones=zones)
        for zones in ("grid:20", "grid:4")
    )
    assert type(coarse.channel) is SubsetSelection
    assert (type(fine.channel) is ProjectiveResponse) is (name == "trips")
    for question in (fine, coarse):
        row = check_full_size(question, 2)
        assert row.ok
        assert row.loss == pytest.approx(0.5, abs=1e-6)


class Counting(WordStream):
    def __init__(self):
        super().__init__()
        self.used, self._inner = 0, SeededRandom(1).stream(0)

    def _more(self, count):
        raise NotImplementedError

    def next(self):
        self.used += 1
        return self._inner.next()


@pytest.mark.parametrize("zones", ["grid:4", "grid:40"])
@pytest.mark.parametrize("name", NAMES)
def test_a_report_takes_as_many_words_whoever_goes_where(name, zones):
    question = make_mechanism(name, scattered(900), 1, zones=zones)
    used = set()
    for trajectory in ([0, 0], [5, 899], [7] * 9):
        words = Counting()
        perturb_one(question, trajectory, words)
        used.add(words.used)
    assert used == {question.channel.word_count + (name == "visits")}


def true_shares(question, lists):
    """What people on journeys of two points would answer without any privacy."""
    start, end = question.partition.of[lists].T
    trips = start * len(question.partition) + end
    told = {"trips": trips, "starts": start, "ends": end, "visits": np.append(start, end)}
    labels = told[question.name]
    return np.bincount(labels, minlength=question.label_count) / len(labels)


@pytest.mark.parametrize("name", NAMES)
def test_shares_are_estimated_without_bias_from_support(name):
    """By both laws, within five deviations of the exact variance, all labels together."""
    zones = "grid:12" if name == "trips" else "grid:8"
    question = make_mechanism(name, scattered(900), 2, zones=zones)
    assert (type(question.channel) is ProjectiveResponse) is (name == "trips")
    rng = np.random.default_rng(5)
    lists = (900 * rng.random((10_000, 2)) ** 2).astype(np.int64)
    some = TrajectorySet.from_lists(lists, size=900)
    law, reports = question.channel, drawn_many(question, some, SeededRandom(4))
    support = question.support_of(*np.unique(reports, return_counts=True))
    p, q = float(law.true_chance), float(law.other_chance)
    error = (support / len(some) - q) / (p - q) - true_shares(question, lists)
    each = float(law.variance) / len(some) / law.size
    chance = 5 * math.sqrt(2 / law.size) + 5 / math.sqrt(len(some))
    assert abs((error**2).mean() / each - 1) < chance
    assert abs(error.sum()) < 5 * math.sqrt(float(law.variance) / len(some))


@pytest.mark.slow
def test_the_variance_is_within_one_percent_of_the_formula():
    """2,000 repetitions of 3,000 people and 256 labels: the mean deviates by 0.2 %."""
    law = SubsetSelection(256, 5, Fraction(4))
    labels = np.minimum(np.random.default_rng(1).geometric(0.02, 3000), 256) - 1
    true = np.bincount(labels, minlength=256) / 3000
    p, q, words = float(law.true_chance), float(law.other_chance), SeededRandom(2)
    errors = []
    for k in range(2000):
        rows = words.bound_to(str(k)).rows(np.arange(3000), law.word_count)
        support = np.bincount(law.drawn(labels, rows).ravel(), minlength=256)
        errors.append((((support / 3000 - q) / (p - q) - true) ** 2).sum())
    assert np.mean(errors) == pytest.approx(float(law.variance) / 3000, rel=0.01)


def test_a_report_says_what_it_supports_and_holds_no_locations():
    question = ask("trips")
    report = question.report([1, 2])
    assert report.labels == tuple(names(question)[k] for k in report.values)
    with refused(DomainError, "report_without_locations", mechanism=question.name):
        _ = report.locations
    with refused(DomainError, "report_without_labels", mechanism="exp"):
        _ = make_mechanism("exp", corners(), 1).report([1, 2]).labels


def test_one_label_is_reported_for_certain_and_tells_nothing():
    question = make_mechanism("starts", corners(), 4, zones="grid:1")
    assert question.report([3]).values == (0,)
    assert (question.channel.true_chance, question.channel.other_chance) == (1, 0)
    assert measure(question, 1).final_loss == 0


def test_more_labels_than_a_law_takes_are_refused():
    many_zones = scattered(5000)
    with refused(DomainError, "label_count_out_of_range"):
        make_mechanism("trips", many_zones, 1, zones="grid:1000")
