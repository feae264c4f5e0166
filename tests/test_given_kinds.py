"""Whoever hands in a thing of another kind is told which kind it must be, at once."""

from refusals import refused

import nomadp
from nomadp.errors import WrongType

CITY = nomadp.synthetic_city(seed=1, places=50, trips=5)
EXP = nomadp.make_mechanism("exp", CITY.locations, 4)


def test_a_path_is_no_location_set() -> None:
    with refused(WrongType, "location_set_required", type="str"):
        nomadp.make_mechanism("atlas", "places.csv", 4)  # type: ignore[arg-type]
    with refused(WrongType, "location_set_required", type="str"):
        nomadp.read_trajectories("trips.csv", "places.csv")  # type: ignore[arg-type]


def test_a_seed_is_no_source_of_words() -> None:
    with refused(WrongType, "random_source_required", type="int"):
        nomadp.perturb_set(EXP, CITY.trajectories, 1)  # type: ignore[arg-type]


def test_rows_are_no_trajectory_set_and_are_not_shown() -> None:
    with refused(WrongType, "trajectory_set_required", type="list") as caught:
        nomadp.perturb_set(EXP, [[47, 11]])  # type: ignore[arg-type]
    assert "47" not in str(caught.value)


def test_reports_must_be_learned_from_before_they_are_asked() -> None:
    reports = nomadp.perturb_set(EXP, CITY.trajectories)
    for question in (nomadp.hotspots, nomadp.density, nomadp.flows, nomadp.lengths):
        with refused(WrongType, "model_required", type="Reports"):
            question(reports)  # type: ignore[operator]
