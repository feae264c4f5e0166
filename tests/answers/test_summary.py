"""What an answer table agrees with its map and the rows beside it, for every kind."""

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


def nameable_rows(table: Estimate) -> list[int]:
    """Rows that the summary may name, the largest share first."""
    scene = scene_of(table, None)
    assert scene is not None
    if table.kind != "flows":
        return list(scene.ranking)
    return [k for k in scene.ranking if table["origin"][k] != table["destination"][k]]


def with_significant(table: Estimate, above: Any = (), below: Any = ()) -> Estimate:
    """The table with these rows significantly above or below the baseline."""
    value = table["flow" if table.kind == "flows" else "share"]
    baseline = np.array(table["baseline"])
    baseline[list(above)] = value[list(above)] / 2
    baseline[list(below)] = value[list(below)] * 2 + 1e-6
    significant = np.isin(np.arange(len(table)), [*above, *below])
    return replace(
        table, columns={**table.columns, "baseline": baseline, "significant": significant}
    )


def checked_finding(table: Estimate) -> Finding:
    """The finding, which the summary must state."""
    scene = scene_of(table, None)
    result = finding(table, scene)
    sentence = summary(table, scene)
    if result.row is not None:
        assert row_name(table, result.row) in sentence
        assert estimate_text(table, result.row) in sentence
    assert result.number < 2 or str(result.number) in sentence
    return result


def test_the_largest_row_above_the_baseline_is_named(placed: Estimate) -> None:
    first, second, third = nameable_rows(placed)[:3]
    assert checked_finding(with_significant(placed, above=[first])) == Finding("highest", first)
    mixed = with_significant(placed, above=[second, third], below=[first])
    assert checked_finding(mixed) == Finding("highest_significant", second)


def test_a_row_below_the_baseline_is_never_the_most_common(placed: Estimate) -> None:
    rows = nameable_rows(placed)[:3]
    assert checked_finding(with_significant(placed, below=rows)) == Finding(
        "only_lower", rows[0], 3
    )
    assert checked_finding(with_significant(placed, below=rows[:1])) == Finding(
        "only_lower", rows[0], 1
    )


def test_the_area_furthest_below_the_baseline_is_named(
    hotspots: Estimate,
) -> None:
    rows = nameable_rows(hotspots)[:3]
    table = with_significant(hotspots, below=rows)
    baseline = np.array(table["baseline"])
    baseline[rows[2]] = 0.9
    table = replace(table, columns={**table.columns, "baseline": baseline})
    assert checked_finding(table) == Finding("only_lower", rows[2], 3)


def test_if_only_trips_within_areas_are_significant_no_flow_is_named(flows: Estimate) -> None:
    stays = [k for k in range(len(flows)) if flows["origin"][k] == flows["destination"][k]]
    for count in (1, 2):
        table = with_significant(flows, above=stays[:count])
        assert checked_finding(table) == Finding("only_within_areas", None, count)


def test_if_all_trips_stay_within_areas_no_flow_is_named(flows: Estimate) -> None:
    stays = [k for k in range(len(flows)) if flows["origin"][k] == flows["destination"][k]]
    table = with_significant(flows.rows(stays), above=[0])
    assert checked_finding(table) == Finding("all_within_areas")


def test_if_no_row_is_significant_none_is_named(placed: Estimate) -> None:
    assert checked_finding(with_significant(placed)) == Finding("not_significant")


def test_other_estimates_are_counted(lengths: Estimate, hotspots: Estimate) -> None:
    assert checked_finding(lengths) == Finding("rows", None, len(lengths))
    few = replace(hotspots.rows([]), about={"missing": 12})
    assert checked_finding(few) == Finding("too_few_reports", None, 12)


def test_the_named_flow_is_drawn_and_in_the_table(flows: Estimate) -> None:
    rows = nameable_rows(flows)
    small = rows[len(rows) // 2]
    for table in (
        with_significant(flows, above=[small]),
        with_significant(flows, below=rows[:5], above=[small]),
    ):
        scene = scene_of(table, None)
        assert scene is not None
        assert checked_finding(table).row == small
        assert small in {curve.row for curve in scene.curves}
        assert small in {each["row"] for each in text_table(table, scene)["rows"]}


def test_a_flow_below_the_baseline_is_dashed_and_counted(
    flows: Estimate, places: LocationSet
) -> None:
    first, second = nameable_rows(flows)[:2]
    table = with_significant(flows, above=[first], below=[second])
    scene = scene_of(table, places)
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
    width, on, off = map(float, dashed)
    assert [on / width, off / width] == pytest.approx(theme()["flow_dashes"], abs=0.1)
    curves = drawing_of(table, places)["curves"]
    assert {each["row"]: each["less"] for each in curves} == {first: False, second: True}
    only = scene_of(with_significant(flows, above=[first]), places)
    assert only is not None
    assert only.counts["less"] == 0
    assert "stroke-dasharray" not in legend(only, "key")


def test_a_map_of_flows_without_a_line_has_no_legend(flows: Estimate) -> None:
    scene = scene_of(with_significant(flows), None)
    assert scene is not None
    assert scene.dots
    assert legend(scene, "key") == ""


def test_significant_rows_are_in_the_table_however_small(hotspots: Estimate) -> None:
    last = nameable_rows(hotspots)[-1]
    table = with_significant(hotspots, below=[last])
    scene = scene_of(table, None)
    rows = [each["row"] for each in text_table(table, scene, most=5)["rows"]]
    assert rows == [*nameable_rows(table)[:4], last]


@pytest.mark.parametrize(
    ("width", "decimals"), [(0.2, 0), (0.02, 1), (0.002, 2), (0.00002, 4), (0.0000002, 4)]
)
def test_shares_have_as_many_digits_as_their_intervals_justify(
    width: float, decimals: int
) -> None:
    share = np.array([0.4, 0.1])
    columns = {"share": share, "ci_low": share - width / 2, "ci_high": share + width / 2}
    assert decimals_of(columns) == decimals


def test_numbers_of_a_column_have_equally_many_decimals(density: Estimate) -> None:
    cells = text_table(density, scene_of(density, None))["rows"]
    shares = [each["cells"][1] for each in cells]
    assert len({each.partition(".")[2] for each in shares if "<" not in each}) > 1
    ends = {len(each.partition(".")[2]) for each in shares}
    assert len(ends) == 1
    assert percent(0.00001, 1) == "< 0.1\u00a0%"
    assert percent(0.0, 1) == "0.0\u00a0%"
    assert percent(0.16, 1) == "16.0\u00a0%"
