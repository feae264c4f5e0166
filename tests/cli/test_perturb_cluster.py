"""``nomadp perturb --engine spark`` refuses what a cluster cannot do; tests/cluster runs it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def on_cluster(run: Run) -> Run:
    def invoke(*more: str):
        return run(
            *("perturb", "trips.parquet", "--locations", "places.csv", "--epsilon", "4"),
            *("--mechanism", "exp", "--out", "reports.parquet", "--engine", "spark", *more),
        )

    return invoke


def test_a_master_needs_the_engine(run: Run) -> None:
    arguments = ["trips.csv", "--locations", "places.csv", "--epsilon", "4", "--out", "r.csv"]
    done = run("perturb", *arguments, "--master", "local[2]")
    assert done.exit_code == 2
    assert "needs --engine spark" in done.stderr


@pytest.mark.parametrize("option", [["--jobs", "2"], ["--transcript"]])
def test_options_of_the_local_engine_are_refused(on_cluster: Run, option: list[str]) -> None:
    done = on_cluster(*option)
    assert done.exit_code == 2
    assert "belong to the local engine" in done.stderr


@pytest.mark.parametrize(
    "option", [["--length", "3"], ["--columns", "who=tid"], ["more.parquet"]]
)
def test_a_cluster_reads_one_source_as_it_stands(on_cluster: Run, option: list[str]) -> None:
    done = on_cluster(*option)
    assert done.exit_code == 2
    assert "reads one file or folder just as it stands" in done.stderr


def test_reports_never_join_what_is_there(on_cluster: Run, folder: Path) -> None:
    (folder / "reports.parquet").mkdir()
    done = on_cluster()
    assert done.exit_code == 2
    assert "must name a new file or folder" in done.stderr


def test_a_cluster_writes_parquet(on_cluster: Run) -> None:
    done = on_cluster("--out", "reports.csv")
    assert done.exit_code == 2
    assert "ends in .parquet" in done.stderr


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed here")
def test_without_pyspark_it_says_what_to_install(on_cluster: Run) -> None:
    done = on_cluster()
    assert done.exit_code == 1
    assert "nomadp[spark]" in done.stderr
