"""What an answer found agrees with its map and the rows beside it, for every kind."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nomadp.answers import Estimate
from nomadp.answers.drawing import drawing_of
from nomadp.answers.legend import legend
from nomadp.answers.numbers import decimals_of, percent
from nomadp.answers.scene import scene_of
from nomadp.answers.sections import text_table
from nomadp.answers.sentences import estimate_text, row_name
from nomadp.answers.summary import Finding, finding, summary
from nomadp.answers.svg import svg
from nomadp.locations import LocationSet
from nomadp.theme import theme

KINDS = ["hotspots", "density", "flows"]


@pytest.fixture(params=KINDS)
def placed(request: pytest.FixtureRequest) -> Estimate:
    table: Estimate = request.getfixturevalue(request.param)
    return table


def leaving(table: Estimate) -> list[int]:
    """Rows that a sentence may name, the greatest first."""
    scene = scene_of(table, None)
    assert scene is not None
    if table.kind != "flows":
        return list(scene.shown)
    return [k for k in scene.shown if table["origin"][k] != table["destination"][k]]


def told(table: Estimate, more: Any = (), less: Any = ()) -> Estimate:
    """With these rows told apart, as more than flat or as less."""
    value = table["flow" if table.kind == "flows" else "share"]
    flat = np.array(table["baseline"])
    flat[list(more)] = value[list(more)] / 2
    flat[list(less)] = value[list(less)] * 2 + 1e-6
    apart = np.isin(np.arange(len(table)), [*more, *less])
    return replace(table, columns={**table.columns, "baseline": flat, "significant": apart})


def found_in(table: Estimate) -> Finding:
    scene = scene_of(table, None)
    found = finding(table, scene)
    sentence = summary(table, scene)
    if found.row is not None:
        assert row_name(table, found.row) in sentence
        assert estimate_text(table, found.row) in sentence
    assert found.number < 2 or str(found.number) in sentence
    return found


def test_the_greatest_row_that_is_more_than_flat_is_named(placed: Estimate) -> None:
    first, second, third = leaving(placed)[:3]
    assert found_in(told(placed, more=[first])) == Finding("highest", first)
    below = told(placed, more=[second, third], less=[first])
    assert found_in(below) == Finding("highest_significant", second)


def test_what_is_less_than_flat_is_never_the_most(placed: Estimate) -> None:
    rows = leaving(placed)[:3]
    assert found_in(told(placed, less=rows)) == Finding("only_lower", rows[0], 3)
    assert found_in(told(placed, less=rows[:1])) == Finding("only_lower", rows[0], 1)


def test_of_areas_that_are_less_than_flat_the_farthest_below_is_named(
    hotspots: Estimate,
) -> None:
    rows = leaving(hotspots)[:3]
    found = told(hotspots, less=rows)
    flat = np.array(found["baseline"])
    flat[rows[2]] = 0.9
    found = replace(found, columns={**found.columns, "baseline": flat})
    assert found_in(found) == Finding("only_lower", rows[2], 3)


def test_where_only_those_who_stay_are_told_apart_no_flow_is_named(flows: Estimate) -> None:
    stays = [k for k in range(len(flows)) if flows["origin"][k] == flows["destination"][k]]
    for many in (1, 2):
        found = told(flows, more=stays[:many])
        assert found_in(found) == Finding("only_within_areas", None, many)


def test_where_all_flows_stay_none_is_named(flows: Estimate) -> None:
    stays = [k for k in range(len(flows)) if flows["origin"][k] == flows["destination"][k]]
    found = told(flows.rows(stays), more=[0])
    assert found_in(found) == Finding("all_within_areas")


def test_where_nothing_is_told_apart_nothing_is_named(placed: Estimate) -> None:
    assert found_in(told(placed)) == Finding("not_significant")


def test_other_answers_are_counted(lengths: Estimate, hotspots: Estimate) -> None:
    assert found_in(lengths) == Finding("rows", None, len(lengths))
    few = replace(hotspots.rows([]), about={"missing": 12})
    assert found_in(few) == Finding("too_few_reports", None, 12)


def test_the_flow_that_is_named_is_drawn_and_in_the_table(flows: Estimate) -> None:
    rows = leaving(flows)
    small = rows[len(rows) // 2]
    for found in (told(flows, more=[small]), told(flows, less=rows[:5], more=[small])):
        scene = scene_of(found, None)
        assert scene is not None
        assert found_in(found).row == small
        assert small in {curve.row for curve in scene.curves}
        assert small in {each["row"] for each in text_table(found, scene)["rows"]}


def test_a_flow_that_is_less_than_flat_is_dashed_and_counted(
    flows: Estimate, places: LocationSet
) -> None:
    first, second = leaving(flows)[:2]
    found = told(flows, more=[first], less=[second])
    scene = scene_of(found, places)
    assert scene is not None
    assert {curve.row: curve.is_below_baseline for curve in scene.curves} == {
        first: False,
        second: True,
    }
    assert scene.counts["less"] == 1
    assert legend(scene, "key").count("stroke-dasharray") == 1
    (dashed,) = re.findall(
        r'stroke-width="([\d.]+)" stroke-dasharray="([\d.]+) ([\d.]+)"',
        svg(scene, "", str, "key"),
    )
    wide, on, off = map(float, dashed)
    assert [on / wide, off / wide] == pytest.approx(theme()["flow_dashes"], abs=0.1)
    curves = drawing_of(found, places)["curves"]
    assert {each["row"]: each["less"] for each in curves} == {first: False, second: True}
    only = scene_of(told(flows, more=[first]), places)
    assert only is not None
    assert only.counts["less"] == 0
    assert "stroke-dasharray" not in legend(only, "key")


def test_a_map_of_flows_without_a_line_has_no_legend(flows: Estimate) -> None:
    scene = scene_of(told(flows), None)
    assert scene is not None
    assert scene.dots
    assert legend(scene, "key") == ""


def test_rows_that_are_told_apart_are_in_the_table_however_small(hotspots: Estimate) -> None:
    last = leaving(hotspots)[-1]
    found = told(hotspots, less=[last])
    scene = scene_of(found, None)
    rows = [each["row"] for each in text_table(found, scene, most=5)["rows"]]
    assert rows == [*leaving(found)[:4], last]


@pytest.mark.parametrize(
    ("width", "decimals"), [(0.2, 0), (0.02, 1), (0.002, 2), (0.00002, 4), (0.0000002, 4)]
)
def test_shares_have_the_digits_that_their_intervals_bear(width: float, decimals: int) -> None:
    share = np.array([0.4, 0.1])
    columns = {"share": share, "ci_low": share - width / 2, "ci_high": share + width / 2}
    assert decimals_of(columns) == decimals


def test_numbers_of_a_column_stand_under_each_other(density: Estimate) -> None:
    cells = text_table(density, scene_of(density, None))["rows"]
    shares = [each["cells"][1] for each in cells]
    assert len({each.partition(".")[2] for each in shares if "<" not in each}) > 1
    ends = {len(each.partition(".")[2]) for each in shares}
    assert len(ends) == 1
    assert percent(0.00001, 1) == "< 0.1\u00a0%"
    assert percent(0.0, 1) == "0.0\u00a0%"
    assert percent(0.16, 1) == "16.0\u00a0%"
