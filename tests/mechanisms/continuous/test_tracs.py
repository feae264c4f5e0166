"""TraCS: coordinates one by one, or directions and distances from the last report."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import scattered

from nomadp.drawing import Drawing
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.continuous.tracs import (
    Circular,
    Linear,
    border_distance,
    from_polar,
    to_polar,
)
from nomadp.randomness import SeededRandom

UNIT = st.floats(min_value=0, max_value=1)
CORNERS = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]


def drawing(seed=0):
    return Drawing(SeededRandom(seed).stream(0))


def test_each_coordinate_gets_half_of_a_points_share():
    (step,) = make_mechanism("tracs-c", scattered(5), 3).split(4).steps
    assert (step.name, step.count, step.share) == ("coordinate", 8, Fraction(3, 8))


def test_directions_get_pi_of_pi_plus_one_parts():
    bearing, distance = make_mechanism("tracs-d", scattered(5), 3).split(4).steps
    assert bearing.count == distance.count == 4
    assert bearing.share + distance.share == Fraction(3, 4)
    assert float(bearing.share / Fraction(3, 4)) == pytest.approx(
        math.pi / (math.pi + 1), abs=1e-7
    )


def test_coordinates_are_drawn_one_after_the_other():
    mechanism = make_mechanism("tracs-c", scattered(5), 4)
    points = np.array([[0.1, 0.9], [0.4, 0.5]])
    uniforms = drawing()
    linear = Linear(Fraction(1))
    expected = [[linear.draw(c, uniforms.uniform()) for c in point] for point in points]
    assert mechanism.moved(points, drawing()).tolist() == expected


def test_a_step_is_drawn_from_the_last_reported_point_and_the_first_from_the_centre():
    mechanism = make_mechanism("tracs-d", scattered(5), 8)
    points = np.array([[0.1, 0.9], [0.4, 0.5]])
    shares = mechanism.split(2).shares()
    circular, linear = Circular(shares["bearing"]), Linear(shares["distance"])
    uniforms, here, expected = drawing(), (0.5, 0.5), []
    for point in points.tolist():
        angle, part = to_polar(here, point)
        angle = circular.draw(angle, uniforms.uniform())
        here = from_polar(here, angle, linear.draw(part, uniforms.uniform()))
        expected.append(here)
    assert mechanism.moved(points, drawing()).tolist() == np.array(expected).tolist()


def test_where_there_is_no_direction_one_is_randomised_all_the_same():
    assert to_polar((0.5, 0.5), (0.5, 0.5)) == (0.0, 0.0)
    mechanism = make_mechanism("tracs-d", scattered(5), 8)
    moved = mechanism.moved(np.array([[0.5, 0.5]]), drawing())
    shares, uniforms = mechanism.split(1).shares(), drawing()
    angle = Circular(shares["bearing"]).draw(0.0, uniforms.uniform())
    part = Linear(shares["distance"]).draw(0.0, uniforms.uniform())
    assert moved.tolist() == [list(from_polar((0.5, 0.5), angle, part))]


@pytest.mark.parametrize(
    ("here", "angle", "distance"),
    [
        ((0.5, 0.5), 0.0, 0.5),
        ((0.5, 0.5), math.pi / 4, math.sqrt(0.5)),
        ((0.25, 0.5), math.pi, 0.25),
        ((0.2, 0.1), 3 * math.pi / 2, 0.1),
        ((1.0, 0.3), 0.0, 0.0),
        ((0.0, 0.0), math.pi / 4, math.sqrt(2)),
        ((0.0, 0.0), 5 * math.pi / 4, 0.0),
    ],
)
def test_the_way_to_the_border_by_hand(here, angle, distance):
    assert border_distance(here, angle) == pytest.approx(distance, abs=1e-12)


@given(UNIT, UNIT, UNIT, UNIT)
def test_direction_and_part_of_the_way_lead_back_to_the_point(x, y, east, north):
    here, point = (x, y), (east, north)
    angle, part = to_polar(here, point)
    assert 0 <= angle <= 2 * math.pi
    assert 0 <= part <= 1
    assert from_polar(here, angle, part) == pytest.approx(point, abs=1e-6)


@pytest.mark.parametrize("corner", CORNERS)
def test_corners_see_each_other_at_the_far_end_of_the_way(corner):
    opposite = (1 - corner[0], 1 - corner[1])
    angle, part = to_polar(corner, opposite)
    assert part == pytest.approx(1)
    assert from_polar(corner, angle, part) == pytest.approx(opposite)


@pytest.mark.parametrize("name", ["tracs-c", "tracs-d"])
def test_points_stay_inside_the_square(name):
    mechanism = make_mechanism(name, scattered(5), "0.5")
    source = drawing(3)
    for _ in range(200):
        moved = mechanism.moved(np.array([*CORNERS, (0.5, 0.5), (0.3, 1.0)]), source)
        assert ((moved >= 0) & (moved <= 1)).all()


def test_coordinate_errors_are_those_of_the_law():
    share, runs = Fraction(2), 4000
    mechanism = make_mechanism("tracs-c", scattered(5), 2 * share)
    source = drawing(5)
    moved = np.array([mechanism.moved(np.array([[0.5, 0.0]]), source)[0] for _ in range(runs)])
    for column, value in zip(moved.T, (0.5, 0.0), strict=True):
        mean, deviation = error_of_the_law(Linear(share), value)
        assert abs(np.abs(column - value).mean() - mean) <= 5 * deviation / math.sqrt(runs)


def error_of_the_law(law, value):
    """Mean and standard deviation of the absolute error, by integrating the density."""
    reported = (np.arange(10_000) + 0.5) / 10_000
    chance = np.array([law.density(value, y) for y in reported]) / 10_000
    error = np.abs(reported - value)
    mean = float(chance @ error)
    return mean, math.sqrt(float(chance @ error**2) - mean**2)


def test_direction_errors_are_those_of_the_law():
    mechanism, runs = make_mechanism("tracs-d", scattered(5), 4), 4000
    share = mechanism.split(1).shares()["bearing"]
    source = drawing(6)
    moved = np.array([mechanism.moved(np.array([[0.9, 0.5]]), source)[0] for _ in range(runs)])
    error = np.abs(np.arctan2(moved[:, 1] - 0.5, moved[:, 0] - 0.5))
    s = math.exp(share / 2)
    mean = math.pi / (s + 1)
    square = s / (s + 1) * mean**2 / 3 + 1 / (s + 1) * (math.pi**3 - mean**3) / (
        3 * (math.pi - mean)
    )
    assert abs(error.mean() - mean) <= 5 * math.sqrt((square - mean**2) / runs)
