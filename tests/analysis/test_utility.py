"""What an epsilon buys on a map, against the exact laws it was simulated from."""

import numpy as np
import pytest
from worlds import JOURNEYS, scattered, triangle

from nomadp.analysis.utility import (
    RADII_KM,
    default_radii_km,
    public_tracks,
    simulate_utility,
)
from nomadp.inference import PointDecoder, can_decode
from nomadp.laws import probabilities
from nomadp.mechanisms import EXPERIMENTAL, make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.walks import public_walks

LOCATIONS = scattered(30)
DECODABLE = {"atlas", "exp", "brr", "l-srr"}


def table_km(locations):
    return np.stack([locations.distances_km(i) for i in range(len(locations))])


def made(name, epsilon=4):
    options = {"size": 300} if name == "atlas" else {}
    return make_mechanism(name, LOCATIONS, epsilon, **options)


@pytest.mark.parametrize("name", [*JOURNEYS, *EXPERIMENTAL])
@pytest.mark.parametrize("length", [1, 3])
def test_every_mechanism_is_measured_beside_the_constant(name, length):
    mechanism = made(name)
    found = simulate_utility(mechanism, length, (5.0,), walks=60)
    expected = ["decoded"] * (name in DECODABLE) + ["reported", "constant"]
    assert list(found.answers) == expected
    assert found.best == found.answers[expected[0]]
    for quality in found.answers.values():
        assert quality.normalised_error == quality.error_km / LOCATIONS.diameter_km
        assert 0 <= quality.within_percent[0] <= 100


def test_the_simulated_error_is_the_exact_one():
    mechanism = made("exp", epsilon=1)
    found = simulate_utility(mechanism, 1, (20.0,), walks=4000)
    true = public_tracks(LOCATIONS, 1, 4000).locations
    law = probabilities(mechanism.channel(mechanism.epsilon), np.arange(30))
    distance = table_km(LOCATIONS)
    exact_km = (law * distance).sum(axis=1)[true].mean()
    best = PointDecoder(mechanism.report_law(1)).decode(np.arange(30)).locations
    decoded_km = (law * distance[:, best]).sum(axis=1)[true].mean()
    within = 100 * (law * (distance <= 20)).sum(axis=1)[true].mean()
    raw, decoded = found.answers["reported"], found.answers["decoded"]
    assert decoded_km < exact_km - 8 * raw.std_error_km  # so that they are told apart
    assert abs(raw.error_km - exact_km) < 4 * raw.std_error_km
    assert abs(decoded.error_km - decoded_km) < 4 * decoded.std_error_km
    assert abs(raw.within_percent[0] - within) < 4 * raw.within_std_error[0]


def test_the_standard_error_is_that_of_the_constant_by_hand():
    found = simulate_utility(made("exp"), 2, walks=500).answers["constant"]
    rows = public_tracks(LOCATIONS, 2, 500).locations.reshape(-1, 2)
    each = LOCATIONS.distances_km(LOCATIONS.medoid)[rows].mean(axis=1)
    assert found.error_km == pytest.approx(each.mean())
    assert found.std_error_km == pytest.approx(each.std(ddof=1) / np.sqrt(500))


def test_the_same_question_gets_the_same_answer():
    assert simulate_utility(made("atlas"), 3, walks=100) == simulate_utility(
        made("atlas"), 3, walks=100
    )


@pytest.mark.slow
def test_more_epsilon_errs_less():
    errors = [
        simulate_utility(made("atlas", e), 2, walks=800).best.error_km for e in (1, 5, 12)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 2


def test_public_tracks_are_not_those_of_the_atlas():
    many = scattered(200)
    known = set(map(tuple, public_walks(many, 4, 500, "design").tolist()))
    walks = public_tracks(many, 4, 500).locations.reshape(-1, 4)
    assert len(known & set(map(tuple, walks.tolist()))) < 25


@pytest.mark.slow
def test_a_long_track_is_measured_without_noise_too():
    mechanism = Atlas(locations=LOCATIONS, epsilon=2, size=6, control_points=8)
    found = simulate_utility(mechanism, 60, walks=200).answers
    assert list(found) == ["decoded", "reported", "without noise", "constant"]
    assert 0 < found["without noise"].error_km < found["reported"].error_km
    every = mechanism.with_params(control_points=60)
    assert "without noise" not in simulate_utility(every, 60, walks=20).answers


def test_control_points_miss_nothing_of_a_straight_track(monkeypatch):
    monkeypatch.setattr("nomadp.analysis.utility.TURNS", 2)
    line = LOCATIONS.from_columns([str(k) for k in range(57)], [0.0] * 57, np.arange(57) / 10)
    mechanism = Atlas(locations=line, epsilon=1, size=50)
    lost = simulate_utility(mechanism, 57, walks=50).answers["without noise"]
    # Both are snapped to the nearest of locations 0.1 degrees apart, and may differ by one.
    assert lost.error_km < line.distances_km(0)[1]


def test_large_sets_of_single_points_are_not_decoded(monkeypatch):
    monkeypatch.setattr("nomadp.inference.points.TABLE_LIMIT", 29)
    assert not can_decode(made("exp"))
    assert can_decode(made("atlas"))


def test_radii_fit_the_map():
    assert default_radii_km(LOCATIONS) == RADII_KM
    small = default_radii_km(triangle())
    assert max(small) < triangle().diameter_km
    assert list(small) == sorted(small)


def test_progress_counts_every_walk():
    told = []
    simulate_utility(made("exp"), 2, walks=300, progress=told.append)
    assert sum(told) == 300
    assert len(told) > 1
