"""Failures nobody foresaw: no traceback, no message, because either may hold a location."""

from pathlib import Path
from typing import Any

import pytest
from refusals import json_code

import nomadp.engine
from tests.cli.conftest import Run, assert_refused


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object, **options: object) -> None:
        raise KeyError("somebody was at place-a")

    monkeypatch.setattr(nomadp.engine, "perturb_set", fails)


@pytest.mark.usefixtures("broken")
def test_an_unexpected_failure_names_its_class_and_place_only(
    folder: Path, perturb: Run
) -> None:
    assert_refused(perturb(), "unexpected", "KeyError", "nomadp.cli.perturb:", exit_code=1)
    assert not list(folder.glob("*reports*"))


@pytest.mark.usefixtures("broken")
def test_a_developer_can_ask_for_the_traceback(
    perturb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOMADP_DEBUG", "1")
    result = perturb()
    assert result.exit_code == 1
    assert "somebody was at place-a" in result.stderr


def test_an_interruption_writes_nothing(
    folder: Path, perturb: Run, monkeypatch: pytest.MonkeyPatch, wording: Any
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(nomadp.engine, "perturb_set", interrupted)
    result = perturb("--json")
    assert (result.exit_code, json_code(result.stdout)) == (130, "interrupted")
    wording("cli", "a command that is interrupted", result.stderr)
    assert not list(folder.glob("*reports*"))
