"""The progress bar: late, on a terminal only, and gone when the work is."""

import io
import sys
import time

import pytest

from nomadp.cli.output import PATIENCE_S, progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that tells what the test writes into it."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("stream", "seconds", "is_shown"),
    [
        (Terminal(), PATIENCE_S + 1, True),
        (Terminal(), PATIENCE_S - 1, False),
        (io.StringIO(), PATIENCE_S + 1, False),
    ],
    ids=["long work on a terminal", "short work", "no terminal"],
)
def test_appears_on_a_terminal_once_the_work_is_long(
    stream: io.StringIO,
    seconds: float,
    is_shown: bool,
    clock: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar("perturbing", 10) as bar:
        bar.advance(1)
        assert stream.getvalue() == ""
        clock[0] = seconds
        bar.advance(4)
    assert ("perturbing" in stream.getvalue()) == is_shown


def test_can_be_told_where_the_work_is(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar("auditing") as bar:
        clock[0] = PATIENCE_S + 1
        bar.reach(3, 4)
    assert "75%" in stream.getvalue()
