import re
from dataclasses import replace
from pathlib import Path

import pytest

from nomadp.mechanisms import MECHANISMS
from nomadp.paper import lines
from nomadp.paper.cells import Audit, Baselines, Cell, Setting
from nomadp.paper.datasets import CAMPUS, Catalogue, SetKey, load
from nomadp.paper.lines import AS_PUBLISHED, COMPARED, DECODED
from nomadp.paper.specs import EXPERIMENTS, FULL, QUICK, Plan

ROWS = "ne prq radius directions granularity locations length reach table1 table2 frontier"


@pytest.fixture
def catalogue(data: Path) -> Catalogue:
    return Catalogue(data, 10)


def test_every_row_of_the_paper_is_an_experiment() -> None:
    assert set(ROWS.split()) <= EXPERIMENTS.keys()


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "table1"])
def test_every_experiment_expands_to_cells_with_their_baselines(
    name: str, catalogue: Catalogue
) -> None:
    works = EXPERIMENTS[name].works(catalogue, FULL)
    cells = [work for work in works if isinstance(work, Cell)]
    baselines = {work.dataset for work in works if isinstance(work, Baselines)}
    assert len(cells) == len(set(cells)) > 0
    assert {cell.setting.dataset for cell in cells} == baselines
    assert {cell.repetition for cell in cells} == set(range(5))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_setting_can_be_built(name: str, catalogue: Catalogue) -> None:
    for each in EXPERIMENTS[name].place(catalogue, QUICK):
        assert each.setting.build(catalogue).name == each.setting.mechanism


def test_experiments_share_their_cells(catalogue: Catalogue) -> None:
    of = {name: set(EXPERIMENTS[name].works(catalogue, FULL)) for name in EXPERIMENTS}
    assert of["prq"] == of["ne"]
    assert of["table2"] < of["ne"]
    audits = {work for work in of["frontier"] if isinstance(work, Audit)}
    assert of["frontier"] - audits < of["ne"]
    whole = Cell(Setting(SetKey("north"), "atp", (), "4"), 0)
    everywhere = ("ne", "radius", "directions", "granularity", "merge", "locations")
    assert all(whole in of[name] for name in everywhere)


def test_ne_compares_every_mechanism_on_every_set_at_every_epsilon(
    catalogue: Catalogue,
) -> None:
    placed = EXPERIMENTS["ne"].place(catalogue, FULL)
    names = (*COMPARED, *AS_PUBLISHED)
    assert len(placed) == 2 * (len(names) + len(DECODED)) * 10
    assert {each.setting.mechanism for each in placed} == set(names)


@pytest.mark.parametrize("name", ["ne", "prq", "frontier"])
def test_decoded_reports_stand_right_after_those_they_come_from(
    name: str, catalogue: Catalogue
) -> None:
    placed = EXPERIMENTS[name].place(catalogue, FULL)
    shown = list(dict.fromkeys(each.series for each in placed))
    decoded = [k for k, series in enumerate(shown) if series.decoded]
    assert tuple(shown[k].mechanism for k in decoded) == DECODED
    assert all(shown[k - 1] == replace(shown[k], decoded=False) for k in decoded)


def test_counts_are_not_taken_from_decoded_points(catalogue: Catalogue) -> None:
    placed = EXPERIMENTS["table2"].place(catalogue, FULL)
    assert not any(each.setting.decoded for each in placed)


def test_the_algorithms_read_literally_get_half_of_epsilon(catalogue: Catalogue) -> None:
    placed = EXPERIMENTS["budget"].place(catalogue, FULL)
    half = [each for each in placed if "ε/2" in each.series.label]
    assert len(half) == len(placed) / 2
    assert all(float(each.setting.epsilon) == float(each.x) / 2 for each in half)
    assert {each.setting.epsilon for each in half} >= {"0.5", "1", "5"}


def test_prq_has_a_panel_for_every_radius(catalogue: Catalogue) -> None:
    yardstick = load(catalogue, SetKey("north")).yardstick
    assert EXPERIMENTS["prq"].metrics(yardstick) == ("prq_1km", "prq_2km", "prq_4km")


def test_radii_are_the_papers_where_it_names_them(
    monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue
) -> None:
    def fixed_km() -> list[float]:
        placed = EXPERIMENTS["radius"].place(catalogue, QUICK)
        options = [dict(each.setting.options) for each in placed if each.base == "north"]
        return sorted({each["radius_km"] for each in options if each})

    widest_km = load(catalogue, SetKey("north")).locations.diameter_km
    assert fixed_km() == pytest.approx([0.1 * k * widest_km for k in range(1, 5)], rel=0.05)
    monkeypatch.setitem(lines.PAPER_RADII_KM, "north", (5.0, 10.0))
    assert fixed_km() == [5.0, 10.0]


def test_lengths_and_reaches_are_studied_on_the_campus(catalogue: Catalogue) -> None:
    for name in ("length", "reach"):
        placed = EXPERIMENTS[name].place(catalogue, FULL)
        assert {each.base for each in placed} == {CAMPUS}
        assert {each.setting.epsilon for each in placed} == {"4"}
    ticks = [each.x for each in placed if each.series.mechanism == "tp"]
    assert ticks == ["1", "2", "4", "8", "16", "any"]


def test_what_claims_privacy_is_audited_and_so_is_the_published_form() -> None:
    audits = EXPERIMENTS["frontier"].audits(Plan(audited_epsilons=("1",)))
    private = {*MECHANISMS} & {*COMPARED}
    assert {audit.mechanism for audit in audits} == private | {*AS_PUBLISHED}


def test_names_can_be_files_anchors_and_arguments() -> None:
    assert all(re.fullmatch(r"[a-z]+\d?", name) for name in EXPERIMENTS)
    assert {"all", "report"}.isdisjoint(EXPERIMENTS)
