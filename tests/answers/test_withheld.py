"""With few codewords intervals do not hold what they say: there are none, nor significance."""

import csv
import json
import re
from typing import Any

import numpy as np
import pytest
from worlds import scattered

import nomadp
from nomadp.answers import Estimate, run_query
from nomadp.answers.drawing import drawing_of
from nomadp.answers.notebook import notebook_html
from nomadp.answers.numbers import percent
from nomadp.answers.picture import picture_writes
from nomadp.answers.scene import scene_of
from nomadp.answers.share_columns import MIN_CODEWORDS
from nomadp.answers.summary import finding
from nomadp.engine import perturb_set
from nomadp.formats.atomic import written_whole
from nomadp.inference import shares as shares_module
from nomadp.inference.model import fit
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

LOCATIONS = scattered(40)
KINDS = ("hotspots", "density", "flows")


def answers(size: int, people: int = 1000) -> dict[str, Estimate]:
    rng = np.random.default_rng(1)
    near = np.argsort(LOCATIONS.distances_km(3))[:6]
    rows = [rng.choice(near, 2) for _ in range(people)]
    mechanism = Atlas(locations=LOCATIONS, epsilon=6, size=size)
    true = TrajectorySet.from_lists(rows, size=40)
    reports = perturb_set(mechanism, true, SeededRandom(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares_module, "REPEATS", 3)
        learned = fit(mechanism, reports)
    return {
        kind: run_query(mechanism, reports, {"kind": kind}, model=learned) for kind in KINDS
    }


@pytest.fixture(scope="module")
def few() -> dict[str, Estimate]:
    return answers(32)


@pytest.fixture(scope="module")
def many() -> dict[str, Estimate]:
    return answers(128)


@pytest.mark.parametrize("kind", KINDS)
def test_few_codewords_give_estimates_without_intervals(kind: str, few, many) -> None:
    table, reason = few[kind], few[kind].about["no_intervals"]
    assert {"32", str(MIN_CODEWORDS)} <= set(re.findall(r"\d+", reason))
    assert not {"level", "significance"} & table.about.keys()
    assert np.isnan(table["ci_low"]).all()
    assert np.isnan(table["ci_high"]).all()
    assert set(table["significant"].tolist()) == {None}
    assert np.isnan(table["p_value"]).all()
    value = table["flow" if kind == "flows" else "share"]
    assert value.sum() == pytest.approx(1)
    assert "no_intervals" not in many[kind].about
    assert not np.isnan(many[kind]["ci_low"]).any()
    assert many[kind]["significant"].any()


@pytest.mark.parametrize(("size", "codewords"), [(69, 63), (70, 64)])
def test_64_codewords_are_enough(size: int, codewords: int) -> None:
    """Fewer are designed than were asked for, where two of them became equal."""
    law: Any = Atlas(locations=LOCATIONS, epsilon=6, size=size).report_law(2)
    assert law.channel.size == codewords
    table = answers(size, 100)["flows"]
    assert ("no_intervals" in table.about) == (codewords < 64)
    assert np.isnan(table["ci_low"]).all() == (codewords < 64)


def test_reports_of_points_and_direct_questions_keep_their_intervals() -> None:
    true = TrajectorySet.from_lists([[0, 5]] * 100, size=40)
    for name, options in (("brr", {}), ("trips", {"zones": "grid:2"})):
        mechanism = make_mechanism(name, LOCATIONS, 6, **options)
        learned = nomadp.fit(mechanism, perturb_set(mechanism, true, SeededRandom(1)))
        assert not np.isnan(nomadp.hotspots(learned)["ci_low"]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_words_and_marks_claim_neither(kind: str, few, many) -> None:
    table, scene = few[kind], scene_of(few[kind], LOCATIONS)
    assert finding(table, scene).outcome == "largest"
    drawn, full = (drawing_of(each[kind], LOCATIONS) for each in (few, many))
    words = json.dumps([drawn[name] for name in ("summary", "filter", "rows", "head")])
    assert "nan" not in words + notebook_html(table)
    # A row has its baseline in place of its interval and of what it is told apart from.
    assert len(drawn["head"]) == len(full["head"]) - 1
    for each in drawn["rows"]:
        share, baseline = each["cells"][-2:]
        assert baseline == percent(table["baseline"][each["row"]])
        assert share == percent(table["flow" if kind == "flows" else "share"][each["row"]])
    told, said = (dict(map(tuple, each["facts"])) for each in (drawn, full))
    assert len(said.keys() - told.keys()) == 2  # intervals, and what they tell apart
    ((name,),) = [told.keys() - said.keys()]
    assert table.about["no_intervals"] in told[name]
    assert table.about["no_intervals"] in drawn["summary"]
    assert table.about["no_intervals"] in notebook_html(table)
    assert drawn["has_intervals"] is False
    marks = [*drawn["areas"], *[dot for dot in drawn["dots"] if dot["row"] >= 0]]
    steps = {each["step"] for each in marks} | {each["sure"] for each in drawn["curves"]}
    assert steps
    assert {step.partition("-")[0] for step in steps} == {"fair"}
    assert not any(curve["less"] for curve in drawn["curves"])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".geoparquet", ".geojson"])
def test_files_leave_them_empty_and_come_back(suffix: str, few, tmp_path) -> None:
    table, path = few["density"], tmp_path / f"answer{suffix}"
    table.write(path)
    back = Estimate.read(path)
    assert back.about["no_intervals"] == table.about["no_intervals"]
    assert set(back["significant"].tolist()) == {None}
    assert np.isnan(back["ci_high"]).all()
    if suffix == ".csv":
        rows = list(csv.DictReader(path.read_text().splitlines()))
        assert {
            row[name]
            for row in rows
            for name in ("ci_low", "ci_high", "p_value", "significant")
        } == {""}
    if suffix == ".geojson":
        features = json.loads(path.read_text())["features"]
        assert {each["properties"]["significant"] for each in features} == {None}


def test_frames_have_no_value_there_and_come_back(few) -> None:
    table = few["flows"]
    pandas = table.to_pandas()
    assert pandas["significant"].isna().all()
    assert not len(pandas.query("significant"))
    assert table.to_polars()["significant"].null_count() == len(table)
    for frame in (pandas, table.to_polars(), table.to_arrow()):
        assert set(Estimate.from_arrow(frame, like=table)["significant"].tolist()) == {None}


@pytest.mark.parametrize("kind", KINDS)
def test_pages_and_figures_are_drawn_and_say_why(kind: str, few, tmp_path) -> None:
    page, figure = tmp_path / "answer.html", tmp_path / "answer.png"
    written_whole(picture_writes(few[kind], LOCATIONS, map=page, png=figure))
    assert few[kind].about["no_intervals"] in page.read_text()
    assert figure.stat().st_size > 1000
