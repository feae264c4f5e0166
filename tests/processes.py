"""Run the command line as a real process, as a terminal or a supervisor does."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["catches_signals", "children", "is_gone", "start", "wait_until"]


def start(arguments: Sequence[str], folder: Path) -> "subprocess.Popen[str]":
    """Start ``nomadp`` in its own process group, so that signals do not reach the tests."""
    return subprocess.Popen(
        [sys.executable, "-m", "nomadp", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=os.name != "nt",
    )


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline_s = time.monotonic() + seconds
    while time.monotonic() < deadline_s:
        if condition():
            return True
        time.sleep(0.01)
    return False


def is_gone(process: int) -> bool:
    """Whether a process has ended; a zombie counts as ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def catches_signals(process: int) -> bool:
    """Whether the command handles SIGTERM yet, which Python does not do by default."""
    said = Path(f"/proc/{process}/status").read_text()
    caught = int(said.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def children(process: int) -> list[int]:
    """The child processes of the main thread, which starts all of them."""
    try:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(k) for k in listed.split()]
