"""The client in TypeScript: its own tests, by the same known answers, and what is built."""

from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

Web = Callable[..., None]


def test_the_client_passes_its_own_tests(web: Web) -> None:
    web("test")


@pytest.mark.slow
def test_a_million_draws_of_the_client_follow_their_law(web: Web) -> None:
    web("test", "slow")


def test_what_is_built_runs_by_itself(web: Web) -> None:
    web("build")
    modules = sorted((ROOT / "web" / "client" / "dist").rglob("*.js"))
    assert "index.js" in {module.name for module in modules}
    imported = {
        line.split('"')[1]
        for module in modules
        for line in module.read_text(encoding="utf-8").splitlines()
        if line.startswith(("import ", "export ", "} from ")) and ' from "' in line
    }
    assert imported
    assert all(name.startswith(".") for name in imported)  # no dependency of anybody's
