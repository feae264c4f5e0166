"""Fixtures for all tests."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import wording as kept_wording
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


@pytest.fixture(scope="session")
def wording() -> Callable[..., None]:
    """Compares a text that people read with its snapshot: see tests/wording.py."""
    return kept_wording.compare


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if kept_wording.WRITING and exitstatus == 0:
        option = session.config.option
        all_ran = option.markexpr == "wording" and not option.keyword
        kept_wording.write(all_ran=all_ran and session.config.args == ["tests"])


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

COMPILE = ("large", "fast", "pivot", "test_ranked")
"""Folders and a file whose tests compile nearly every loop, which others then find compiled."""

BEGUN_FIRST = (
    *("kernels", "web"),
    *("collector", "client"),  # which need no loop while those are being compiled
    *("demo", "paper", "inference", "test_stream", "test_law_constants", "test_conformance"),
)
"""Groups, folders and files: begun last, a long one would run while other cores are idle."""

LONG_TO_MAKE = frozenset({"browser", "paper", "web"})
"""Fixtures that take so long that every test with one of them is left to CI."""


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        wanted = getattr(item, "fixturenames", ())
        if "wording" in wanted:
            item.add_marker("wording")
        if "paper_data" in wanted:
            item.add_marker("data")
        if not LONG_TO_MAKE.isdisjoint(wanted):
            item.add_marker("slow")
        item.add_marker(pytest.mark.xdist_group(_group(item.path)))
    items.sort(key=lambda item: _turn(item.path))


def _group(path: Path) -> str:
    """The group of tests that run in one process, so that they share expensive fixtures."""
    room = path.parent.name
    if room in COMPILE or path.stem in COMPILE:
        return "kernels"
    return room if room in ROOMS else str(path)


def _turn(path: Path) -> int:
    names = (_group(path), path.parent.name, path.stem)
    turns = [k for k, name in enumerate(BEGUN_FIRST) if name in names]
    return min(turns, default=len(BEGUN_FIRST))
