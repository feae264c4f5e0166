"""``nomadp demo`` delegates; what the page shows is tested with the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import nomadp.demo
import nomadp.demo.collection
from nomadp.demo.collection import Finding
from nomadp.extras import EXTRAS, Extra
from tests.cli.conftest import Run, as_json

ADDRESS = "http://127.0.0.1:1"


@pytest.fixture
def requested(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments of the demonstration, which is not run."""
    calls: dict[str, Any] = {"has_pages": True}

    def build(out: Path, **options: Any) -> Path:
        calls.update(options, out=out)
        options["progress"](1)
        return out / "index.html"

    @contextmanager
    def run_collection(plan: Any, jobs: int, stage: Any, *, port: int) -> Iterator[Any]:
        calls.update(plan=plan, port=port, ended=False)
        process = SimpleNamespace(wait=lambda: calls.update(stayed=True), poll=lambda: None)
        running = nomadp.demo.collection.Running(ADDRESS, "a-token", process)
        with stage("devices report", 2) as advance:
            advance(2)
        findings = (
            Finding("frequency oracle", "destinations", "a is the most common destination."),
            Finding("frequency oracle", "origin-destination flows", "Most trips go to b."),
            Finding(
                "ATLAS, from whole trajectories", "origin-destination flows", "Most go to c."
            ),
        )
        yield nomadp.demo.collection.Collection(running, 600, findings, calls["has_pages"])
        calls["ended"] = True

    monkeypatch.setattr(nomadp.demo, "build_demo", build)
    monkeypatch.setattr(nomadp.demo.collection, "run_collection", run_collection)
    return calls


def test_ends_with_the_dashboard_its_token_and_the_page(
    run: Run, folder: Path, requested: dict[str, Any], wording: Any
) -> None:
    result = run("demo", "--out", "here", "--port", "8123")
    lines = result.stdout.splitlines()[-3:]
    facts = (f"{ADDRESS}/", "a-token", str(Path("here/index.html")))
    assert [fact in line for fact, line in zip(facts, lines, strict=True)] == [True] * 3
    wording("cli", "demo", result.stdout + result.stderr, hide={"here\\": "here/"})
    assert (requested["port"], requested["plan"]) == (8123, nomadp.demo.collection.FULL)
    assert requested["stayed"]
    assert requested["ended"]


def test_for_scripts_it_ends_by_itself_and_prints_json(
    run: Run, folder: Path, requested: dict[str, Any]
) -> None:
    result = run("demo", "--out", "here", "--quick", "--jobs", "1", "--no-serve", "--json")
    content = as_json(result)
    assert content.pop("answers")[1] == {
        "task": "frequency oracle",
        "title": "origin-destination flows",
        "summary": "Most trips go to b.",
    }
    assert content == {
        "dashboard": f"{ADDRESS}/",
        "collector": ADDRESS,
        "analyst_token": "a-token",
        "reports": 600,
        "page": str(Path("here/index.html")),
    }
    assert (requested["out"], requested["quick"], requested["jobs"]) == (Path("here"), True, 1)
    assert requested["plan"] == nomadp.demo.collection.QUICK
    assert "stayed" not in requested
    assert requested["ended"]


def test_without_built_pages_it_says_so(
    run: Run, folder: Path, requested: dict[str, Any], wording: Any
) -> None:
    requested["has_pages"] = False
    text = run("demo", "--no-serve").stdout
    assert f"{ADDRESS}/" not in text
    (line,) = (line for line in text.splitlines() if ADDRESS in line)
    wording("cli", "demo, without a dashboard", line)
    assert as_json(run("demo", "--no-serve", "--json"))["dashboard"] is None


def test_without_the_collectors_packages_there_is_the_page_alone(
    run: Run, folder: Path, requested: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Extra("collector", "nomadp_has_no_such_package", "the collector")
    monkeypatch.setitem(EXTRAS, "collector", absent)
    result = run("demo", "--json")
    assert as_json(result) == {"page": str(Path("demo-output/index.html"))}
    assert absent.remedy in result.stderr
    assert "plan" not in requested
