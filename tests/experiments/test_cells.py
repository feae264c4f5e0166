from dataclasses import replace
from pathlib import Path

import pytest

from nomadp.analysis.measures import measure_all
from nomadp.engine.local import perturb_set
from nomadp.experiments.cells import Audit, Cell, Floors, Setting
from nomadp.experiments.datasets import Catalogue, SetKey, load
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededWords

SETTING = Setting(SetKey("north"), "atp", (("granularity", 4),), "4")


@pytest.fixture
def catalogue(data: Path) -> Catalogue:
    return Catalogue(data, 10)


def test_a_cell_is_one_perturbation_scored_every_way(catalogue: Catalogue) -> None:
    cell = Cell(SETTING, 0)
    north = load(catalogue, SetKey("north"))
    mechanism = make_mechanism("atp", north.locations, 4, granularity=4)
    reported = perturb_set(mechanism, north.trajectories, SeededWords(cell.seed(catalogue)))
    expected = measure_all(north.locations, north.trajectories, reported, north.yardstick)
    assert cell.compute(catalogue) == expected


def test_the_same_cell_always_gives_the_same_numbers(catalogue: Catalogue) -> None:
    assert Cell(SETTING, 1).compute(catalogue) == Cell(SETTING, 1).compute(catalogue)


@pytest.mark.parametrize(
    "other",
    [
        Cell(SETTING, 1),
        Cell(replace(SETTING, epsilon="2"), 0),
        Cell(replace(SETTING, mechanism="tp"), 0),
        Cell(replace(SETTING, options=()), 0),
        Cell(replace(SETTING, dataset=SetKey("south")), 0),
    ],
)
def test_another_cell_has_another_seed(catalogue: Catalogue, other: Cell) -> None:
    assert other.seed(catalogue) != Cell(SETTING, 0).seed(catalogue)


def test_other_data_under_the_same_name_are_another_cell(data: Path) -> None:
    few, many = Catalogue(data, 10), Catalogue(data, 20)
    cell = Cell(SETTING, 0)
    assert cell.seed(few) != cell.seed(many)
    assert cell.identity(few) != cell.identity(many)


def test_a_seed_survives_any_reader_of_json(catalogue: Catalogue) -> None:
    assert 0 <= Cell(SETTING, 0).seed(catalogue) < 2**53


def test_an_identity_holds_the_full_configuration(catalogue: Catalogue) -> None:
    identity = Cell(SETTING, 3).identity(catalogue)
    assert identity["options"] == {"granularity": 4}
    assert identity["mechanism_version"] == 1
    assert identity["repetition"] == 3
    assert identity["yardstick"]["radii_km"] == (1.0, 2.0, 4.0)
    assert {"nomadp", "seed", "dataset_sha256", "epsilon"} <= identity.keys()


def test_floors_belong_to_a_set(catalogue: Catalogue) -> None:
    floors = Floors(SetKey("north")).compute(catalogue)
    assert floors["constant"]["ne"] < floors["uniform"]["ne"]
    assert Floors(SetKey("north")).identity(catalogue)["locations"] == 40


def test_an_audit_measures_the_strict_and_the_published_form(catalogue: Catalogue) -> None:
    strict = Audit("exp", "1", 2).compute(catalogue)
    assert strict["transcript_loss"] <= 1
    published = Audit("tp-as-published-not-private", "1", 2).compute(catalogue)
    assert published["transcript_loss"] == "infinite"
