"""Failures nobody foresaw: no traceback, no message, because either may hold a location."""

from pathlib import Path

import pytest

import nomadp.engine
from tests.cli.conftest import Run


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object, **options: object) -> None:
        raise KeyError("somebody was at place-a")

    monkeypatch.setattr(nomadp.engine, "perturb_set", fails)


@pytest.mark.usefixtures("broken")
def test_an_unexpected_failure_names_its_class_and_place_only(
    folder: Path, perturb: Run
) -> None:
    result = perturb()
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "nomadp: stopped by an unexpected KeyError at nomadp.cli.perturb:"
    )
    assert result.stderr.count("\n") == 1
    assert "place-a" not in result.stderr + result.stdout
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
    folder: Path, perturb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(nomadp.engine, "perturb_set", interrupted)
    result = perturb()
    assert result.exit_code == 130
    assert result.stderr.strip() == "nomadp: interrupted; the output was not written"
    assert not list(folder.glob("*reports*"))
