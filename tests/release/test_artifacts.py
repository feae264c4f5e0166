"""What is published holds what it should, and nothing else."""

import re
import tomllib
import zipfile
from pathlib import Path

import artifacts
import installs
import prepare
import pytest

from nomadp.extras import EXTRAS


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    made = tmp_path / "nomadp-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("nomadp/__init__.py", "")
        archive.writestr("nomadp/notes.txt", "")
    return made


def test_a_stranger_in_the_wheel_is_named_and_so_is_what_is_missing(wheel: Path) -> None:
    expected = {"nomadp/__init__.py", "nomadp/pages/static/index.html"}
    missing, stranger = artifacts.differences("wheel", artifacts.wheel_names(wheel), expected)
    assert "nomadp/pages/static/index.html" in missing
    assert "nomadp/notes.txt" in stranger


def test_pages_that_were_not_built_are_asked_for(wheel: Path, tmp_path: Path) -> None:
    (said,) = artifacts.misplaced(artifacts.Built(wheel, wheel), tmp_path, "1.0.0")
    assert "python3 dev.py web" in said


def test_a_folder_is_the_same_only_with_the_same_names_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    before = artifacts.folder_digest(tmp_path)
    (tmp_path / "a").write_text("y")
    other = artifacts.folder_digest(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    assert len({before, other, artifacts.folder_digest(tmp_path)}) == 3


def test_every_extra_is_installed_and_tried() -> None:
    assert {*installs.EXTRAS, *installs.CLUSTERS} == {*EXTRAS, "all"}


def test_an_extra_of_extras_asks_for_all_that_they_do() -> None:
    project = {
        "dependencies": ["a>=1"],
        "optional-dependencies": {"b": ["b>=2"], "c": ["c>=3"], "all": ["nomadp[b,c]"]},
    }
    assert installs.requirements("", project) == ["a>=1"]
    assert sorted(installs.requirements("all", project)) == ["a>=1", "b>=2", "c>=3"]


def test_every_requirement_says_from_which_version_on_it_works() -> None:
    assert installs.unbounded(installs.read_project(prepare.ROOT)) == []
    free = {"dependencies": ["a; sys_platform >= 'x'"], "optional-dependencies": {}}
    assert installs.unbounded(free) == ["a; sys_platform >= 'x'"]


def test_no_requirement_has_an_upper_pin() -> None:
    project = installs.read_project(prepare.ROOT)
    extras = project["optional-dependencies"].keys() - {"dev"}
    every = {each for extra in extras for each in installs.requirements(extra, project)}
    assert [each for each in every if "<" in each or "==" in each.partition(";")[0]] == []


def test_the_recipe_gets_the_hash_and_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "DIST", tmp_path)
    (tmp_path / "sdist").write_bytes(b"")
    prepare.fill_recipe(tmp_path / "sdist", "https://files.example/nomadp.tar.gz")
    made = (tmp_path / "recipe.yaml").read_text(encoding="utf-8")
    assert "\n  url: https://files.example/nomadp.tar.gz\n" in made
    assert f"\n  sha256: {artifacts.digest(tmp_path / 'sdist')}\n" in made


def listed(heading: str) -> list[str]:
    """What stands under a heading of the recipe."""
    text = prepare.RECIPE.read_text(encoding="utf-8")
    (found,) = re.findall(rf"^ +{heading}:\n((?: +- .*\n)+)", text, re.MULTILINE)
    return [line.strip().removeprefix("- ") for line in found.splitlines()]


def as_conda(requirement: str) -> str:
    """As conda-forge writes it, where a few packages have other names."""
    name, least = re.sub(r"\[\w+\]|;.*", "", requirement).split(">=")
    others = {"h3": "h3-py", "matplotlib": "matplotlib-base"}
    return f"{others.get(name, name)} >={least}"


def test_the_recipe_asks_for_what_the_base_install_does() -> None:
    base = installs.read_project(prepare.ROOT)["dependencies"]
    assert listed("run") == ["python >=${{ python_min }}", *map(as_conda, base)]


def test_the_recipe_bounds_what_the_extras_ask_for() -> None:
    project = installs.read_project(prepare.ROOT)
    beside = set(installs.requirements("all", project)) - set(project["dependencies"])
    assert sorted(listed("run_constraints")) == sorted(map(as_conda, beside))


def test_the_recipe_is_built_as_the_wheel_is() -> None:
    text = prepare.RECIPE.read_text(encoding="utf-8")
    whole = tomllib.loads((prepare.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, build = whole["project"], whole["build-system"]["requires"]
    assert f'  python_min: "{project["requires-python"].removeprefix(">=")}"\n' in text
    assert set(map(as_conda, build)) <= set(listed("host"))
    assert listed("entry_points") == [f"{k} = {v}" for k, v in project["scripts"].items()]
    assert f"  summary: {project['description']}\n" in text
    assert f"  license: {project['license']}\n" in text


def test_a_rehearsal_of_some_extras_knows_their_names() -> None:
    assert prepare.chosen(prepare.parse(["--extras", "base,fast"])) == ["", "fast"]
    assert prepare.chosen(prepare.parse(["--quick"])) == ["", "collector"]
    with pytest.raises(SystemExit):
        prepare.chosen(prepare.parse(["--extras", "quick"]))
