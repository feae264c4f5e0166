"""Scores on three-point worlds computed by hand, floors against brute force and the paper."""

import math
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from nomadp.analysis import (
    constant_answer,
    error_km_each,
    evaluate,
    matched_by_tid,
    scores,
    uniform_answer,
    within_percent_each,
)
from nomadp.engine import perturb_set
from nomadp.errors import DomainError
from nomadp.formats.location_files import read_locations
from nomadp.formats.point_files import read_trajectories
from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.locations import LocationSet
from nomadp.mechanisms import make_mechanism
from nomadp.trajectory import TrajectorySet

DEGREE_KM = EARTH_RADIUS_KM * math.pi / 180
A, B, C = 0, 1, 2


@pytest.fixture
def line() -> LocationSet:
    """Three places on the equator, at 0, 1 and 3 degrees: B is the medoid."""
    return LocationSet.from_columns(["a", "b", "c"], [0.0, 0.0, 0.0], [0.0, 1.0, 3.0])


def journeys(*lists: list[int], tids: list[str] | None = None, size: int = 3) -> TrajectorySet:
    return TrajectorySet.from_lists(list(lists), tids=tids, size=size)


TRUE = [[A, B], [C]]
REPORTED = [[A, C], [B]]  # off by 0 and 2 degrees, and by 2 degrees


def test_normalised_error_weighs_every_trajectory_the_same(line: LocationSet) -> None:
    error = scores(line, journeys(*TRUE), journeys(*REPORTED)).normalised_error
    assert error == pytest.approx((1 + 2) / 2 / 3, rel=1e-12)  # by point it would be 4 / 9


def test_range_query_is_the_mean_percentage_of_points_within_the_radius(
    line: LocationSet,
) -> None:
    world = line, journeys(*TRUE), journeys(*REPORTED)
    (percent,) = scores(*world, [1.5 * DEGREE_KM]).range_query
    assert percent == (50 + 0) / 2


def test_a_point_exactly_at_the_radius_is_within_it(line: LocationSet) -> None:
    radius_km = float(line.distances_km(A)[B])
    radii_km = [radius_km, math.nextafter(radius_km, 0)]
    assert scores(line, journeys([A]), journeys([B]), radii_km).range_query == (100, 0)


@pytest.mark.parametrize("radius_km", [-1, -math.inf, math.inf, math.nan])
def test_a_radius_is_no_less_than_nothing(line: LocationSet, radius_km: float) -> None:
    with refused(DomainError, "query_radius_out_of_range"):
        evaluate(line, journeys(*TRUE), journeys(*REPORTED), [1, radius_km])


def test_scores_are_also_given_for_each_trajectory(line: LocationSet) -> None:
    true, reported = journeys(*TRUE), journeys(*REPORTED)
    assert error_km_each(line, true, reported) == pytest.approx([DEGREE_KM, 2 * DEGREE_KM])
    assert within_percent_each(line, true, reported, DEGREE_KM).tolist() == [50, 0]


def test_the_truth_has_no_error(line: LocationSet) -> None:
    scores = evaluate(line, journeys(*TRUE), journeys(*TRUE), [0.001]).measured
    assert (scores.error_km, scores.normalised_error, scores.range_query) == (0, 0, (100,))


def test_the_constant_floor_answers_the_medoid_everywhere(line: LocationSet) -> None:
    floor = constant_answer(line, journeys(*TRUE), [1.5 * DEGREE_KM])
    assert floor.normalised_error == pytest.approx((0.5 + 2) / 2 / 3, rel=1e-12)
    assert floor.range_query == ((100 + 0) / 2,)


def test_the_uniform_floor_is_the_exact_expectation(line: LocationSet) -> None:
    floor = uniform_answer(line, journeys(*TRUE), [1.5 * DEGREE_KM])
    mean_degrees = ((4 / 3 + 1) / 2 + 5 / 3) / 2
    assert floor.normalised_error == pytest.approx(mean_degrees / 3, rel=1e-12)
    assert floor.range_query == pytest.approx([(100 * 2 / 3 + 100 / 3) / 2], rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_floors_agree_with_brute_force_over_every_answer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    world = LocationSet.from_columns(
        [str(k) for k in range(25)], rng.uniform(40, 41, 25), rng.uniform(-75, -74, 25)
    )
    lists = [rng.integers(25, size=rng.integers(1, 6)).tolist() for _ in range(12)]
    true, radius_km = journeys(*lists, size=25), 30.0

    def answer_everywhere(answer: int) -> tuple[float, float]:
        reported = journeys(*[[answer] * len(points) for points in lists], size=25)
        found = scores(world, true, reported, [radius_km])
        return found.normalised_error, found.range_query[0]

    # Expectation is linear: a uniform answer scores the mean over all constant answers.
    by_answer = np.array([answer_everywhere(answer) for answer in range(25)])
    uniform = uniform_answer(world, true, [radius_km])
    assert [uniform.normalised_error, *uniform.range_query] == pytest.approx(
        by_answer.mean(axis=0).tolist(), rel=1e-12
    )
    mean_km = [world.distances_km(k).mean() for k in range(25)]
    constant = constant_answer(world, true, [radius_km])
    assert [constant.normalised_error, *constant.range_query] == pytest.approx(
        by_answer[int(np.argmin(mean_km))].tolist(), rel=1e-12
    )


def test_locations_that_all_coincide_have_no_error() -> None:
    world = LocationSet.from_columns(["a", "b"], [1.0, 1.0], [2.0, 2.0])
    found = scores(world, journeys([0], size=2), journeys([1], size=2))
    assert found.normalised_error == 0


def test_an_evaluation_prints_the_floors_beside_the_scores(line: LocationSet) -> None:
    content = evaluate(line, journeys(*TRUE), journeys(*REPORTED), [1, 2.5]).as_dict()
    assert content["trajectories"] == 2
    assert content["points"] == 3
    scores = content["scores"]
    assert isinstance(scores, dict)
    assert list(scores) == ["reported", "constant", "uniform"]
    assert all(list(row["range_query_percent"]) == ["1", "2.5"] for row in scores.values())


def test_reports_are_matched_by_tid_whatever_their_order() -> None:
    true = journeys([A, B], [C], tids=["x", "y"])
    reported = journeys([B], [A, C], tids=["y", "x"])
    assert matched_by_tid(true, reported) == journeys([A, C], [B], tids=["x", "y"])


def test_refuses_reports_of_other_trajectories() -> None:
    true = journeys([A], [B], [C], tids=["x", "y", "z"])
    with refused(DomainError, "tids_differ", missing=2, extra=1):
        matched_by_tid(true, journeys([A], [B], tids=["x", "w"]))


def test_refuses_reports_of_another_length(line: LocationSet) -> None:
    with refused(DomainError, "lengths_differ", different=1):
        evaluate(line, journeys([A, B], [C]), journeys([A], [C]), [1])


def test_refuses_another_number_of_reports(line: LocationSet) -> None:
    with refused(DomainError, "report_count_differs", trajectories=2, reports=1):
        scores(line, journeys([A], [C]), journeys([A]))


PAPER_FLOORS = {
    "nyc": (0.1605, 0.2572, 49.593),
    "chi": (0.1484, 0.2314, 50.650),
    "cle": (0.0896, 0.1705, 34.541),
    "cps": (0.2017, 0.2853, 3.752),
}


@pytest.mark.data
@pytest.mark.parametrize("name", PAPER_FLOORS)
def test_floors_of_the_papers_sets(name: str, paper_data: Path) -> None:
    world = read_locations(paper_data / name / "locations.csv")
    true, _ = read_trajectories(paper_data / name / "trajectories.csv", world)
    constant, uniform, diameter_km = PAPER_FLOORS[name]
    assert constant_answer(world, true).normalised_error == pytest.approx(constant, abs=5e-5)
    assert uniform_answer(world, true).normalised_error == pytest.approx(uniform, abs=5e-5)
    assert world.diameter_km == pytest.approx(diameter_km, abs=5e-4)


def test_reports_under_random_ids_are_compared_with_nothing(line: LocationSet) -> None:
    true, mechanism = journeys([A], [C]), make_mechanism("exp", line, 1)
    with refused(DomainError, "random_ids"):
        evaluate(line, true, perturb_set(mechanism, true), (1.0,))
    linked = perturb_set(mechanism, true, keep_tids=True)
    assert evaluate(line, true, linked, (1.0,)).trajectories == 2
