"""dev.py runs on a bare Python, and installs only when something changed."""

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
DEV = ROOT / "dev.py"


def load_dev() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev", DEV)
    assert spec is not None
    assert spec.loader is not None
    dev = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dev)
    return dev


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """dev.py in an empty project, writing down the commands it would run."""
    dev = load_dev()
    dev.commands = []
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(dev, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(dev, "LOCK", tmp_path / "requirements.lock")
    monkeypatch.setattr(dev, "PYPROJECT", tmp_path / "pyproject.toml")
    monkeypatch.setattr(dev, "run", lambda command: dev.commands.append(command) or 0)
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    dev.LOCK.write_text("numpy==2\n")
    dev.PYPROJECT.write_text("[project]\n")
    return dev


def installs(dev: ModuleType) -> list[str]:
    """What the next `prepare` would install, in order."""
    dev.commands.clear()
    dev.prepare()
    names = {"--require-hashes": "lock", "-e": "package"}
    return [names[arg] for command in dev.commands for arg in command if arg in names]


def test_needs_only_the_standard_library() -> None:
    tree = ast.parse(DEV.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names}
    names |= {str(node.module) for node in froms}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_the_first_call_installs_the_lock_and_then_the_package(dev: ModuleType) -> None:
    assert installs(dev) == ["lock", "package"]


def test_a_second_call_installs_nothing(dev: ModuleType) -> None:
    installs(dev)
    assert installs(dev) == []


def test_a_changed_lock_makes_the_environment_anew(dev: ModuleType) -> None:
    installs(dev)
    dev.LOCK.write_text("numpy==3\n")
    assert installs(dev) == ["lock", "package"]


def test_a_changed_project_file_reinstalls_only_the_package(dev: ModuleType) -> None:
    installs(dev)
    dev.PYPROJECT.write_text("[project]\nname = 'x'\n")
    assert installs(dev) == ["package"]


def test_a_failed_install_leaves_no_stamp(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "run", lambda command: 1)
    with pytest.raises(SystemExit, match="could not prepare"):
        dev.prepare()
    assert not dev.STAMP.exists()


def test_uv_is_used_where_there_is_one(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev.shutil, "which", lambda name: "uv")
    assert installs(dev) == ["lock", "package"]
    assert {command[0] for command in dev.commands} == {"uv"}


def test_a_python_without_venv_gets_one_clear_sentence(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"lacks venv and ensurepip\. .*python3-venv"):
        dev.prepare()


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["tset"], 2), (["--help"], 0)])
def test_says_what_it_can_do(arguments: list[str], code: int) -> None:
    done = subprocess.run(
        [sys.executable, DEV, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    for command in ("demo", "test", "check", "lock"):
        assert f"dev.py {command}" in done.stdout + done.stderr


def canonical(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name.group()).lower()


def test_the_lock_covers_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = project["dependencies"] + project["optional-dependencies"]["dev"]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {canonical(line) for line in lock.splitlines() if re.match(r"\w", line)}
    assert {canonical(requirement) for requirement in asked} <= locked


def test_every_locked_version_has_a_hash_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\w)", lock.strip())
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock
    assert not re.search(r"^--(?!hash)", lock, re.MULTILINE)
