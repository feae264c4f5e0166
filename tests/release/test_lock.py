"""A lock that adds to another holds only what it adds."""

import importlib.util
from pathlib import Path
from types import ModuleType

import lock
import pytest


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """dev.py, whose locks are elsewhere."""
    spec = importlib.util.spec_from_file_location("dev", lock.ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    dev = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dev)
    monkeypatch.setattr(dev, "LOCK", tmp_path / "requirements.lock")
    elsewhere = {
        name: dev.Environment(tmp_path / name, [dev.LOCK, tmp_path / f"{name}.lock"])
        for name in ("spark", "sail", "outside", "web")
    }
    for extra in dev.CLUSTERS:
        monkeypatch.setitem(dev.CLUSTERS, extra, elsewhere[extra])
    monkeypatch.setattr(dev, "OUTSIDE", elsewhere["outside"])
    monkeypatch.setattr(dev, "NODE", elsewhere["web"])
    return dev


def test_what_both_need_stands_in_the_first_only(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, added = "numpy==2 \\\n    --hash=sha256:aa\n", "more==4 \\\n    --hash=sha256:bb\n"

    def compile_all(command: list[object]) -> int:
        if "-o" in command:  # neither npm's lock nor the bill of materials
            out = Path(str(command[command.index("-o") + 1]))
            is_part = out == dev.LOCK or "build" in out.name or "collector" in out.name
            out.write_text(ours if is_part else ours + added)
        return 0

    monkeypatch.setattr(dev, "run", compile_all)
    monkeypatch.setattr(lock.shutil, "which", lambda name: "uv")
    assert lock.lock(dev, []) == 0
    for part in lock.parts(dev):
        assert part.read_text() == ours
    for environment in (*dev.CLUSTERS.values(), dev.OUTSIDE):
        assert environment.locks[-1].read_text() == added


def test_a_resolution_that_fails_ends_it(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "run", lambda command: 1)
    monkeypatch.setattr(lock.shutil, "which", lambda name: "uv")
    assert lock.lock(dev, []) == 1


def test_without_uv_it_says_how_to_get_it(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="pip install uv"):
        lock.lock(dev, [])
