"""What every test may ask for."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsers import FLAGS
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Before numpy: several test processes share the cores, and its threads would only wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# As for somebody who has not installed the accelerator.
if os.environ.get("NOMADP_WITHOUT_NUMBA"):
    sys.modules["numba"] = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parent.parent

# The same examples on every machine, whatever its speed: a failure can be repeated.
settings.register_profile("nomadp", derandomize=True, deadline=None)
settings.load_profile("nomadp")


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """The folder with the paper's four data sets, which are not part of this repository."""
    chosen = os.environ.get("NOMADP_DATA")
    folder = Path(chosen) if chosen else ROOT.parent / "shared" / "data"
    if (folder / "nyc" / "locations.csv").is_file():
        return folder
    if chosen:
        pytest.fail("NOMADP_DATA must name a folder that holds nyc/locations.csv")
    pytest.skip("the paper's data sets are not here; set NOMADP_DATA to their folder")


@pytest.fixture(scope="module")  # longer, and its event loop would be in others' way
def browser() -> Iterator["Browser"]:
    """A real browser; skipped where there is none."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine (Debian's package chromium)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


ROOMS = ("web", "demo", "paper")
"""Whose tests share what is slow to make: a collector, a browser, a whole run."""


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "paper_data" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
        item.add_marker(pytest.mark.xdist_group(_group(item.path)))
    # The longest groups first: begun last, one would run while every other core is idle.
    items.sort(key=lambda item: item.path.parent.name not in ROOMS)


def _group(path: Path) -> str:
    """Tests that one process runs: they share what their fixtures make, once."""
    room = path.parent.name
    return room if room in ROOMS else str(path)
