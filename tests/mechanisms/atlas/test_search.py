"""The kernels find exactly the journeys of the law, whatever they round off on the way."""

import numpy as np
import pytest
from accelerator import printed_with_and_without
from hypothesis import given
from hypothesis import strategies as st
from many import drawn_many, fast_path, needs_numba
from worlds import scattered

from nomadp.drawing import draw
from nomadp.inference.evidence import near_of, near_of_reference
from nomadp.locations import LocationSet
from nomadp.mechanisms import perturb_one
from nomadp.mechanisms.atlas import Atlas, WholeJourney, build_atlas, charts, kernel_select
from nomadp.mechanisms.atlas.kernel import pick, report_journeys
from nomadp.mechanisms.atlas.kernel_rough import rough_totals
from nomadp.mechanisms.atlas.many import _rows
from nomadp.mechanisms.atlas.response import JourneyResponse
from nomadp.mechanisms.fast import limits
from nomadp.randomness import SimulatedWords
from nomadp.trajectory import TrajectorySet


def forget():
    for made in (charts.chart_of, charts._exact, charts._points):
        made.cache_clear()


@pytest.fixture(params=["table", "no table"])
def any_size(request, monkeypatch):
    """Small worlds as they are, and as if they were too large for a table."""
    forget()
    if request.param == "no table":
        monkeypatch.setattr(limits, "TABLE_LIMIT", 1)
    yield request.param
    forget()


@pytest.fixture
def no_table(monkeypatch):
    forget()
    monkeypatch.setattr(limits, "TABLE_LIMIT", 1)
    yield
    forget()


def world(lat, lng):
    return LocationSet.from_columns([f"p{k}" for k in range(len(lat))], lat, lng)


def doubled(size):
    """Every place twice, under two ids."""
    one = scattered(size)
    return world(np.tile(one.lat, 2), np.tile(one.lng, 2))


def grid(side):
    """Many distances that are equal, or nearly so."""
    lat, lng = np.meshgrid(np.arange(side) / 64 + 41, np.arange(side) / 64 - 87)
    return world(lat.ravel(), lng.ravel())


def whole_earth(size):
    rng = np.random.default_rng(3)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, size - 4)))
    lng = rng.uniform(-180, 180, size - 4)
    return world([90.0, -90.0, 0.0, 0.0, *lat], [0.0, 7.0, 180.0, 0.0, *lng])


def a_millimetre(size):
    rng = np.random.default_rng(4)
    return world(41 + 1e-8 * rng.random(size), 179.9 + 1e-8 * rng.random(size))


WORLDS = {
    "city": scattered,
    "doubled": lambda size: doubled(size // 2),
    "grid": lambda size: grid(round(size**0.5)),
    "earth": whole_earth,
    "millimetre": a_millimetre,
}
each_world = pytest.mark.parametrize("make", WORLDS.values(), ids=WORLDS)


def some_places(atlas, count, seed=0):
    """Truths: anywhere, at one place, and journeys of the book itself."""
    rng = np.random.default_rng(seed)
    anywhere = rng.integers(0, len(atlas.locations), (count, atlas.length))
    anywhere[::3] = anywhere[::3, :1]
    anywhere[1::3] = atlas.journeys[rng.integers(0, atlas.size, len(anywhere[1::3]))]
    return anywhere


@each_world
@pytest.mark.parametrize("length", [1, 2, 5])
def test_for_every_number_of_near_journeys_they_are_those_of_the_law(make, length, any_size):
    rng = np.random.default_rng(length)
    journeys = rng.integers(0, 36, (60, length)).astype(np.int32)
    journeys[40:] = journeys[:20]  # the same journey twice
    atlas = Atlas(make(36), journeys)
    places = some_places(atlas, 12)
    for count in range(1, 61):
        channel = JourneyResponse(atlas, count, 2)
        expected = near_of_reference(channel, places) if count < 60 else [list(range(60))] * 12
        assert np.array_equal(near_of(channel, places), expected)


@each_world
@pytest.mark.parametrize("length", [1, 3, 8])
def test_reports_of_a_large_atlas_are_those_of_the_program(make, length, any_size):
    atlas = build_atlas(make(400), length, 3000)
    places = some_places(atlas, 24)
    words = SimulatedWords(6).rows(np.arange(24), 1)
    for count in (1, 2, 30, atlas.size // 3, atlas.size - 1, atlas.size):
        channel = JourneyResponse(atlas, count, 7)
        alone = [draw(channel, row, int(w[0])) for row, w in zip(places, words, strict=True)]
        assert _rows(channel, places, words).tolist() == alone


@needs_numba
def test_a_mechanism_over_a_large_set_has_kernels_and_reports_as_the_program_does(no_table):
    mechanism = WholeJourney(locations=scattered(150), epsilon=6, size=700)
    assert fast_path(mechanism) == "numba"
    rng = np.random.default_rng(2)
    some = TrajectorySet.from_lists(
        [rng.integers(0, 150, n) for n in (1, 2, 2, 3, 5, 8, 9, 40)], size=150
    )
    words = SimulatedWords(5)
    alone = [perturb_one(mechanism, some[k], words.stream(k)) for k in range(len(some))]
    assert drawn_many(mechanism, some, words).tolist() == [y for one in alone for y in one]


@each_world
def test_rough_totals_are_off_by_less_than_the_chart_says(make, any_size):
    for length in (1, 2, 40):
        locations = make(64)
        rng = np.random.default_rng(length)
        atlas = Atlas(locations, rng.integers(0, 64, (500, length)).astype(np.int32))
        chart = charts.chart_of(atlas)
        total_km = np.empty(500, dtype=np.float32)
        for places in some_places(atlas, 40):
            rough_totals(places, chart, total_km)
            exact_km = atlas.distances_km(places)
            assert np.abs(total_km - exact_km).max() <= chart.off_km
            assert total_km.max() < chart.top_km


def test_the_rough_error_of_a_city_leaves_hardly_anything_in_doubt():
    chart = charts.chart_of(build_atlas(scattered(200), 4, 500))
    assert chart.off_km < 4 * 1e-3  # a metre for each of four positions


def test_the_table_leaves_no_blur_and_a_large_set_next_to_none(any_size):
    chart = charts.chart_of(build_atlas(scattered(50), 4, 100))
    if any_size == "table":
        assert chart.blur_km == 0
    else:
        assert 0 < chart.blur_km < 1e-7
        assert chart.table_km.size == 0


def told_and_drawn(atlas):
    """What the kernel says of journeys at (0, 1), of which one is near, and what it should."""
    channel = JourneyResponse(atlas, 1, 3)
    places, words = np.array([[0, 1]] * 50), SimulatedWords(0).rows(np.arange(50), 1)
    law = channel.near_count, channel.heavy, channel.light
    told = report_journeys(places, words, charts.chart_of(atlas), law).tolist()
    alone = [draw(channel, row, int(w[0])) for row, w in zip(places, words, strict=True)]
    assert _rows(channel, places, words).tolist() == alone
    return told, alone


def test_ties_between_different_places_are_left_to_the_program(no_table):
    # As far to the west as to the east: a kernel that may be off by the last bit of a distance
    # cannot know which is nearer.
    locations = world([0.0] * 5, [0.0, 0.0, 1.0, -1.0, 9.0])
    atlas = Atlas(locations, np.array([[4, 4], [2, 2], [3, 3]], dtype=np.int32))
    told, _ = told_and_drawn(atlas)
    assert set(told) == {-1}
    near = near_of(JourneyResponse(atlas, 1, 3), np.array([[0, 1], [2, 3]]))
    assert near.tolist() == [[1], [1]]


@pytest.mark.parametrize("again", [[2, 3], [6, 7]], ids=["same ids", "other ids"])
def test_the_same_places_twice_are_a_tie_for_everybody(again, no_table):
    journeys = np.array([[3, 3], [2, 3], again, [2, 2]], dtype=np.int32)
    told, alone = told_and_drawn(Atlas(doubled(4), journeys))
    assert told == alone


def test_a_sample_that_misleads_costs_time_only(any_size, monkeypatch):
    # Every journey of the sample is far away, and all others are close to each other.
    near, far = np.arange(50), np.arange(50, 60)
    lat = np.concatenate([41 + near / 1e4, 48 + far / 1e2])
    rng = np.random.default_rng(0)
    journeys = rng.choice(near, (3000, 2))
    journeys[::17] = rng.choice(far, journeys[::17].shape)
    atlas = Atlas(world(lat, np.full(60, 3.0)), journeys.astype(np.int32))
    places = np.concatenate([some_places(atlas, 9), rng.choice(far, (9, 2))])
    for count in (1, 40, 300, 1500, 2900, 2999):
        channel = JourneyResponse(atlas, count, 2)
        assert np.array_equal(near_of(channel, places), near_of_reference(channel, places))


values = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0000001, 7.0, 1e3]), min_size=1)


@given(values, st.data())
def test_a_bracket_holds_the_value_it_is_for(values, data):
    count = data.draw(st.integers(1, len(values)))
    some = np.array(values, dtype=np.float32)
    low, high = kernel_select.bracket(some, count, np.float32(0), np.float32(2e3))
    assert np.count_nonzero(some < low) < count <= np.count_nonzero(some < high)


@pytest.mark.parametrize("size", [1, 7, 128, 129, 300])
def test_every_target_is_in_the_cell_of_the_cumulated_weights(size):
    heavy, light = 5, 2
    near = np.random.default_rng(size).random(size) < 0.3
    total_km = np.where(near, 1, 3).astype(np.float32)
    weight = np.where(near, heavy, light)
    law = int(near.sum()), heavy, light
    found = [pick(t, np.float32(2), law, total_km) for t in range(weight.sum())]
    assert found == np.repeat(np.arange(size), weight).tolist()


PROGRAM = """
import numpy as np
from nomadp.datasets.city import synthetic_city
from nomadp.inference.evidence import near_of
from nomadp.mechanisms.fast import limits
from nomadp.mechanisms.fast.compiling import has_numba
from nomadp.mechanisms.atlas import WholeJourney
from nomadp.mechanisms.paths import perturb_many
from nomadp.randomness import SimulatedWords
city = synthetic_city(seed=2, places=60, trips=30)
for limit in (4096, 10):
    limits.TABLE_LIMIT = limit
    mechanism = WholeJourney(locations=city.locations, epsilon=6, size=200 + limit % 7)
    path = "numba" if has_numba() else "reference"
    drawn = perturb_many(mechanism, city.trajectories, SimulatedWords(1), path)
    print(drawn.locations.tolist(), drawn.numbers.tolist())
    print(near_of(mechanism.channel(3), np.arange(60).reshape(20, 3)).tolist())
"""


def test_reports_are_the_same_with_and_without_the_accelerator():
    fast, plain = printed_with_and_without(PROGRAM)
    assert fast == plain
    assert len(fast) > 1000
