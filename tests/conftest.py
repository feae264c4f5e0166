"""What every test may ask for."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

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


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "paper_data" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
        item.add_marker(pytest.mark.xdist_group(_group(item.path)))


def _group(path: Path) -> str:
    """Tests that one process runs: they share what their fixtures make, once."""
    room = path.parent.name
    return room if room in ("demo", "paper") else str(path)
