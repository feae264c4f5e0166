"""Numpy instead of kernels: the same reports and counts of words, and the exact law alone."""

from fractions import Fraction

import numpy as np
import pytest
from exact_laws import assert_bulk_follows
from hypothesis import given
from hypothesis import strategies as st
from worlds import scattered, triangle

from nomadp.drawing import draw
from nomadp.laws import RandomizedResponse, SquareWave
from nomadp.locations import LocationSet
from nomadp.mechanisms import PUBLISHED, make_mechanism, perturb_one
from nomadp.mechanisms.fast.bulk import ceiling, draw_rows, mean_locations, tables_of
from nomadp.mechanisms.fast.compiling import is_compiled
from nomadp.mechanisms.fast.values import Batch, Drawn
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.ngram.mechanism import _grams
from nomadp.mechanisms.pivot.bulk import pivot_plan
from nomadp.mechanisms.pivot.calibration import calibrated_radius_km
from nomadp.mechanisms.plain import draws, independent, ngram, pivot, region, rows
from nomadp.randomness import SeededWords
from nomadp.trajectory import TrajectorySet

WORD = st.integers(min_value=0, max_value=2**64 - 1)
COUNT = 120  # trajectories

beside_numba = pytest.mark.skipif(
    not is_compiled(), reason="there is nothing to compare with: numba is not here"
)


def coincident() -> LocationSet:
    """Five locations at two places."""
    return LocationSet.from_columns(list("abcde"), [1.0, 1.0, 2.0, 1.0, 2.0], [7.0] * 5)


def one_place() -> LocationSet:
    return LocationSet.from_columns(list("ab"), [1.0, 1.0], [7.0, 7.0])


def globe() -> LocationSet:
    rng = np.random.default_rng(0)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, 90)))
    return LocationSet.from_columns(map(str, range(90)), lat, rng.uniform(-180, 180, 90))


@pytest.fixture(scope="module")
def worlds() -> dict[str, LocationSet]:
    return {
        "two": scattered(2),
        "one-place": one_place(),
        "three": triangle(),
        "coincident": coincident(),
        "globe": globe(),
        "hundreds": scattered(300),
    }


WORLDS = ["two", "one-place", "three", "coincident", "globe", "hundreds"]
each_world = pytest.mark.parametrize("world", WORLDS)
# Rows of 9 words run out for nearly all, rows of 40 for some.
EPSILONS_AND_WIDTHS = [("0.1", 64), ("4", 9), ("9", 40), ("20", 256)]

PIVOTS = {
    "tp": {},
    "tp preceding": {"directions": "preceding", "merge": "direction"},
    "tp two-sectors": {"granularity": 2},
    "atp": {},
    "atp coarse": {"resolution": 2, "granularity": 12, "merge": "first-index"},
    "atp fixed": {"radius_km": 20.0},
    "atp point": {"radius_km": 0.0},
    **{name: {} for name in PUBLISHED},
    **{f"{name} preceding": {"directions": "preceding"} for name in PUBLISHED},
}
each_pivot = pytest.mark.parametrize("case", PIVOTS)


def journeys(size: int) -> TrajectorySet:
    rng = np.random.default_rng(size)
    lengths = np.concatenate([np.arange(1, 9), rng.integers(1, 9, COUNT - 8)])
    return TrajectorySet.from_lists([rng.integers(0, size, n) for n in lengths], size=size)


def a_batch(locations: LocationSet, width: int) -> Batch:
    some = journeys(len(locations))
    words = np.ascontiguousarray(SeededWords(5).rows(np.arange(COUNT), width))
    return Batch(some.offsets, some.locations, words, mean_locations(locations, some))


def drawn_by(run, batch: Batch, *public) -> Drawn:
    points = len(batch.locations)
    nothing = np.full((2, points), -7), np.zeros(points, dtype=np.int64), np.full(COUNT, -7)
    drawn = Drawn(*nothing)
    run(batch, *public, drawn)
    return drawn


def assert_same(drawn: Drawn, other: Drawn, copies=slice(None)) -> None:
    assert drawn.used.tolist() == other.used.tolist()
    assert drawn.copies[copies].tolist() == other.copies[copies].tolist()
    assert drawn.coins.tolist() == other.coins.tolist()


def a_pivot_mechanism(case: str, locations: LocationSet, epsilon: str):
    return make_mechanism(case.split()[0], locations, epsilon, **PIVOTS[case])


@beside_numba
@each_pivot
@each_world
def test_tp_and_atp_draw_what_the_kernels_draw(worlds, world, case):
    from nomadp.mechanisms.pivot.kernel import pivot_sampling

    for epsilon, width in EPSILONS_AND_WIDTHS:
        mechanism = a_pivot_mechanism(case, worlds[world], epsilon)
        batch = a_batch(worlds[world], width)
        plan = pivot_plan(mechanism, np.diff(batch.offsets))
        public = tables_of(worlds[world], mechanism.sectors), plan
        plain = drawn_by(pivot.pivot_sampling, batch, *public)
        assert_same(plain, drawn_by(pivot_sampling, batch, *public))


@beside_numba
@each_world
def test_exp_draws_what_the_kernel_draws(worlds, world):
    from nomadp.mechanisms.pivot.kernel_large import independent_points

    for epsilon, width in EPSILONS_AND_WIDTHS:
        batch = a_batch(worlds[world], width)
        law = make_mechanism("exp", worlds[world], epsilon)._laws(np.diff(batch.offsets))
        public = sorted_places(worlds[world]).balls(1), law
        plain = drawn_by(independent.independent_points, batch, *public)
        assert_same(plain, drawn_by(independent_points, batch, *public), copies=0)


@beside_numba
@each_world
@pytest.mark.parametrize("max_step_km", [None, 0.5, 30.0])
@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_ngram_draws_what_the_kernel_draws(worlds, world, max_step_km, length):
    from nomadp.mechanisms.ngram.kernel import ngram_points

    places = np.random.default_rng(length).integers(0, len(worlds[world]), (COUNT, length))
    words = SeededWords(8).rows(np.arange(COUNT), 3 * length + 1)
    for epsilon in ("0.1", "4", "20"):
        mechanism = make_mechanism("ngram", worlds[world], epsilon, max_step_km=max_step_km)
        public = words, _grams(mechanism, length)
        found = np.full((2, COUNT, length), -7)
        ngram.ngram_points(mechanism.regions.of[places], *public, found[0])
        ngram_points(mechanism.regions.of[places], *public, found[1])
        assert found[0].tolist() == found[1].tolist()


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a mechanism then asks for is numpy's; a kernel that runs all the same fails."""
    for chooser in ("independent", "ngram", "pivot_bulk"):
        monkeypatch.setattr(f"nomadp.mechanisms.{chooser}.is_compiled", lambda: False)
    for kernel in ("large.independent_points", "ngram.ngram_points", "pivot.pivot_sampling"):
        monkeypatch.setattr(f"nomadp.mechanisms.kernels.{kernel}", None)


LAWS = {
    "exp": {"epsilon": 4},
    "ngram": {"epsilon": 4, "grid": 2},
    "tp": {"epsilon": 4, "granularity": 4},
    "tp preceding": {"epsilon": 12, "granularity": 4, "directions": "preceding"},
    "atp": {"epsilon": 4, "granularity": 4, "resolution": 2},
    # A disc that holds one or two of the three: scale and offsets matter.
    "atp fixed": {"epsilon": 20, "granularity": 4, "radius_km": 2.5},
    "tp-as-published-not-private": {"epsilon": 4, "granularity": 4},
    "atp-as-published-not-private": {"epsilon": 4, "granularity": 4, "resolution": 2},
}


@pytest.mark.parametrize("case", LAWS)
@pytest.mark.parametrize("trajectory", [(0, 2), (1, 0, 2), (2,)])
def test_reports_follow_the_exact_law(case, trajectory, without_numba):
    mechanism = make_mechanism(case.split()[0], triangle(), **LAWS[case])
    assert_bulk_follows(mechanism, trajectory, 12_000)


@pytest.mark.parametrize("max_step_km", [None, 0.1, 20.0, 45.0])
def test_ngram_in_numpy_is_the_reference_word_by_word(max_step_km, without_numba):
    mechanism = make_mechanism("ngram", scattered(60), 5, max_step_km=max_step_km)
    some = journeys(60)
    alone = [perturb_one(mechanism, some[k], SeededWords(3).stream(k)) for k in range(COUNT)]
    assert mechanism.perturb_many(some, SeededWords(3)).tolist() == [
        y for t in alone for y in t
    ]


@pytest.mark.parametrize("name", ["exp", "ngram", "tp", "atp"])
def test_a_report_does_not_depend_on_who_else_is_there(name, without_numba):
    mechanism, some = make_mechanism(name, scattered(40), 9), journeys(40)
    together = mechanism.perturb_many(some, SeededWords(4)).tolist()
    alone = [mechanism.perturb_many(some.select([k]), SeededWords(4), k) for k in range(COUNT)]
    assert np.concatenate(alone).tolist() == together


@pytest.mark.parametrize("name", ["ngram", "tp", "atp", *PUBLISHED])
def test_how_much_is_done_at_once_changes_nothing(name, without_numba, monkeypatch):
    options = {"max_step_km": 30.0} if name == "ngram" else {}
    mechanism, some = make_mechanism(name, scattered(40), 9, **options), journeys(40)
    at_once = mechanism.perturb_many(some, SeededWords(4)).tolist()
    monkeypatch.setattr(pivot, "_AT_ONCE", 7 * 40)
    monkeypatch.setattr(ngram, "_AT_ONCE", 1)
    monkeypatch.setattr(rows, "_PROPOSALS", 1)
    assert mechanism.perturb_many(some, SeededWords(4)).tolist() == at_once


@pytest.mark.parametrize("name", ["exp", "tp", "atp"])
def test_a_row_that_runs_out_is_drawn_again_from_its_beginning(
    name, without_numba, monkeypatch
):
    mechanism, some = make_mechanism(name, scattered(40), 9), journeys(40)
    generous = mechanism.perturb_many(some, SeededWords(4)).tolist()
    monkeypatch.setattr("nomadp.mechanisms.fast.bulk._FIRST_WIDTH", 1)
    monkeypatch.setattr(type(mechanism), "_words_likely", lambda *_: 1, raising=False)
    assert mechanism.perturb_many(some, SeededWords(4)).tolist() == generous


def test_a_missing_word_is_zero_and_is_counted():
    some = rows.Rows(np.array([[5, 6], [7, 8]], dtype=np.uint64))
    both = np.array([0, 1])
    assert some.take(np.array([1])).tolist() == [7]
    assert some.take(both).tolist() == [5, 8]
    assert some.take(both).tolist() == [6, 0]
    assert some.ahead(both[:, None], np.arange(2)).tolist() == [[0, 0], [0, 0]]
    assert some.used.tolist() == [2, 3]


def row(*words):
    return np.array(words, dtype=np.uint64)


@given(st.lists(st.tuples(WORD, st.integers(1, 2**62)), min_size=1))
def test_a_word_picks_below_a_total_exactly(cases):
    words, totals = zip(*cases, strict=True)
    found = draws.below(row(*words), np.array(totals))
    assert found.tolist() == [word * total >> 64 for word, total in cases]


@given(WORD, st.integers(1, 2**32 - 1), st.integers(2**24, 2**40))
def test_one_word_gives_a_location_and_an_independent_threshold(word, total, most):
    rank, threshold = draws.below_and_rest(row(word), total, np.array([most]))
    whole, rest = divmod(word * total, 2**64)
    assert (rank.tolist(), threshold.tolist()) == ([whole], [rest * most >> 64])


@given(WORD, st.sampled_from(["0.01", "1", "7/2"]))
def test_randomised_response_is_the_reference_bit_for_bit(word, share):
    channel, true = RandomizedResponse(6, Fraction(share)), np.arange(6)
    heavy = np.full(6, int(channel.weights(0)[0]))
    found = draws.response(np.repeat(row(word), 6), true, 6, heavy)
    assert found.tolist() == [draw(channel, x, word) for x in range(6)]


@given(WORD, st.sampled_from(["0.01", "1", "7/2", "12"]))
def test_the_square_wave_is_the_reference_bit_for_bit(word, share):
    channel, cells = SquareWave(16, Fraction(share)), np.arange(16)
    wave = (16, channel.reach, int(channel.weights(0).max()))
    found = draws.square_wave(np.repeat(row(word), 16), cells, wave)
    assert found.tolist() == [draw(channel, x, word) for x in range(16)]


@pytest.mark.parametrize("share", ["0.01", "1", "10"])
def test_weights_stay_between_the_unit_and_the_ceiling(share):
    most = ceiling(Fraction(share))
    apart, scale = np.array([-1e-9, 0.0, 1.0, 1e9]), np.full(4, float(Fraction(share)) / 2)
    found = draws.weights(apart, scale, np.full(4, most)).tolist()
    assert found[:2] == [most, most]
    assert 2**24 <= found[2] <= most
    assert found[3] == 2**24


def test_the_calibrated_radius_is_the_references():
    locations = scattered(50)
    mechanism = make_mechanism("atp", locations, 2, resolution=64)
    plan = pivot_plan(mechanism, np.array([2, 5]))
    channel = SquareWave(64, mechanism.split(2).shares(1)["radius"])
    cells, tables = channel.outputs, tables_of(locations, mechanism.sectors)
    for anchor in range(0, 50, 7):
        here = np.full(len(cells), anchor)
        found = region.calibrated_km(here, cells, tables, plan).tolist()
        distances = locations.distances_km(anchor)
        reference = [calibrated_radius_km(channel, cell, distances) for cell in cells.tolist()]
        assert found == pytest.approx(reference)


def test_what_rows_lack_is_asked_for_in_longer_ones():
    widths = []

    def run(batch: Batch, drawn: Drawn) -> None:
        widths.append(batch.words.shape[1])
        public = tables_of(locations, 4), pivot_plan(mechanism, np.diff(batch.offsets))
        pivot.pivot_sampling(batch, *public, drawn)

    locations = scattered(40)
    mechanism = make_mechanism("tp", locations, 1, granularity=4)
    some = TrajectorySet.from_lists([[1] * 90], size=40)
    draw_rows(run, some, SeededWords(0), 0, np.zeros(1, dtype=np.int64))
    assert widths[0] == 64
    assert widths[1:] == [4 * width for width in widths[:-1]]
    assert len(widths) > 1


def the_other_of_two(below_weight):
    """A law at one of two locations, and a threshold so far below the other one's weight."""
    locations, most = scattered(2), np.array([ceiling(Fraction(1))])
    scale, apart = np.array([0.5 / locations.diameter_km]), np.array([locations.diameter_km])
    weight = int(draws.weights(apart, scale, most)[0])
    return locations, scale, most, -(-(weight - below_weight) * 2**64 // int(most[0]))


@pytest.mark.parametrize(("below_weight", "accepted"), [(1, True), (0, False)])
def test_a_proposal_is_accepted_just_below_its_weight(below_weight, accepted):
    locations, scale, most, threshold = the_other_of_two(below_weight)
    # The first proposal is the other location; the second one, the truth, is accepted.
    some, here = rows.Rows(row(2**63, threshold, 0, 0)[None, :]), np.array([0])
    near = rows.Near(here, scale, np.zeros(1), most)
    both = rows.Domain(np.arange(2), here, np.array([2]))
    table = tables_of(locations).distance_km
    assert rows.draw_near(some, here, near, both, table) == [accepted]
    assert some.used == [2 if accepted else 4]


@pytest.mark.parametrize(("below_weight", "accepted"), [(1, True), (0, False)])
def test_exp_accepts_a_proposal_just_below_its_weight(below_weight, accepted):
    locations, scale, most, threshold = the_other_of_two(below_weight)
    words = row((2**64 + threshold + 1) // 2, 0)[None, :]
    batch = Batch(np.array([0, 1]), np.array([0]), words, np.array([0]))
    drawn = Drawn(*(np.zeros(shape, dtype=np.int64) for shape in ((2, 1), 1, 1)))
    law = np.stack([np.zeros(2), np.concatenate([scale, most])])
    independent.independent_points(batch, sorted_places(locations).balls(1), law, drawn)
    assert drawn.copies[0] == [accepted]
    assert drawn.used == [1 if accepted else 2]
