"""One version, wherever it stands."""

import re
import shutil
from pathlib import Path

import pytest
import versions

CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n### Privacy\n\n- A law.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Only the files that name the version."""
    for path in (versions.HOME, versions.NPM_LOCK, *versions.PLACES):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(versions.ROOT / path, tmp_path / path)
    (tmp_path / versions.CHANGELOG).write_text(CHANGELOG)
    return tmp_path


def test_every_place_names_the_version_of_the_package() -> None:
    assert versions.disagreements() == []


@pytest.mark.parametrize("path", versions.PLACES)
def test_a_place_with_another_version_is_named(path: str, tree: Path) -> None:
    text = (tree / path).read_text(encoding="utf-8")
    (tree / path).write_text(text.replace(versions.current(), "9.9.9"), encoding="utf-8")
    (said,) = versions.disagreements(tree)
    assert said.startswith(path)
    assert said.endswith("9.9.9")


def test_a_new_version_is_written_everywhere_with_its_day(tree: Path) -> None:
    versions.rename("2.3.4rc1", "2030-01-02", tree)
    assert versions.current(tree) == "2.3.4rc1"
    assert versions.disagreements(tree) == []
    changelog = (tree / versions.CHANGELOG).read_text()
    assert changelog == CHANGELOG.replace("[Unreleased]", "[2.3.4rc1] - 2030-01-02")
    assert versions.is_dated("2.3.4rc1", changelog)
    citation = (tree / "CITATION.cff").read_text(encoding="utf-8")
    assert "\nversion: 2.3.4rc1\ndate-released: 2030-01-02\n" in citation


def test_naming_it_again_replaces_the_day(tree: Path) -> None:
    versions.rename("1.0.0", "2030-01-02", tree)
    (tree / versions.CHANGELOG).write_text(CHANGELOG)
    versions.rename("1.0.1", "2031-01-02", tree)
    citation = (tree / "CITATION.cff").read_text(encoding="utf-8")
    assert citation.count("date-released: ") == 1
    assert "date-released: 2031-01-02" in citation


@pytest.mark.parametrize("name", ["1.2", "v1.2.3", "1.2.3-rc1", "1.2.3.dev1", ""])
def test_what_is_no_version_changes_nothing(name: str, tree: Path) -> None:
    before = versions.current(tree)
    with pytest.raises(ValueError, match=f"{re.escape(name)}$"):
        versions.rename(name, "2030-01-02", tree)
    assert versions.current(tree) == before


def test_nothing_is_released_twice_from_one_section(tree: Path) -> None:
    versions.rename("1.0.0", "2030-01-02", tree)
    with pytest.raises(ValueError, match=r"\[Unreleased\]"):
        versions.rename("1.0.1", "2030-01-03", tree)
    assert versions.current(tree) == "1.0.0"


def test_a_section_without_a_day_is_not_released() -> None:
    assert not versions.is_dated("1.0.0", CHANGELOG)
    assert not versions.is_dated("1.0.0", CHANGELOG.replace("Unreleased", "1.0.0"))
    assert versions.newest_released(CHANGELOG) is None
