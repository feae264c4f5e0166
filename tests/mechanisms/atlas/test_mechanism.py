"""ATLAS: one two-level draw for the whole trajectory, exactly epsilon."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from many import drawn_many
from refusals import refused
from worlds import scattered, small_map

from nomadp.audit import measure
from nomadp.audit.certificate import worst_ratio
from nomadp.budget import exp_lower
from nomadp.errors import DomainError
from nomadp.laws.subset import nearest_first
from nomadp.mechanisms import perturb_one
from nomadp.mechanisms.atlas import Atlas, batch
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet


@given(st.lists(st.sampled_from([0.0, 1.0, 2.5, 2.5, 7.0]), min_size=1, max_size=30), st.data())
def test_exactly_the_nearest_count_as_near_with_ties_by_index(values, data):
    count = data.draw(st.integers(1, len(values)))
    near = nearest_first(np.array(values), count)
    expected = sorted(range(len(values)), key=lambda k: (values[k], k))[:count]
    assert np.flatnonzero(near).tolist() == sorted(expected)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4", "8"])
def test_the_law_is_certified_at_full_size(epsilon):
    locations = scattered(30)
    mechanism = Atlas(locations=locations, epsilon=epsilon)
    channel = mechanism.channel(2)
    every = np.indices((30, 30)).reshape(2, -1)
    weight = channel.weights(every)
    assert weight.shape == (900, channel.atlas.size)
    assert ((weight == weight.max()).sum(axis=1) == channel.near_count).all()
    assert channel.bound <= worst_ratio(weight) <= exp_lower(mechanism.epsilon)


@pytest.mark.parametrize("size", [1, 7, 16, 40])
def test_any_atlas_keeps_epsilon_and_a_sampled_one_spends_all_of_it(size):
    mechanism = Atlas(locations=small_map(4), epsilon=1, size=size)
    for length in (1, 2, 3):
        found = measure(mechanism, length)
        assert found.ok
        assert found.transcript_loss <= 1


def test_any_number_of_near_journeys_keeps_epsilon():
    for near in (1, 5, 16, 99):
        mechanism = Atlas(locations=small_map(4), epsilon=2, size=16, near_count=near)
        assert measure(mechanism, 2).ok


def test_many_at_once_report_bit_for_bit_what_the_program_does(monkeypatch):
    monkeypatch.setattr(batch, "_PAIRS_AT_ONCE", 50)
    locations = scattered(40)
    rng = np.random.default_rng(2)
    some = TrajectorySet.from_lists(
        [rng.integers(0, 40, n) for n in (1, *[2] * 60, 3, 8, 9, 40)], size=40
    )
    mechanism = Atlas(locations=locations, epsilon=6, size=9)
    randomness = SeededRandom(5)
    alone = [perturb_one(mechanism, some[k], randomness.stream(k)) for k in range(len(some))]
    assert drawn_many(mechanism, some, randomness).tolist() == [y for one in alone for y in one]


def test_many_at_once_draw_what_one_draws_at_the_borders_of_every_cell():
    mechanism = Atlas(locations=scattered(40), epsilon=2, size=9)
    channel = mechanism.channel(2)
    ends = np.cumsum(channel.weights(np.array([3, 9]))).tolist()
    first = [-(-end * 2**64 // ends[-1]) for end in ends[:-1]]
    drawn = np.array([word for border in first for word in (border - 1, border)], np.uint64)

    class Borders(SeededRandom):
        def rows(self, indices, width):
            return np.tile(drawn[indices][:, None], width)

    some = TrajectorySet.from_lists([[3, 9]] * len(drawn), size=40)
    expected = [k for low in range(len(first)) for k in (low, low + 1)]
    assert batch.draw_many(mechanism, some, Borders(0)).numbers.tolist() == expected


def test_a_number_counts_only_with_the_journey_that_it_stands_for():
    mechanism = Atlas(locations=scattered(40), epsilon=2, size=9)
    law = mechanism.report_law(2)
    journeys = law.channel.atlas.codewords.astype(np.int64)
    every = np.arange(len(journeys))
    assert law.values(journeys, every).tolist() == every.tolist()
    assert law.values(journeys, np.roll(every, 1)).tolist() == [-1] * len(journeys)
    assert law.values(journeys[[0, -1]], np.array([-1, len(journeys)])).tolist() == [-1, -1]


def test_a_large_epsilon_reports_a_nearby_journey():
    locations = scattered(60)
    mechanism = Atlas(locations=locations, epsilon=16, size=300)
    trajectory = np.array([3, 9])
    reported = perturb_one(mechanism, trajectory, SeededRandom(1).stream(0))
    off = locations.distances_between_km(trajectory, np.array(reported)).mean()
    assert off < locations.diameter_km / 4


@pytest.mark.parametrize(("length", "count"), [(1, 8), (8, 8), (9, 8), (100, 4), (17, 2)])
def test_control_points_are_spread_from_the_first_to_the_last(length, count):
    positions = control_positions(length, count)
    assert len(positions) == min(length, count)
    assert positions[0] == 0
    assert positions[-1] == length - 1
    assert (np.diff(positions) > 0).all()


def test_between_control_points_the_journey_is_straight():
    from nomadp.locations import LocationSet

    line = LocationSet.from_columns([str(k) for k in range(11)], [0.0] * 11, np.arange(11) / 10)
    assert interpolated(line, np.array([0, 10]), 11).tolist() == list(range(11))
    both = interpolated(line, np.array([[0, 10], [10, 0]]), 11)
    assert both.tolist() == [[k, 10 - k] for k in range(11)]


def test_a_straight_journey_may_cross_the_date_line():
    from nomadp.locations import LocationSet

    here = LocationSet.from_columns(
        ["w", "line", "e", "far"], [0.0] * 4, [179.0, 180.0, -179.0, 0.0]
    )
    assert interpolated(here, np.array([0, 2]), 3).tolist() == [0, 1, 2]


def test_a_long_track_keeps_its_length_and_costs_one_draw():
    mechanism = Atlas(locations=scattered(80), epsilon=4, size=50)
    track = np.arange(70)
    assert len(perturb_one(mechanism, track, SeededRandom(1).stream(0))) == 70
    assert [(s.name, s.count, s.share) for s in mechanism.split(70).steps] == [
        ("journey", 1, 4)
    ]


def test_many_reports_of_locations_outside_the_set_are_refused():
    beyond = TrajectorySet.from_lists([[0, 5000]], size=6000)
    mechanism = Atlas(locations=scattered(80), epsilon=4, size=50)
    with refused(DomainError, "unknown_locations", size=80):
        drawn_many(mechanism, beyond, SeededRandom(1))


@pytest.mark.parametrize("length", [2, 3, 9, 50])
@pytest.mark.parametrize("count", [2, 4, 8])
def test_points_between_are_found_together_as_they_are_one_by_one(length, count):
    here = scattered(60)
    control = np.random.default_rng(0).integers(0, 60, (min(count, length), 5))
    at = control_positions(length, len(control))
    every = interpolated(here, control, length).T
    for column, found in zip(control.T, every, strict=True):
        for position in range(length):
            k = int(np.searchsorted(at, position))
            if at[k] == position:
                assert found[position] == column[k]
                continue
            share = (at[k] - position) / (at[k] - at[k - 1])
            one, two = column[k], column[k - 1]
            lat = here.lat[one] + share * (here.lat[two] - here.lat[one])
            lng = here.lng[one] + share * (here.lng[two] - here.lng[one])
            assert found[position] == here.nearest(lat, lng)
        assert interpolated(here, column, length).tolist() == found.tolist()
