"""``nomadp perturb --engine spark`` refuses what a cluster cannot do; tests/cluster runs it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused


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
    assert_refused(done, "options_not_paired", "--master", "--engine")


@pytest.mark.parametrize("option", [["--jobs", "2"], ["--transcript"]])
def test_options_of_the_local_engine_are_refused(on_cluster: Run, option: list[str]) -> None:
    assert_refused(on_cluster(*option), "option_unsuitable", option[0])


@pytest.mark.parametrize(
    "option", [["--length", "3"], ["--columns", "who=tid"], ["more.parquet"]]
)
def test_a_cluster_reads_one_source_as_it_stands(on_cluster: Run, option: list[str]) -> None:
    assert_refused(on_cluster(*option), "option_unsuitable", "--length", "--columns")


def test_reports_never_join_what_is_there(on_cluster: Run, folder: Path) -> None:
    (folder / "reports.parquet").mkdir()
    assert_refused(on_cluster(), "output_is_a_folder", "reports.parquet")


def test_a_cluster_writes_parquet(on_cluster: Run) -> None:
    assert_refused(on_cluster("--out", "reports.csv"), "output_is_no_new_folder", ".parquet")


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed here")
def test_without_pyspark_it_says_what_to_install(on_cluster: Run) -> None:
    assert_refused(on_cluster(), "package_missing", "nomadp[spark]", exit_code=1)
