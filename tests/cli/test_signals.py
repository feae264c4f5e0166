"""Told to stop, every command ends at once: its children too, one sentence, no traceback."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from processes import catches_signals, children, is_gone, start, wait_until

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="looks for processes in /proc"
)

AT_ONCE_S = 90.0
"""Two seconds on an idle machine; tests share theirs."""
LONG_S = 300.0
"""What is waited for in vain for so long does not come."""


@pytest.fixture
def demo(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A demo with a collector and two processes, which has just started them."""
    process = start(["demo", "--quick", "--jobs", "2", "--out", "page"], tmp_path)
    try:
        # The collector, too.
        assert wait_until(lambda: len(children(process.pid)) >= 3, LONG_S)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # orphans too: they would hold the pipes
        process.communicate()


@pytest.mark.parametrize(
    ("number", "busy_s"),
    [
        (signal.SIGTERM, 0.0),
        pytest.param(signal.SIGINT, 0.0, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, 2.0, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_a_command_and_its_children_at_once(
    number: signal.Signals, busy_s: float, demo: "subprocess.Popen[str]"
) -> None:
    time.sleep(busy_s)
    workers = children(demo.pid)
    began_s = time.monotonic()
    if number == signal.SIGINT:
        os.killpg(demo.pid, number)  # as a terminal does: to the workers as well
    else:
        demo.send_signal(number)
    stdout, stderr = demo.communicate(timeout=LONG_S)
    assert time.monotonic() - began_s < AT_ONCE_S
    assert (demo.returncode, stdout) == (128 + number, "")
    assert [line[:8] == "nomadp: " for line in stderr.splitlines()[-2:]] == [False, True]
    assert ("SIGTERM" in stderr) == (number == signal.SIGTERM)
    assert "Traceback" not in stderr
    assert wait_until(lambda: all(map(is_gone, workers)), AT_ONCE_S), "an orphan is left"


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_command(demo: "subprocess.Popen[str]") -> None:
    workers = children(demo.pid)
    demo.kill()
    assert wait_until(lambda: all(map(is_gone, workers)), AT_ONCE_S), "an orphan is left"


@pytest.mark.slow
def test_a_command_that_ignores_interruptions_from_the_start_goes_on(tmp_path: Path) -> None:
    """As ``nohup`` and the background jobs of a script do."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start(["audit", "--mechanism", "exp", "--length", "2"], tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=LONG_S)[1] == ""
    assert process.returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "--thorough", "--mechanism", "atp"],
        pytest.param(
            ["data", "build", "city", "--out", "city", "--trips", "3000000"],
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_every_command_answers_ctrl_c(arguments: list[str], tmp_path: Path) -> None:
    process = start(arguments, tmp_path)
    assert wait_until(lambda: catches_signals(process.pid), LONG_S)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began_s = time.monotonic()
    _, stderr = process.communicate(timeout=LONG_S)
    assert time.monotonic() - began_s < AT_ONCE_S
    assert process.returncode == 130
    assert (stderr[:8], stderr.count("\n")) == ("nomadp: ", 1)
    assert list(tmp_path.iterdir()) == []
