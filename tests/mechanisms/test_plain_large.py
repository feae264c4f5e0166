"""Large sets in numpy: what the kernels draw, word by word, and the exact law alone.

Without numba the kernels run as they are, slowly: then fewer trajectories are compared.
"""

import numpy as np
import pytest
from exact_laws import assert_bulk_follows
from odd_worlds import ODD_WORLDS, antipodes, city, globe, streets, world
from worlds import triangle

from nomadp.laws import SquareWave
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.fast.bulk import mean_locations
from nomadp.mechanisms.fast.compiling import is_compiled
from nomadp.mechanisms.fast.values import Batch, Drawn
from nomadp.mechanisms.large import cell_sets as marks_kernel
from nomadp.mechanisms.large import cells
from nomadp.mechanisms.large import covers as covers_kernel
from nomadp.mechanisms.large import farthest as farthest_kernel
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.large.pairs import domain_of
from nomadp.mechanisms.pivot import kernel_discs as discs_kernel
from nomadp.mechanisms.pivot import kernel_large as kernel
from nomadp.mechanisms.pivot.bulk import pivot_plan
from nomadp.mechanisms.pivot.calibration import calibrated_radius_km
from nomadp.mechanisms.plain import (
    covers,
    discs,
    farthest,
    large,
    marks,
    proposals,
    ragged,
    sights,
)
from nomadp.randomness import SeededWords
from nomadp.trajectory import TrajectorySet

COUNT = 60 if is_compiled() else 8

CASES = {
    "tp": {},
    "tp preceding": {"directions": "preceding", "merge": "direction"},
    "tp two-sectors": {"granularity": 2},
    "atp": {},
    "atp coarse": {"resolution": 2, "granularity": 12, "merge": "first-index"},
    "atp fixed": {"radius_km": 20.0},
    "atp point": {"radius_km": 0.0},
}
each_case = pytest.mark.parametrize("case", CASES)
each_world = pytest.mark.parametrize("make", ODD_WORLDS, ids=lambda make: make.__name__)


def journeys(size, count=COUNT):
    rng = np.random.default_rng(size)
    lengths = np.concatenate([np.arange(1, 9), rng.integers(1, 9, count - 8)])
    return TrajectorySet.from_lists([rng.integers(0, size, n) for n in lengths], size=size)


def drawn_by(run, batch, *public):
    points, count = len(batch.locations), len(batch.words)
    nothing = np.full((2, points), -7), np.zeros(points, dtype=np.int64), np.full(count, -7)
    drawn = Drawn(*nothing)
    run(batch, *public, drawn)
    return drawn


def both_drawn(case, locations, epsilon, width, count=COUNT):
    """What numpy and what the kernel draws, from the same words."""
    mechanism = make_mechanism(case.split()[0], locations, epsilon, **CASES[case])
    place, some = sorted_places(locations), journeys(len(locations), count)
    words = np.ascontiguousarray(SeededWords(5).rows(np.arange(count), width))
    means = place.rank[mean_locations(locations, some)]
    batch = Batch(some.offsets, place.rank[some.locations], words, means)
    public = place.balls(mechanism.sectors), pivot_plan(mechanism, some.lengths)
    runs = large.pivot_sampling, kernel.pivot_sampling
    return some, *(drawn_by(run, batch, *public) for run in runs)


def assert_same(some, plain, other, width):
    """Where words suffice; where they do not, both must say so, and that is all."""
    lasts = other.used <= width
    assert (plain.used <= width).tolist() == lasts.tolist()
    point = np.repeat(lasts, some.lengths)
    assert plain.used[lasts].tolist() == other.used[lasts].tolist()
    assert plain.copies[:, point].tolist() == other.copies[:, point].tolist()
    assert plain.coins[point].tolist() == other.coins[point].tolist()


@each_case
@each_world
def test_tp_and_atp_draw_what_the_kernels_draw(make, case, small_is_large):
    locations = make(60)
    for epsilon, width in (("0.1", 40), ("4", 9), ("20", 256)):
        some, plain, other = both_drawn(case, locations, epsilon, width)
        assert_same(some, plain, other, width)


@pytest.mark.parametrize("case", ["tp", "atp"])
@pytest.mark.parametrize("make", [city, globe, streets], ids=lambda make: make.__name__)
def test_thousands_of_locations_give_what_the_kernels_give(make, case):
    some, plain, other = both_drawn(case, make(5_000), 6, 128, 5 * COUNT)
    assert np.count_nonzero(other.used <= 128) > 0.9 * len(some)
    assert_same(some, plain, other, 128)


@pytest.mark.parametrize("case", ["tp preceding", "atp coarse"])
def test_whoever_lacks_words_stops_at_once(case, small_is_large):
    for width in (1, 2, 3, 9):
        some, plain, other = both_drawn(case, globe(60), 2, width)
        assert_same(some, plain, other, width)
        assert (plain.used > width).any()
        # No coins here: at most two directions and a target, then an anchor and a radius.
        assert plain.used.max() <= width + 5
        assert plain.copies.max() < 60


def arrow(size):
    """A shaft on a meridian and two barbs, equally far from all of it up to rounding."""
    lat, lng = 41 + np.arange(size) * 1e-3, np.full(size, -87.6)
    lat[-2:], lng[-2:] = 43.21, (-88.37, -86.83)
    return world(lat, lng)


@pytest.mark.parametrize("make", [*ODD_WORLDS, arrow], ids=lambda make: make.__name__)
def test_the_farthest_is_the_kernels_to_the_bit(make, small_is_large):
    locations, pending = make(120), np.empty(farthest_kernel.DEEPEST, dtype=np.int32)
    place = sorted_places(locations)
    balls, every = place.balls(1), np.arange(120)
    found = farthest.farthest_km(balls, np.concatenate([every, every[::-7]]))
    one_by_one = [farthest_kernel.farthest_km(balls, k, pending) for k in every]
    assert found[:120].tolist() == one_by_one
    assert found[120:].tolist() == one_by_one[::-7]
    reference = [locations.farthest_km(k) for k in place.order]
    assert found[:120].tolist() == pytest.approx(reference, rel=1e-14)


@pytest.mark.parametrize(("make", "ties"), [(globe, False), (antipodes, False), (arrow, True)])
def test_only_distances_that_tie_up_to_rounding_are_left_to_the_kernel(make, ties, monkeypatch):
    asked, ask = [], farthest_kernel.farthest_km
    monkeypatch.setattr(
        farthest_kernel, "farthest_km", lambda *known: asked.append(1) or ask(*known)
    )
    farthest.farthest_km(sorted_places(make(500)).balls(1), np.arange(500))
    assert (len(asked) > 0) == ties


def test_the_calibrated_radius_is_the_references(small_is_large):
    locations = city(300)
    mechanism = make_mechanism("atp", locations, 2, resolution=64)
    place, plan = sorted_places(locations), pivot_plan(mechanism, np.array([2, 5]))
    channel = SquareWave(64, mechanism.split(2).shares(1)["radius"])
    cells = channel.outputs
    for anchor in range(0, 300, 31):
        distances = locations.distances_km(anchor)
        here = np.full(len(cells), place.rank[anchor])
        known = cells, np.full(len(cells), distances.max())
        found = discs.sampled_km(here, known, place.balls(4), plan)
        reference = [calibrated_radius_km(channel, cell, distances) for cell in cells.tolist()]
        assert found.tolist() == pytest.approx(reference, rel=1e-12)


@pytest.mark.parametrize("make", [city, globe], ids=lambda make: make.__name__)
def test_the_calibrated_radius_is_the_kernels_but_for_the_last_bit_of_an_exponential(make):
    locations, rng = make(5_000), np.random.default_rng(0)
    mechanism = make_mechanism("atp", locations, 2)
    plan, balls = pivot_plan(mechanism, np.array([2])), sorted_places(locations).balls(1)
    anchor, cell = rng.integers(0, 5_000, 300), rng.integers(0, plan.wave[0], 300)
    known = cell, farthest.farthest_km(balls, anchor)
    found, room = (
        discs.sampled_km(anchor, known, balls, plan),
        discs_kernel.new_disc_room(balls),
    )
    one_by_one = [
        discs_kernel.sampled_km(place, tuple(reported), balls, plan, room[1])
        for place, *reported in zip(anchor, *known, strict=True)
    ]
    assert found.tolist() == pytest.approx(one_by_one, rel=1e-15)
    # Sums in another order agree in 63 of 100.
    assert np.mean(found == one_by_one) > 0.9


@each_world
def test_sectors_and_discs_are_the_references(make, small_is_large):
    locations, every = make(60), np.arange(60)
    place = sorted_places(locations)
    for sectors in (2, 3, 4, 12):
        balls = place.balls(sectors)
        for i in range(0, 60, 7):
            here = np.full(60, place.rank[i])
            seen = sights.sectors_between(balls.rows, here, place.rank, balls.borders)
            assert seen.tolist() == locations.sectors(i, sectors).tolist()
    for anchor in range(0, 60, 11):
        # Radii that a location lies on; the last bit of an arctangent must not decide.
        radius_km = np.sort(locations.distances_km(anchor))[::6] * (1 + 1e-13)
        held = sights.domains_of(np.full(len(radius_km), place.rank[anchor]), radius_km)
        for k, km in enumerate(radius_km.tolist()):
            inside = sights.holds(balls, held, np.full(60, k), place.rank[every])
            assert np.flatnonzero(inside).tolist() == sorted(locations.within(anchor, km))


def random_domains(locations, sectors, count=20):
    """Discs, each with one pivot or two; also what is public, and the kernel's domains."""
    rng, balls = np.random.default_rng(3), sorted_places(locations).balls(sectors)
    anchor, before, after = rng.integers(0, len(locations), (3, count))
    after[::3] = -1
    reported = tuple(rng.integers(0, sectors, (2, count)))
    radius_km = rng.uniform(0.02, 1, count) * locations.diameter_km
    domains = sights.domains_of(anchor, radius_km)
    domains = domains._replace(pivots=(before, after), reported=reported)
    columns = zip(anchor, radius_km, before, after, *reported, strict=True)
    return balls, domains, [domain_of((a, r), (b, c), (d, e)) for a, r, b, c, d, e in columns]


def kernel_marks(balls, domain):
    wide, narrow = marks_kernel.new_marks(balls), marks_kernel.new_marks(balls)
    region = domain_of((domain.anchor, domain.radius_km), (-1, -1), (0, 0))
    marks_kernel.mark(balls, region, wide)
    marks_kernel.narrow(balls, domain, wide, narrow)
    return narrow


def marked(balls, domains):
    return marks.narrow(balls, domains, marks.mark(balls, domains))


@pytest.mark.parametrize("make", [city, globe], ids=lambda make: make.__name__)
def test_a_word_finds_the_same_marked_location_as_in_the_kernel(make):
    balls, domains, known = random_domains(make(5_000), 6)
    some = marks.counted(marked(balls, domains))
    which = np.repeat(np.flatnonzero(some.marked), 30)
    words = SeededWords(1).rows(np.arange(1), len(which))[0]
    found, rest = marks.spot(balls, some, which, words)
    kernels = [kernel_marks(balls, domain) for domain in known]
    assert some.marked.tolist() == [marks_kernel.marked(each) for each in kernels]
    for k, word, *expected in zip(which, words, found.tolist(), rest.tolist(), strict=True):
        assert list(marks_kernel.spot(balls, kernels[k], word)) == expected


def assert_same_covers(balls, domains, known):
    """Whatever they hold, as coarse as they begin and as fine as they get."""
    every = np.arange(len(known))
    some, kernels = covers.Covers(balls, domains, marked(balls, domains)), []
    for domain in known:
        kernels.append(covers_kernel.new_cover(balls))
        covers_kernel.begin(balls, domain, kernel_marks(balls, domain), kernels[-1])
    going = every
    while len(going):
        assert some.total.tolist() == [covers_kernel.held(cover)[0] for cover in kernels]
        assert (some.open > 0).tolist() == [covers_kernel.held(cover)[1] for cover in kernels]
        location, owner = some.held(every)
        expected = [
            covers_kernel.located(cover, rank)
            for cover in kernels
            for rank in range(covers_kernel.held(cover)[0])
        ]
        assert location.tolist() == expected
        assert np.bincount(owner, minlength=len(every)).tolist() == some.total.tolist()
        going = every[some.open > 0]
        some.refine(going)
        for k in going:
            covers_kernel.refine(balls, kernels[k])


@each_world
def test_covers_are_the_kernels_at_every_depth(make, small_is_large):
    assert_same_covers(*random_domains(make(90), 4))


@pytest.mark.parametrize("make", [city, globe], ids=lambda make: make.__name__)
def test_covers_of_thousands_are_the_kernels(make):
    assert_same_covers(*random_domains(make(5_000), 6, COUNT // 4))


@pytest.fixture
def few_cells(small_is_large, monkeypatch):
    """Four cells, as if a set had millions of locations: trees are deep below them."""
    monkeypatch.setattr(cells, "_MOST_LEVELS", 2)


@pytest.mark.parametrize("make", [city, globe], ids=lambda make: make.__name__)
def test_deep_covers_are_the_kernels_and_so_is_what_they_give(make, few_cells):
    locations = make(300)
    assert_same_covers(*random_domains(locations, 6, 40))
    for case in ("tp", "atp coarse"):
        some, plain, other = both_drawn(case, locations, 9, 256)
        assert_same(some, plain, other, 256)


@pytest.fixture
def without_numba(monkeypatch):
    """What a mechanism then asks for is numpy's; a kernel that runs all the same fails."""
    monkeypatch.setattr("nomadp.mechanisms.pivot.bulk.is_compiled", lambda: False)
    monkeypatch.setattr(kernel, "pivot_sampling", None)


LAWS = {
    "tp": {"epsilon": 4, "granularity": 4},
    "tp preceding": {"epsilon": 12, "granularity": 4, "directions": "preceding"},
    "atp": {"epsilon": 4, "granularity": 4, "resolution": 2},
    # A disc that holds one or two of the three: scale and offsets matter.
    "atp fixed": {"epsilon": 20, "granularity": 4, "radius_km": 2.5},
}


@pytest.mark.parametrize("case", LAWS)
@pytest.mark.parametrize("trajectory", [(0, 2), (1, 0, 2), (2,)])
def test_reports_follow_the_exact_law(case, trajectory, small_is_large, without_numba):
    mechanism = make_mechanism(case.split()[0], triangle(), **LAWS[case])
    assert_bulk_follows(mechanism, trajectory, 12_000)


@pytest.mark.parametrize("name", ["tp", "atp"])
def test_a_report_does_not_depend_on_who_else_is_there(name, small_is_large, without_numba):
    mechanism, some = make_mechanism(name, globe(40), 9), journeys(40, 24)
    together = mechanism.perturb_many(some, SeededWords(4)).tolist()
    alone = [mechanism.perturb_many(some.select([k]), SeededWords(4), k) for k in range(24)]
    assert np.concatenate(alone).tolist() == together


@pytest.mark.parametrize("name", ["tp", "atp"])
def test_how_much_is_done_at_once_changes_nothing(
    name, small_is_large, without_numba, monkeypatch
):
    mechanism, some = make_mechanism(name, globe(40), 9), journeys(40, 24)
    at_once = mechanism.perturb_many(some, SeededWords(4)).tolist()
    for module, limit in (
        (large, "_AT_ONCE"),
        (proposals, "_PROPOSALS"),
        (proposals, "_CELLS"),
        (proposals, "_LISTED"),
        (farthest, "_AT_ONCE"),
        (farthest, "_LISTED"),
        (discs, "_AT_ONCE"),
    ):
        monkeypatch.setattr(module, limit, 7)
    assert mechanism.perturb_many(some, SeededWords(4)).tolist() == at_once


@pytest.mark.parametrize("name", ["tp", "atp"])
def test_a_row_that_runs_out_is_drawn_again_from_its_beginning(
    name, small_is_large, without_numba, monkeypatch
):
    mechanism, some = make_mechanism(name, globe(40), 9), journeys(40, 24)
    generous = mechanism.perturb_many(some, SeededWords(4)).tolist()
    monkeypatch.setattr("nomadp.mechanisms.fast.bulk._FIRST_WIDTH", 1)
    assert mechanism.perturb_many(some, SeededWords(4)).tolist() == generous


def test_lists_are_cut_between_them_and_a_long_one_stands_alone():
    cut = ragged.pieces(np.array([2, 2, 0, 9, 1, 3]), 4)
    assert [(piece.start, piece.stop) for piece in cut] == [(0, 2), (2, 4), (4, 6)]
    assert ragged.pieces(np.zeros(0, dtype=np.int64), 4) == []
    number, owner = ragged.runs(np.array([5, 0, 7]), np.array([2, 0, 3]))
    assert (number.tolist(), owner.tolist()) == ([5, 6, 7, 8, 9], [0, 0, 2, 2, 2])
