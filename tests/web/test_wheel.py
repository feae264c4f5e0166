"""What is installed has the pages in it: whoever has the wheel needs no Node."""

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nomadp.pages import built_pages

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_is_built_has_the_pages(
    web: Callable[..., None], kind: str, tmp_path: Path
) -> None:
    web("build")
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (made,) = tmp_path.iterdir()
    if kind == "wheel":
        with zipfile.ZipFile(made) as archive:
            names = archive.namelist()
    else:
        with tarfile.open(made) as packed:
            names = packed.getnames()
    found = {name.rpartition("/")[2] for name in names if "nomadp/pages/static/" in name}
    assert found == set(built_pages())
