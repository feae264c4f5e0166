import csv
import io
import json

import pytest

import nomadp
from nomadp.paper.cells import DECODED, Cell, Setting
from nomadp.paper.datasets import SetKey
from nomadp.paper.result_files import as_csv, as_json
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS


def rows(name: str, results: Results) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(EXPERIMENTS[name], results))))


def test_csv_has_a_row_per_repetition_and_baseline(results: Results) -> None:
    found = rows("directions", results)
    cells = [row for row in found if row["repetition"]]
    assert len(cells) == 2 * 2 * 2 * 2  # sets, lines, budgets, runs
    assert len(found) - len(cells) == 2 * 3  # sets, baselines
    assert {row["nomadp"] for row in found} == {nomadp.__version__}


def test_csv_says_what_fixed_each_number(results: Results) -> None:
    row = next(row for row in rows("directions", results) if row["options"] == "{}")
    cell = Cell(Setting(SetKey("north"), "atp", (), row["epsilon"]), int(row["repetition"]))
    assert int(row["seed"]) == cell.seed(results.catalogue)
    assert float(row["ne"]) == results.of(cell)["ne"]
    assert len(row["dataset_sha256"]) == 64


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_json_is_strict_and_holds_the_whole_configuration(name: str, results: Results) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    content = json.loads(as_json(EXPERIMENTS[name], results), parse_constant=refuse)
    assert content["experiment"] == name
    assert content["nomadp"] == nomadp.__version__
    assert content["plan"]["runs"] == 2
    assert all({"seed", "scores", "yardstick"} <= cell.keys() for cell in content["cells"])
    assert all({"floors", "sha256"} <= each.keys() for each in content["datasets"])


def test_json_sums_up_what_the_figure_shows(results: Results) -> None:
    content = json.loads(as_json(EXPERIMENTS["ne"], results))
    first = content["summary"][0]
    setting = Setting(SetKey(first["dataset"]), first["mechanism"], (), first["epsilon"])
    assert first["mean"] == results.value(setting, "ne").mean


def test_decoded_rows_say_so(results: Results) -> None:
    brr = [row for row in rows("ne", results) if row["mechanism"] == "brr"]
    decoded = [row for row in brr if row["estimate"]]
    assert {row["estimate"] for row in decoded} == {DECODED["estimate"]}
    assert 2 * len(decoded) == len(brr)
    content = json.loads(as_json(EXPERIMENTS["ne"], results))
    told = {(each["mechanism"], each["decoded"]) for each in content["summary"]}
    assert {("brr", False), ("brr", True), ("exp", False)} <= told


def test_no_result_names_a_path_of_this_machine(results: Results) -> None:
    folder = str(results.catalogue.folder)
    for experiment in EXPERIMENTS.values():
        assert folder not in as_json(experiment, results) + as_csv(experiment, results)


def test_both_tables_of_the_paper_are_there(results: Results) -> None:
    assert len(rows("table1", results)) == 36
    assert {row["epsilon"] for row in rows("table2", results)} == {"4", ""}


def test_audits_are_rows_of_the_frontier(results: Results) -> None:
    audits = [row for row in rows("frontier", results) if row["transcript_loss"]]
    assert {row["length"] for row in audits} == {"1"}
    leaky = [row for row in audits if row["mechanism"].endswith("not-private")]
    assert {row["transcript_loss"] for row in leaky} == {"infinite"}
