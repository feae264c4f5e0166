"""Shared by the tests of web/: the command that builds it, and a browser."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BUILD = Path(__file__).resolve().parents[2] / "web" / "build.py"
UNAVAILABLE = 3

Web = Callable[..., None]


@pytest.fixture(scope="session")
def web() -> Web:
    """Run web/build.py, which must succeed; skipped if Node and npm are not available."""

    def run(*args: str) -> None:
        command = [sys.executable, BUILD, *args]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == UNAVAILABLE:
            pytest.skip(done.stderr.strip().splitlines()[-1])
        assert done.returncode == 0, done.stdout + done.stderr

    return run


@pytest.fixture(scope="module")
def chromium(browser: "Browser") -> "Browser":
    return browser
