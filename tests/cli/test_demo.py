"""``nomadp demo`` delegates; what the page shows is tested with the page."""

from pathlib import Path
from typing import Any

import pytest

import nomadp.demo
from tests.cli.conftest import Run, as_json


def test_writes_the_page_and_says_where(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def build(out: Path, **options: Any) -> Path:
        asked.update(options, out=out)
        options["progress"](1)
        return out / "index.html"

    monkeypatch.setattr(nomadp.demo, "build_demo", build)
    result = run("demo", "--out", "here", "--quick", "--jobs", "1", "--json")
    assert as_json(result) == {"page": str(Path("here/index.html"))}
    assert (asked["out"], asked["quick"], asked["jobs"]) == (Path("here"), True, 1)
    assert "here/index.html" in run("demo", "--out", "here").stdout
