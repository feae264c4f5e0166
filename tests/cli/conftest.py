"""A small data set in files, and the command line to run on it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from refusals import printed_code

from nomadp.cli import main

PLACES = [f"place-{chr(97 + k)}" for k in range(9)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Nine public places on a grid and three journeys between them."""
    rows = [f"{name},{40 + k // 3 / 50},{-74 + k % 3 / 50}" for k, name in enumerate(PLACES)]
    write(tmp_path / "places.csv", "location_id,lat,lng", *rows)
    write(
        tmp_path / "trips.csv",
        "uid,tid,seq,location_id,datetime",
        "zoe,t1,0,place-a,2012-04-03T18:00:00Z",
        "zoe,t1,1,place-e,2012-04-03T19:00:00Z",
        "zoe,t1,2,place-i,2012-04-03T20:00:00Z",
        "bob,t2,0,place-c,2012-04-04T18:00:00Z",
        "bob,t2,1,place-g,2012-04-04T19:00:00Z",
        "bob,t3,0,place-b,2012-04-05T18:00:00Z",
        "bob,t3,1,place-b,2012-04-05T19:00:00Z",
    )
    return tmp_path


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


Run = Callable[..., Result]


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``nomadp`` with these arguments inside the folder."""
    monkeypatch.chdir(folder)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments))

    return invoke


@pytest.fixture
def perturb(run: Run) -> Run:
    """Runs ``nomadp perturb`` on the small data set; can be called several times."""

    def invoke(*more: str) -> Result:
        return run(
            *("perturb", "trips.csv", "--locations", "places.csv", "--epsilon", "4"),
            *("--out", "reports.csv", "--overwrite", *more),
        )

    return invoke


PRIVATE = (*PLACES, "moon", "café", "41.234567", "zoe", "bob")


def assert_refused(result: Result, code: str, *facts: str, exit_code: int = 2) -> None:
    """One sentence on stderr, with this code and these facts, and nothing private."""
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert result.stderr.count("\n") == 1
    assert printed_code(result.stderr) == code
    assert [fact for fact in facts if fact not in result.stderr] == []
    assert [word for word in PRIVATE if word in result.stderr] == []


def as_json(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)
