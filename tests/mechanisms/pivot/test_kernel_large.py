"""Large sets: cells, forced on small worlds, against scans, laws and the reference."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from exact_laws import assert_bulk_follows
from hypothesis import given, settings
from hypothesis import strategies as st
from many import drawn_many, needs_numba
from scipy import stats
from worlds import scattered, triangle

from nomadp.laws import Disc, Exponential, probabilities
from nomadp.locations import LocationSet
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.dispatch import REFERENCE, fastest, perturb_many
from nomadp.mechanisms.fast import draws, limits
from nomadp.mechanisms.fast.word_rows import ceiling, draw_rows
from nomadp.mechanisms.large import ball_tree, cell_sets, farthest, pairs, rejection
from nomadp.mechanisms.pivot import batch as pivot_many
from nomadp.mechanisms.pivot import kernel_large as large
from nomadp.mechanisms.pivot import radii
from nomadp.mechanisms.pivot.atp import AnchoredPivotSampling
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

pytestmark = pytest.mark.slow  # CI runs it


def world(lat, lng):
    return LocationSet.from_columns([f"p{k}" for k in range(len(lat))], lat, lng)


def city(size, seed=0):
    return scattered(size, seed)


def globe(size, seed=0):
    rng = np.random.default_rng(seed)
    return world(np.degrees(np.arcsin(rng.uniform(-1, 1, size))), rng.uniform(-180, 180, size))


def date_line(size, seed=0):
    rng = np.random.default_rng(seed)
    lng = rng.uniform(179, 181, size)
    return world(rng.uniform(-18, -16, size), np.where(lng > 180, lng - 360, lng))


def pole(size, seed=0):
    rng = np.random.default_rng(seed)
    lat, lng = rng.uniform(89, 90, size), rng.uniform(-180, 180, size)
    lat[:2] = 90.0
    return world(lat, lng)


def lattice(size, seed=0):
    """Exact alignments, antipodes and duplicates, where borders and edges are hit."""
    side = np.arange(size)
    return world((side % 5 - 2) * 22.5, (side // 5 % 8 - 4) * 45.0)


def one_apart(size, seed=0):
    lat, lng = np.full(size, 40.0), np.full(size, 3.0)
    lat[size // 3] = 40.5
    return world(lat, lng)


def antipodes(size, seed=0):
    """Two rooms on opposite sides of the Earth, where chords are all but equal."""
    rng = np.random.default_rng(seed)
    lat, lng = rng.uniform(40, 40.0001, size), rng.uniform(3, 3.0001, size)
    there = np.arange(size) % 2 == 1
    return world(np.where(there, -lat, lat), np.where(there, lng - 180, lng))


WORLDS = [city, globe, date_line, pole, lattice, one_apart, antipodes]
each_world = pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__name__)


def balls_of(locations, sectors=4):
    place = ball_tree.sorted_places(locations)
    return place, place.balls(sectors)


def cells_of(balls, domain):
    region = pairs.domain_of((domain.anchor, domain.radius_km), (-1, -1), (0, 0))
    wide, narrow = cell_sets.new_cell_set(balls), cell_sets.new_cell_set(balls)
    cell_sets.cells_in_disc(balls, region, wide)
    cell_sets.cells_in_sectors(balls, domain, wide, narrow)
    return narrow


def new_scratch(size):
    return np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int64)


@each_world
def test_a_sector_is_the_references_to_the_bit_and_a_distance_nearly(make, small_is_large):
    locations = make(60)
    for sectors in (2, 3, 4, 6, 12):
        place, balls = balls_of(locations, sectors)
        for i in range(0, 60, 7):
            here = place.rank[i]
            seen = [
                pairs.sector_between(balls.rows, here, r, balls.borders) for r in place.rank
            ]
            assert seen == locations.sectors(i, sectors).tolist()
            km = [pairs.km_between(balls.rows, here, r) for r in place.rank]
            assert km == pytest.approx(locations.distances_km(i).tolist(), rel=1e-14)


@each_world
def test_every_node_is_a_run_whose_locations_lie_in_its_ball(make, small_is_large):
    locations = make(150)
    place, balls = balls_of(locations)
    points = np.array([pairs.unit_vector(balls.rows, r) for r in range(150)])
    seen = np.zeros(150, dtype=int)
    for (x, y, z, radius), (start, end, left) in zip(balls.ball, balls.nodes, strict=True):
        apart = np.linalg.norm(points[start:end] - (x, y, z), axis=1)
        assert apart.max() <= radius + 1e-13
        if left:
            children = balls.nodes[left : left + 2]
            assert children[0, 0] == start
            assert children[0, 1] == children[1, 0]
            assert children[1, 1] == end
        else:
            seen[start:end] += 1
    assert (seen == 1).all()
    assert place.order[place.rank].tolist() == list(range(150))


@st.composite
def domains(draw):
    make = draw(st.sampled_from(WORLDS))
    size = draw(st.integers(3, 90))
    index = st.integers(0, size - 1)
    sectors = draw(st.sampled_from([2, 3, 4, 6]))
    part = draw(st.one_of(st.none(), st.floats(0, 1.2)))
    exact = draw(st.booleans())  # a radius that a location lies on
    pivots = draw(st.tuples(st.one_of(st.just(-1), index), st.one_of(st.just(-1), index)))
    reported = draw(st.tuples(st.integers(0, sectors - 1), st.integers(0, sectors - 1)))
    return make(size), sectors, (draw(index), part, exact), pivots, reported


def by_scanning(locations, sectors, disc, pivots, reported):
    """The domain as the reference has it."""
    inside = np.ones(len(locations), dtype=bool)
    if disc is not None:
        inside[:] = False
        inside[locations.within(*disc)] = True
    for pivot, sector in zip(pivots, reported, strict=True):
        if pivot >= 0:
            inside &= locations.sectors(pivot, sectors) == sector
    return set(np.flatnonzero(inside).tolist())


@settings(max_examples=80, deadline=None)
@given(domains())
def test_a_scan_lists_exactly_the_domain_with_the_laws_weights(case):
    locations, sectors, (anchor, part, exact), pivots, reported = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ball_tree, "LEAF", 2)
        ball_tree._sorted_places.cache_clear()
        place, balls = balls_of(locations, sectors)
    disc = None
    if part is not None:
        row = np.sort(locations.distances_km(anchor))
        radius = row[int(min(part, 0.99) * len(row))] if exact else part * row[-1]
        # One last bit of an arctangent must not decide the comparison.
        disc = anchor, float(radius) * (1 + 1e-13)
    expected = by_scanning(locations, sectors, disc, pivots, reported)
    ranks = tuple(int(place.rank[p]) if p >= 0 else -1 for p in pivots)
    kernel_disc = (-1, 0.0) if disc is None else (int(place.rank[anchor]), disc[1])
    domain = pairs.domain_of(kernel_disc, ranks, reported)
    law, scratch = (0.01, 0.0, 2.0**30), new_scratch(len(locations))
    secret = place.rank[anchor]
    found = rejection._list(secret, law, balls, domain, cells_of(balls, domain), scratch)
    listed = place.order[scratch[0][:found]]
    assert sorted(listed.tolist()) == sorted(expected)
    weight = np.diff(scratch[1][:found], prepend=0)
    assert weight.tolist() == [
        draws.weight_of(pairs.km_between(balls.rows, secret, r), 0.01, 2**30)
        for r in scratch[0][:found]
    ]


@pytest.mark.parametrize(("high", "wide"), [(1, 2), (1, 8), (4, 1), (1, 0), (0, 1)])
def test_the_longer_side_is_halved_first(high, wide):
    rng = np.random.default_rng(0)
    lat, lng = rng.uniform(-high / 2, high / 2, 4_000), rng.uniform(0, wide, 4_000)
    _, balls = balls_of(world(lat, lng))
    left, right = balls.ball[balls.nodes[0, 2]], balls.ball[balls.nodes[0, 2] + 1]
    apart = np.abs(left - right)[:3]
    assert (apart[2] > apart[:2].max()) == (high >= wide)


@each_world
def test_the_farthest_is_as_far_as_the_references_to_the_bit(make, small_is_large):
    locations = make(120)
    found = radii.farthest_from_km(locations, np.arange(120))
    assert found.tolist() == [locations.distances_km(i).max() for i in range(120)]


def test_where_rounding_could_decide_who_is_farthest_nobody_is_named(small_is_large):
    # From the middle of three on a meridian both ends are equally far, up to rounding.
    locations = world([41.0, 41.1, 41.2], [3.0, 3.0, 3.0])
    place, balls = balls_of(locations, 1)
    found = np.empty(3, dtype=np.int64)
    farthest.farthest_locations(balls, place.rank, found)
    assert (found < 0).tolist() == [False, True, False]


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0])
@pytest.mark.parametrize("total", [1, 3, 1000, 10**6, 2**31 - 1])
def test_one_word_gives_a_location_and_an_independent_threshold(word, total):
    most = 2**25 + 12345
    rank, rest = draws.split(np.uint64(word), total)
    threshold = draws.high_product(np.uint64(rest), most)
    whole, rest = divmod(word * total, 2**64)
    assert (rank, threshold) == (whole, rest * most >> 64)


def test_acceptance_has_the_laws_own_chance_to_one_word_in_two_to_the_64():
    # What is accepted is an interval of words: bisect its end, and its length is exact.
    total, most, weight, rank = 1000, 2**25, 2**24 + 777, 419

    def accepted(word):
        at, rest = draws.split(np.uint64(word), total)
        return (at, draws.high_product(np.uint64(rest), most)) < (rank, weight)

    low, high = 0, 2**64 - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if accepted(middle) else (low, middle)
    first = -(-rank * 2**64 // total)
    assert abs(Fraction(high - first) - Fraction(2**64 * weight, total * most)) < 1


@pytest.mark.parametrize("pivots", [(-1, -1), (3, -1), (3, 31)])
@pytest.mark.parametrize("make", [city, globe, lattice], ids=lambda make: make.__name__)
def test_what_is_drawn_follows_the_law_of_the_reference(make, pivots, small_is_large):
    assert_follows_the_law(rejection.inside, make, pivots, 10_000)


@pytest.mark.parametrize("tries", [0, 1, 3, 100])
def test_scanning_after_some_tries_does_not_bend_the_law(tries, small_is_large, monkeypatch):
    # Compiled code has its tries as a constant: it is compiled anew.
    monkeypatch.setattr(rejection, "_TRIES_MAX", tries)
    monkeypatch.setattr(rejection, "_TRIES_MIN", tries)
    anew = pytest.importorskip("numba").njit(rejection.inside.py_func)
    used = assert_follows_the_law(anew, city, (3, 31), 4_000)
    assert used.max() == tries + 1 or (tries == 100 and used.max() > 10)


def assert_follows_the_law(inside, make, pivots, count):
    locations, size, sectors, secret, anchor = make(40), 40, 4, 17, 5
    place, balls = balls_of(locations, sectors)
    radius = float(np.sort(locations.distances_km(anchor))[30]) * (1 + 1e-13)
    reported = next(
        pair
        for pair in np.ndindex(sectors, sectors)
        if len(by_scanning(locations, sectors, (anchor, radius), pivots, pair)) >= 3
    )
    members = sorted(by_scanning(locations, sectors, (anchor, radius), pivots, reported))
    channel = Exponential(
        locations, np.array(members), 2 * radius, Fraction(3), Disc(anchor, radius)
    )
    offset = max(0.0, locations.distances_km(secret)[anchor] - radius)
    law = (channel.scale_per_km, offset, float(ceiling(channel.share)))
    domain = domain_in(place, (anchor, radius), pivots, reported)
    cells, scratch = cells_of(balls, domain), new_scratch(size)
    seen, used = np.zeros(size), np.zeros(count, dtype=int)
    for k, words in enumerate(SeededRandom(1).rows(np.arange(count), 130)):
        drawn, used[k] = inside(
            words, 0, place.rank[secret], law, balls, domain, cells, scratch
        )
        seen[place.order[drawn]] += 1
    expected = count * probabilities(channel, secret)
    assert seen[members].sum() == count
    statistic = ((seen[members] - expected) ** 2 / expected).sum()
    assert statistic <= stats.chi2.isf(1e-6, len(members) - 1)
    return used


def domain_in(place, disc, pivots, reported):
    ranks = tuple(int(place.rank[p]) if p >= 0 else -1 for p in pivots)
    return pairs.domain_of((int(place.rank[disc[0]]), disc[1]), ranks, reported)


@pytest.mark.parametrize("radius_km", [20_015.0, 20_015.115, 20_015.2, 20_016.0, 30_000.0])
def test_no_draw_leaves_the_reported_sectors_however_wide_the_disc(radius_km, small_is_large):
    locations, sectors, anchor, pivots = city(300), 12, 5, (3, 31)
    place, balls = balls_of(locations, sectors)
    scratch, law = new_scratch(300), (0.0, 0.0, 2.0**24)
    words = SeededRandom(1).rows(np.arange(100), 160)
    for reported in np.ndindex(sectors, sectors):
        expected = by_scanning(locations, sectors, (anchor, radius_km), pivots, reported)
        domain = domain_in(place, (anchor, radius_km), pivots, reported)
        cells, seen = cells_of(balls, domain), set()
        for row in words:
            drawn, _ = rejection.inside(
                row, 0, place.rank[17], law, balls, domain, cells, scratch
            )
            seen.add(int(place.order[drawn]) if drawn >= 0 else None)
        assert seen <= (expected or {None})
        assert len(expected) > 4 or seen == (expected or {None})


@pytest.mark.parametrize("radius_km", [20_015.2, pytest.param(20_016, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "trajectory", [(0, 2), pytest.param((1, 0, 2), marks=pytest.mark.slow)]
)
def test_a_disc_as_wide_as_the_earth_follows_the_exact_law(
    radius_km, trajectory, small_is_large
):
    mechanism = make_mechanism("atp", triangle(), 20, granularity=4, radius_km=radius_km)
    assert_bulk_follows(mechanism, trajectory, 12_000)


@needs_numba
@pytest.mark.parametrize("radius_km", [3.0, 20_000])
def test_a_disc_spans_twice_its_radius_but_not_more_than_the_set(
    radius_km, small_is_large, monkeypatch
):
    locations, seen = city(30), []
    mechanism = make_mechanism("atp", locations, 2, radius_km=radius_km)

    def listening(law, place, balls, disc):
        seen.append(disc)
        return law[0], 0.0, law[1]

    monkeypatch.setattr(large, "_law", listening)
    for name in ("_copy", "draw_copies"):
        plain = getattr(large, name)
        monkeypatch.setattr(large, name, getattr(plain, "py_func", plain))
    drawn_many(mechanism, TrajectorySet.from_lists([[1, 2]], size=30), SeededRandom(0))
    span_km = min(2 * radius_km, locations.diameter_km)
    assert {disc[1:] for disc in seen} == {(radius_km, span_km)}


def test_distances_count_from_where_the_disc_begins(small_is_large):
    locations = city(30)
    place, balls = balls_of(locations)
    for secret in range(30):
        from_anchor = locations.distances_km(secret)[4]
        disc = (place.rank[4], 20.0, 40.0)
        scale, offset, most = large._law((0.5, 2.0**25), place.rank[secret], balls, disc)
        assert (scale, most) == (0.5 / 80.0, 2.0**25)
        assert offset == pytest.approx(max(0.0, from_anchor - 20.0), abs=1e-9)
        assert large._law((0.5, 2.0**25), place.rank[secret], balls, (-1, 0.0, 40.0))[1] == 0
        assert large._law((0.5, 2.0**25), 0, balls, (-1, 0.0, 0.0))[0] == 0


@pytest.mark.parametrize("name", ["exp", "tp", "atp"])
@pytest.mark.parametrize("trajectory", [(0, 2), (1, 0, 2), (2,)])
def test_reports_follow_the_exact_law(name, trajectory, small_is_large):
    options = {"resolution": 2} if name == "atp" else {}
    options |= {} if name == "exp" else {"granularity": 4}
    mechanism = make_mechanism(name, triangle(), 4, **options)
    assert_bulk_follows(mechanism, trajectory, 12_000)


@pytest.mark.parametrize("name", ["exp", "tp", "atp"])
@each_world
def test_odd_worlds_give_public_locations_and_long_rows_change_nothing(
    name, make, small_is_large, monkeypatch
):
    locations = make(50)
    rng = np.random.default_rng(3)
    some = TrajectorySet.from_lists([rng.integers(0, 50, n) for n in (1, 2, 3, 9, 30)], size=50)
    mechanism = make_mechanism(name, locations, 3)
    generous = drawn_many(mechanism, some, SeededRandom(4))
    assert generous.min() >= 0
    assert generous.max() < 50
    monkeypatch.setattr(pivot_many, "draw_rows", partial(draw_rows, width=2))
    assert drawn_many(mechanism, some, SeededRandom(4)).tolist() == generous.tolist()


@pytest.mark.parametrize("lat", [(41.0, 42.0), (41.0, 41.0)])
@pytest.mark.parametrize("name", ["exp", "tp", "atp"])
def test_two_locations_are_a_large_set_too(name, lat, small_is_large, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_LIMIT", 1)
    mechanism = make_mechanism(name, world(lat, (3.0, 3.0)), 1)
    some = TrajectorySet.from_lists([[0, 1, 0]] * 200, size=2)
    assert set(drawn_many(mechanism, some, SeededRandom(0)).tolist()) == {0, 1}


@pytest.mark.parametrize("merge", ["coin", "direction", "first-index"])
def test_every_merge_and_direction_is_offered_for_large_sets(merge, small_is_large):
    mechanism = make_mechanism(
        "atp", city(60), 4, merge=merge, directions="preceding", radius_km=30.0
    )
    some = TrajectorySet.from_lists([[1, 2, 3, 4]] * 20, size=60)
    assert len(drawn_many(mechanism, some, SeededRandom(0))) == 80


def test_what_was_published_keeps_the_reference_program_and_so_do_other_laws(small_is_large):
    class Other(AnchoredPivotSampling):
        """Might do anything."""

    locations = city(20)
    assert fastest(make_mechanism("atp", locations, 2)) == "numba"
    assert fastest(make_mechanism("atp-as-published-not-private", locations, 2)) == REFERENCE
    assert fastest(Other(locations=locations, epsilon=2)) == REFERENCE


@needs_numba
def test_kernels_get_ranks_and_give_locations_back(small_is_large, monkeypatch):
    locations, seen = city(40), []

    def echo(batch, balls, plan, drawn, copy, anchors, radii_km):
        seen.append((batch, anchors))
        drawn.copies[copy] = batch.locations

    monkeypatch.setattr(large, "draw_copies", echo)
    some = TrajectorySet.from_lists([[7, 9], [30, 1, 2]], size=40)
    mechanism, place = make_mechanism("atp", locations, 2), ball_tree.sorted_places(locations)
    assert place.order.tolist() != sorted(place.order)
    assert drawn_many(mechanism, some, SeededRandom(0)).tolist() == some.locations.tolist()
    means = pivot_many._mean_locations(locations, some)
    assert place.order[seen[0][0].means].tolist() == means.tolist()
    assert all(anchors.min() >= 0 for _, anchors in seen)


def test_one_set_is_sorted_once(small_is_large):
    assert ball_tree.sorted_places(city(30)) is ball_tree.sorted_places(city(30))


@pytest.mark.parametrize("name", ["exp", "tp", "atp"])
def test_thousands_of_locations_err_like_the_reference(name):
    locations, count = city(5_000), 400
    true = np.random.default_rng(5).integers(0, 5_000, count)
    some = TrajectorySet.from_lists([[k, k] for k in true.tolist()], size=5_000)
    mechanism = make_mechanism(name, locations, 20)
    many = drawn_many(mechanism, some, SeededRandom(1))
    single = perturb_many(mechanism, some, SeededRandom(2), REFERENCE).locations
    bulk_km, reference_km = (
        locations.distances_between_km(some.locations, reported) for reported in (many, single)
    )
    # Errors of the two points of a trajectory depend on each other: compare pairs' means.
    found = stats.ttest_ind(*(km.reshape(-1, 2).mean(axis=1) for km in (bulk_km, reference_km)))
    assert found.pvalue > 1e-5
