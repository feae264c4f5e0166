"""``nomadp doctor``: what is here, and whether what privacy rests on works."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import nomadp
from nomadp.extras import EXTRAS
from tests.cli.conftest import Run, as_json

DOCTOR = "nomadp.cli.doctor"


def test_tells_versions_and_that_all_is_ready(run: Run) -> None:
    content = as_json(run("doctor", "--json"))
    assert content["ok"] is True
    assert content["nomadp"] == nomadp.__version__
    assert content["numpy"] == numpy.__version__
    assert content["randomness"] == "works"
    assert content["cores"] >= 1
    assert {extra.package for extra in EXTRAS.values()} <= content.keys()
    assert content["extras"]["tables"]["remedy"] == 'pip install "nomadp[tables]"'


def test_the_table_ends_with_a_verdict(
    run: Run, monkeypatch: pytest.MonkeyPatch, wording: Any
) -> None:
    monkeypatch.setattr(f"{DOCTOR}.version_of", {"h3": None}.get)
    monkeypatch.setattr(f"{DOCTOR}.REQUIRED", ())
    monkeypatch.setattr(f"{DOCTOR}.default_jobs", lambda: 2)
    monkeypatch.setattr("platform.python_version", lambda: "3.11.0")
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.delenv("NOMADP_DATA", raising=False)
    wording("cli", "doctor", run("doctor").stdout, hide={nomadp.__version__: "VERSION"})


def test_failing_randomness_is_exit_code_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(count: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", fails)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    assert content["ok"] is False
    assert "RandomnessUnavailable" in content["randomness"]


def test_a_missing_extra_is_named_with_its_remedy(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h3", None)
    assert as_json(run("doctor", "--json"))["h3"] is None
    assert 'pip install "nomadp[h3]"' in run("doctor").stdout


def test_a_missing_package_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{DOCTOR}.REQUIRED", ("numpy", "no_such_package"))
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["no_such_package"] is None
    assert "no_such_package" in run("doctor").stdout


def test_counts_the_papers_sets_it_can_see(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOMADP_DATA", str(folder))
    (folder / "nyc").mkdir()
    (folder / "nyc" / "locations.csv").touch()
    assert as_json(run("doctor", "--json"))["paper data"] == "1 of 4 data sets in NOMADP_DATA"
