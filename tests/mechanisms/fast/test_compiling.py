"""Compiled code never outlives the sources it was compiled from."""

from pathlib import Path

import pytest

from nomadp.mechanisms.fast.compiling import _refresh_cache


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "one.py").write_text("one = 1")
    (tmp_path / "other.py").write_text("other = 2")
    return tmp_path


def compiled(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "__pycache__").glob("*.nb*"))


def begin_again(folder: Path) -> bool:
    _refresh_cache.cache_clear()
    return _refresh_cache(folder)


def test_code_of_unknown_sources_is_forgotten(folder):
    (folder / "__pycache__" / "one.nbi").touch()
    assert begin_again(folder)
    assert compiled(folder) == []


def test_code_of_the_same_sources_is_kept(folder):
    begin_again(folder)
    (folder / "__pycache__" / "one.nbc").touch()
    assert begin_again(folder)
    assert compiled(folder) == ["one.nbc"]


def test_a_change_of_any_file_forgets_the_code_of_all(folder):
    begin_again(folder)
    (folder / "__pycache__" / "one.nbc").touch()
    (folder / "other.py").write_text("other = 3")
    assert begin_again(folder)
    assert compiled(folder) == []


def test_where_nothing_can_be_written_nothing_is_kept(folder):
    (folder / "__pycache__").rmdir()
    (folder / "__pycache__").write_text("in the way")
    assert not begin_again(folder)
