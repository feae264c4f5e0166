import json
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refused

from nomadp.errors import DomainError
from nomadp.paper import EXPERIMENTS, Paper, reopen
from nomadp.paper.cells import Audit


def test_all_names_every_experiment(tmp_path: Path) -> None:
    assert Paper.planned(["all"], tmp_path).experiments == tuple(EXPERIMENTS.values())


def test_names_come_in_the_order_of_the_report(tmp_path: Path) -> None:
    chosen = Paper.planned(["table2", "ne", "ne"], tmp_path).experiments
    assert [each.name for each in chosen] == ["ne", "table2"]


def test_refuses_a_name_it_does_not_know(tmp_path: Path) -> None:
    with refused(DomainError, "unknown_experiment", experiment="fig4"):
        Paper.planned(["fig4"], tmp_path)


def test_runs_can_be_chosen_apart_from_the_size(tmp_path: Path) -> None:
    assert Paper.planned(["ne"], tmp_path).plan.runs == 5
    assert Paper.planned(["ne"], tmp_path, runs=3, quick=True).plan.runs == 3
    assert Paper.planned(["ne"], tmp_path, runs=3, quick=True).catalogue.trajectories


def test_work_is_listed_once_and_the_longest_first(paper: Paper) -> None:
    works = paper.works
    assert len(works) == len(set(works))
    audits = [isinstance(work, Audit) for work in works]
    assert audits == sorted(audits, reverse=True)


def test_a_finished_run_has_nothing_left_to_do(paper: Paper) -> None:
    assert paper.missing() == []


def test_four_files_per_experiment_and_one_report(
    paper: Paper, written: dict[str, Path]
) -> None:
    expected = {
        f"{name}.{kind}" for name in EXPERIMENTS for kind in ("csv", "json", "png", "svg")
    }
    assert set(written) == expected | {"report.html"}
    assert {path.parent for path in written.values()} == {paper.out}


def test_a_folder_can_be_opened_again(paper: Paper, written: dict[str, Path]) -> None:
    again = reopen(paper.out)
    assert again.plan == paper.plan
    assert again.experiments == paper.experiments
    assert again.missing() == []


def test_a_report_of_an_unfinished_run_holds_what_is_finished(
    paper: Paper, tmp_path: Path
) -> None:
    unfinished = replace(paper, out=tmp_path)
    names = {path.name for path in unfinished.write()}
    assert names == {
        "report.html",
        *(f"table1.{kind}" for kind in ("csv", "json", "png", "svg")),
    }


@pytest.mark.parametrize("content", [None, "{", "{}", '{"names": ["ne"], "plan": 1}'])
def test_refuses_a_folder_without_a_run(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with refused(DomainError, "no_earlier_run"):
        reopen(tmp_path)


def test_only_the_note_of_the_run_knows_where_the_data_were(
    paper: Paper, written: dict[str, Path]
) -> None:
    folder = str(paper.catalogue.folder)
    assert json.loads((paper.out / "run.json").read_text())["data"] == folder
    for path in written.values():
        assert folder.encode() not in path.read_bytes()
