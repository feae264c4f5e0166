from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nomadp.analysis.measures import measure_all
from nomadp.engine.local import perturb_set
from nomadp.inference import decode
from nomadp.mechanisms import make_mechanism
from nomadp.paper import cells
from nomadp.paper.cells import Audit, Baselines, Cell, Setting
from nomadp.paper.datasets import Catalogue, SetKey, load
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

SETTING = Setting(SetKey("north"), "atp", (("granularity", 4),), "4")


@pytest.fixture
def catalogue(data: Path) -> Catalogue:
    return Catalogue(data, 10)


def test_a_cell_is_one_perturbation_scored_every_way(catalogue: Catalogue) -> None:
    cell = Cell(SETTING, 0)
    north = load(catalogue, SetKey("north"))
    mechanism = make_mechanism("atp", north.locations, 4, granularity=4)
    randomness = SeededRandom(cell.seed(catalogue))
    reported = perturb_set(mechanism, north.trajectories, randomness, keep_tids=True)
    expected = measure_all(north.locations, north.trajectories, reported, north.yardstick)
    assert cell.compute(catalogue) == expected


@pytest.mark.parametrize("name", ["brr", "atlas"])
def test_a_decoded_cell_scores_the_estimates_from_the_very_same_reports(
    catalogue: Catalogue, name: str
) -> None:
    cell = Cell(Setting(SetKey("north"), name, (), "4", decoded=True), 1)
    north = load(catalogue, SetKey("north"))
    mechanism = make_mechanism(name, north.locations, 4)
    randomness = SeededRandom(Cell(cell.setting.reports, 1).seed(catalogue))
    reported = perturb_set(mechanism, north.trajectories, randomness, keep_tids=True)
    estimate = decode(mechanism, reported)
    best = TrajectorySet(reported.offsets, estimate.locations, reported.names)
    expected = measure_all(north.locations, north.trajectories, best, north.yardstick)
    assert cell.compute(catalogue) == expected
    assert expected != Cell(cell.setting.reports, 1).compute(catalogue)


def test_decoding_makes_a_cell_of_its_own_and_leaves_the_others_as_they_were(
    catalogue: Catalogue,
) -> None:
    reports = Cell(Setting(SetKey("north"), "atlas", (), "4"), 0)
    decoded = Cell(replace(reports.setting, decoded=True), 0)
    known, new = reports.identity(catalogue), decoded.identity(catalogue)
    assert {name: new[name] for name in known} == known
    assert new.keys() - known.keys() == {"estimate", "decoder_version"}
    assert list(known) == [
        *("dataset", "dataset_sha256", "mechanism", "mechanism_version", "options", "epsilon"),
        *("repetition", "seed", "yardstick", "nomadp"),
    ]


def test_what_is_decoded_does_not_depend_on_the_cells_before_it(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[list[int]] = []

    class Watched(cells.Decoders):
        def decode(self, reports: Any, progress: Any = None) -> Any:
            batches.append(reports.locations.tolist())
            return super().decode(reports)

    monkeypatch.setattr(cells, "Decoders", Watched)
    setting = Setting(SetKey("south"), "brr", (), "2", decoded=True)
    found = []
    for order in ((0, 1, 2), (2,)):
        cells._decoded.cache_clear()
        found.append([Cell(setting, k).compute(catalogue) for k in order][-1])
    cells._decoded.cache_clear()
    assert found[0] == found[1]
    assert len(batches) == 2
    assert batches[0] == batches[1]


def test_reports_are_drawn_once_for_both_their_cells(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def counted(mechanism: Any, *rest: Any, **how: Any) -> Any:
        drawn.append(mechanism.name)
        return perturb_set(mechanism, *rest, **how)

    monkeypatch.setattr(cells, "perturb_set", counted)
    cells._reported.cache_clear()
    cells._decoded.cache_clear()
    setting = Setting(SetKey("south"), "brr", (), "3")
    for repetition in range(3):
        for each in (setting, replace(setting, decoded=True)):
            Cell(each, repetition).compute(catalogue)
    assert len(drawn) == cells.DECODED_AT_ONCE


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


def test_baselines_belong_to_a_set(catalogue: Catalogue) -> None:
    baselines = Baselines(SetKey("north")).compute(catalogue)
    assert baselines["constant"]["ne"] < baselines["uniform"]["ne"]
    assert Baselines(SetKey("north")).identity(catalogue)["locations"] == 40


def test_an_audit_measures_the_strict_and_the_published_form(catalogue: Catalogue) -> None:
    strict = Audit("exp", "1", 2).compute(catalogue)
    assert strict["transcript_loss"] <= 1
    published = Audit("tp-as-published-not-private", "1", 2).compute(catalogue)
    assert published["transcript_loss"] == "infinite"
