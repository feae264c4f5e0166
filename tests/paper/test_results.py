import statistics
from pathlib import Path

import pytest

from nomadp.paper.cells import Cell, Setting
from nomadp.paper.datasets import SetKey
from nomadp.paper.results import Results, better_baseline
from nomadp.paper.specs import EXPERIMENTS
from nomadp.paper.store import Store

SETTING = Setting(SetKey("north"), "atp", (), "4")


def test_a_value_is_the_mean_over_the_repetitions(results: Results) -> None:
    errors = [results.of(Cell(SETTING, k))["ne"] for k in range(2)]
    value = results.value(SETTING, "ne")
    assert value.mean == statistics.fmean(errors)
    assert value.sd == statistics.stdev(errors) > 0


def test_a_curve_follows_its_axis(results: Results) -> None:
    curves = results.curves(EXPERIMENTS["ne"], "north", "ne")
    (atp,) = (curve for curve in curves if curve.series.mechanism == "atp")
    assert atp.x == ("1", "4")
    assert atp.mean[1] == results.value(SETTING, "ne").mean


def test_baselines_change_where_the_data_do(results: Results) -> None:
    along = results.baseline_curves(EXPERIMENTS["locations"], "north", "ne")
    assert list(along) == ["constant", "uniform"]
    assert len(set(along["constant"])) == 4
    still = results.baseline_curves(EXPERIMENTS["ne"], "north", "ne")
    assert len(set(still["constant"])) == 1


def test_counts_have_a_flat_baseline_too(results: Results) -> None:
    found = results.baseline_curves(EXPERIMENTS["table2"], "north", "acd")
    assert list(found) == ["constant", "uniform", "flat"]


def test_what_was_not_computed_is_missed(results: Results, tmp_path: Path) -> None:
    empty = Results(results.catalogue, results.plan, Store(tmp_path))
    assert not empty.is_complete(EXPERIMENTS["ne"])
    assert empty.is_complete(EXPERIMENTS["table1"])
    with pytest.raises(LookupError):
        empty.value(SETTING, "ne")


def test_the_better_baseline_depends_on_the_score() -> None:
    baselines = {
        "constant": {"ne": 0.1, "prq_1km": 20.0, "acd": 9.0},
        "uniform": {"ne": 0.2, "prq_1km": 30.0, "acd": 5.0},
        "flat": {"acd": 4.0},
    }
    assert better_baseline(baselines, "ne") == ("constant", 0.1)
    assert better_baseline(baselines, "prq_1km") == ("uniform", 30.0)
    assert better_baseline(baselines, "acd") == ("flat", 4.0)
