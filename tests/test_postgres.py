"""Where the PostgreSQL of the tests keeps its data: on a disk, or it says that it does not."""

from pathlib import Path

import postgres
import pytest
from postgres import DISK, IN_MEMORY, MEMORY, medium_of, parent_folder


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which two folders are in memory and one is on a disk."""
    for name in ("shm", "tmp", "var"):
        (tmp_path / name).mkdir()
    mounts = tmp_path / "mounts"
    root = tmp_path.resolve()
    mounts.write_text(
        f"disk / ext4 rw 0 0\nshm {root}/shm tmpfs rw 0 0\ntmp {root}/tmp tmpfs rw 0 0\n"
    )
    monkeypatch.setattr(postgres, "MOUNTS", mounts)
    monkeypatch.setattr(postgres, "SHARED", tmp_path / "shm")
    monkeypatch.setattr(postgres, "FURTHER", tmp_path / "var")
    monkeypatch.setattr(postgres.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    monkeypatch.delenv(IN_MEMORY, raising=False)
    return tmp_path


def test_data_are_on_a_disk_however_much_memory_there_is(mounted: Path) -> None:
    assert parent_folder() == mounted / "var"
    assert medium_of(parent_folder() / "data") == DISK


def test_memory_has_to_be_asked_for_and_is_told(
    mounted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IN_MEMORY, "1")
    assert parent_folder() == mounted / "shm"
    assert medium_of(parent_folder() / "data") == MEMORY


def test_where_there_is_no_disk_it_is_told(
    mounted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "FURTHER", mounted / "tmp")
    assert medium_of(parent_folder()) == MEMORY


def test_without_a_list_of_mounts_nothing_else_is_known(
    mounted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "MOUNTS", mounted / "none")
    assert medium_of(mounted / "shm") == DISK
