"""web/build.py builds only what changed, takes a Node where it finds one, and says if none."""

import ast
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "web" / "build.py"
LOCK = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))


PACKAGES = {
    "client": {"version": "1.0.0"},
    "node_modules/client": {"link": True},
    "node_modules/map": {"version": "2.0.0", "license": "MIT"},
    "node_modules/tool": {"version": "3.0.0", "license": "MIT", "dev": True},
}


def load_build() -> ModuleType:
    return load_script(BUILD)


class FakeNode:
    """Writes down what npm is asked, and does what it would leave behind."""

    def __init__(self, folder: Path, failing: tuple[str, ...] = ()) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._folder, self._failing = folder, failing

    def run(self, *args: str, cwd: Path | None = None) -> int:
        self.asked.append(args)
        if args[0] == "ci":
            (self._folder / "node_modules" / "map").mkdir(parents=True, exist_ok=True)
            (self._folder / "node_modules" / "map" / "LICENSE.txt").write_text("Be kind.\n")
        if args[:2] == ("run", "build"):
            (self._folder / "client" / "dist" / "assets").mkdir(parents=True, exist_ok=True)
        return int(args[0] in self._failing or args[1] in self._failing)

    @property
    def steps(self) -> list[str]:
        return [args[1] if args[0] == "run" else args[0] for args in self.asked]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """web/build.py in a small workspace."""
    build = load_build()
    (tmp_path / "client").mkdir()
    (tmp_path / "client" / "index.ts").write_text("export {};\n")
    (tmp_path / "package.json").write_text("{}\n")
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": PACKAGES}))
    monkeypatch.setattr(build, "WEB", tmp_path)
    monkeypatch.setattr(build, "LOCK", tmp_path / "package-lock.json")
    monkeypatch.setattr(build, "MODULES", tmp_path / "node_modules")
    monkeypatch.setattr(build, "BUILT", [tmp_path / "client" / "dist"])
    use(build, FakeNode(tmp_path))
    return build


def use(build: ModuleType, node: FakeNode) -> None:
    build.node = node
    build.node_on_path = lambda: node


def steps(build: ModuleType) -> list[str]:
    """What the next build runs."""
    build.node.asked.clear()
    assert build.main(["build"]) == 0
    return build.node.steps


def test_needs_only_the_standard_library() -> None:
    tree = ast.parse(BUILD.read_text(encoding="utf-8"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_the_first_build_installs_and_a_second_does_nothing(build: ModuleType) -> None:
    assert steps(build) == ["ci", "build"]
    assert steps(build) == []


def test_a_changed_source_is_built_again_with_what_is_installed(build: ModuleType) -> None:
    steps(build)
    (build.WEB / "client" / "index.ts").write_text("export const changed = 1;\n")
    assert steps(build) == ["build"]


def test_the_terms_of_what_is_inside_go_with_it_and_those_of_tools_do_not(
    build: ModuleType,
) -> None:
    steps(build)
    (written,) = (build.BUILT[-1] / "assets").glob("licences-*.txt")
    assert written.read_text(encoding="utf-8") == "map 2.0.0 (MIT)\n\nBe kind.\n"


def test_terms_that_a_package_only_names_go_with_it_too(build: ModuleType) -> None:
    steps(build)
    (build.MODULES / "map" / "LICENSE.txt").unlink()
    (build.WEB / "terms").mkdir()
    (build.WEB / "terms" / "MIT.txt").write_text("As ever.")
    build.write_licences(build.WEB / "terms")
    (written,) = (build.WEB / "terms").glob("licences-*.txt")
    assert written.read_text(encoding="utf-8") == "map 2.0.0 (MIT)\n\nAs ever.\n"


def test_a_changed_lock_installs_again(build: ModuleType) -> None:
    steps(build)
    build.LOCK.write_text('{"packages": {}}\n')
    assert steps(build) == ["ci", "build"]


def test_what_was_built_and_is_gone_is_built_again(build: ModuleType) -> None:
    steps(build)
    shutil.rmtree(build.WEB / "client" / "dist")
    assert steps(build) == ["build"]


def test_what_is_installed_or_built_is_no_source(build: ModuleType) -> None:
    before = build.sources()
    steps(build)
    (build.MODULES / "tool.js").write_text("tool")
    (build.WEB / "client" / "dist" / "index.js").write_text("built")
    assert build.sources() == before


def test_a_failed_build_is_tried_again(build: ModuleType) -> None:
    use(build, FakeNode(build.WEB, failing=("build",)))
    assert build.main(["build"]) == 1
    use(build, FakeNode(build.WEB))
    assert steps(build) == ["build"]


@pytest.mark.parametrize(("failing", "code"), [(("ci", "ping"), 3), (("ci",), None)])
def test_only_a_silent_registry_counts_as_unavailable(
    build: ModuleType, failing: tuple[str, ...], code: int | None
) -> None:
    node = FakeNode(build.WEB, failing)
    node.run = lambda *args, cwd=None: int(args[0] in failing)  # type: ignore[method-assign]
    use(build, node)
    with pytest.raises(SystemExit) as ended:
        build.main(["test"])
    assert (ended.value.code == build.UNAVAILABLE) is (code == build.UNAVAILABLE)
    assert ended.value.code not in (0, None)


def test_without_any_node_it_says_so(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Offline:
        NODE = None

        def prepare_further(self, environment: object) -> None:
            sys.exit("no network")

    monkeypatch.setattr(build, "node_on_path", lambda: None)
    monkeypatch.setattr(build, "load_dev", Offline)
    with pytest.raises(SystemExit) as ended:
        build.main(["build"])
    assert ended.value.code == build.UNAVAILABLE
    assert "no network" in capsys.readouterr().err  # why there is none


@pytest.mark.parametrize(
    ("version", "recent"),
    [
        ("v18.20.1", False),
        ("v20.18.3", False),
        ("v20.19.0", True),
        ("v21.7.0", False),
        ("v22.11.0", False),
        ("v22.12.0", True),
        ("v24.1.0", True),
        ("v100.0.0", True),
        ("", False),
        ("node 24", False),
    ],
)
def test_a_node_is_taken_if_vite_runs_on_it(version: str, recent: bool) -> None:
    assert load_build().is_recent(f"{version}\n") is recent


def test_a_node_without_npm_is_none(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = load_build()
    monkeypatch.setattr(fresh.shutil, "which", lambda name: name if name == "node" else None)
    assert fresh.node_on_path() is None


def test_a_lock_loses_the_addresses_of_sponsors() -> None:
    lock = {"packages": {"a": {"version": "1", "funding": {"url": "https://localhost"}}}}
    found = load_build().without_addresses(json.dumps(lock))
    assert json.loads(found) == {"packages": {"a": {"version": "1"}}}


def packages() -> dict[str, dict[str, object]]:
    """The locked packages of others, by name."""
    return {
        path.rsplit("node_modules/", 1)[1]: package
        for path, package in LOCK["packages"].items()
        if "node_modules/" in path and not package.get("link")
    }


def test_every_locked_package_has_a_hash_and_no_address() -> None:
    assert len(packages()) > 40
    for package in packages().values():
        assert str(package["integrity"]).startswith("sha512-")
        assert "resolved" not in package
    assert "://" not in json.dumps(LOCK)


def test_the_lock_has_what_every_platform_needs() -> None:
    needed = {
        name
        for package in packages().values()
        for name in package.get("optionalDependencies", {})  # type: ignore[attr-defined]
    }
    assert any("darwin" in name for name in needed)
    assert needed <= set(packages())


def test_the_client_depends_on_nothing() -> None:
    client = json.loads((ROOT / "web" / "client" / "package.json").read_text(encoding="utf-8"))
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & set(client)
