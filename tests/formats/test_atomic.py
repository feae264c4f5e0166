"""Files appear whole or not at all."""

import os
import stat
from errno import ENOENT, ENOSPC
from pathlib import Path

import pytest
from refusals import refused

from nomadp.errors import OutputError
from nomadp.formats.atomic import move_atomically, write_atomically


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


def writing(content):
    return lambda part: part.write_text(content, encoding="utf-8")


def failing(error):
    def write(part):
        part.write_text("half", encoding="utf-8")
        raise error

    return write


def test_writes_every_file_and_leaves_nothing_else(tmp_path):
    write_atomically({tmp_path / "a.json": writing("1"), tmp_path / "b.csv": writing("2")})
    assert listing(tmp_path) == ["a.json", "b.csv"]
    assert (tmp_path / "b.csv").read_text(encoding="utf-8") == "2"


@pytest.mark.skipif(os.name == "nt", reason="a folder can be flushed on POSIX only")
def test_content_is_on_disk_before_it_is_in_its_place_and_the_place_at_the_end(
    tmp_path, monkeypatch
):
    steps, flush, replace = [], os.fsync, Path.replace

    def flushed(handle):
        status = os.fstat(handle)
        steps.append("folder" if stat.S_ISDIR(status.st_mode) else status.st_size)
        flush(handle)

    def moved(part, path):
        steps.append("moved")
        return replace(part, path)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(Path, "replace", moved)
    write_atomically({tmp_path / "a.csv": writing("123"), tmp_path / "b.csv": writing("12345")})
    assert steps == [3, 5, "moved", "moved", "folder"]


def test_replaces_an_old_file(tmp_path):
    (tmp_path / "a.csv").write_text("old", encoding="utf-8")
    write_atomically({tmp_path / "a.csv": writing("new")})
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_half_way_leaves_the_folder_as_it_was(tmp_path, error):
    (tmp_path / "b.csv").write_text("old", encoding="utf-8")
    with pytest.raises(type(error)):
        write_atomically(
            {tmp_path / "a.json": writing("1"), tmp_path / "b.csv": failing(error)}
        )
    assert listing(tmp_path) == ["b.csv"]
    assert (tmp_path / "b.csv").read_text(encoding="utf-8") == "old"


def test_a_full_disk_is_one_sentence_and_no_file(tmp_path):
    full = OSError(ENOSPC, "No space left on device")
    with refused(OutputError, "file_unwritable", errno=ENOSPC):
        write_atomically({tmp_path / "b.csv": failing(full)})
    assert listing(tmp_path) == []


def test_a_move_that_fails_takes_the_files_already_moved_with_it(tmp_path):
    (tmp_path / "b.csv").mkdir()
    with refused(OutputError, "file_unwritable"):
        write_atomically({tmp_path / "a.json": writing("1"), tmp_path / "b.csv": writing("2")})
    assert listing(tmp_path) == ["b.csv"]


def test_a_missing_folder_is_one_sentence(tmp_path):
    with refused(OutputError, "file_unwritable", errno=ENOENT):
        write_atomically({tmp_path / "nowhere" / "a.csv": writing("1")})


def test_a_part_keeps_the_suffix_that_says_its_format(tmp_path):
    parts = []

    def write(part):
        parts.append(part.name)
        part.write_text("", encoding="utf-8")

    write_atomically({tmp_path / "a.csv.gz": write})
    assert parts[0].endswith("a.csv.gz")
    assert parts[0].startswith(".")


def test_a_ready_file_takes_the_place_of_an_older_one(tmp_path):
    (tmp_path / "ready").write_text("new")
    (tmp_path / "place").write_text("old")
    move_atomically(tmp_path / "ready", tmp_path / "place")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("place", "new")]


def test_a_ready_file_that_cannot_be_moved_stays_where_it_is(tmp_path):
    (tmp_path / "ready").write_text("new")
    with refused(OutputError, "file_unwritable", errno=ENOENT):
        move_atomically(tmp_path / "ready", tmp_path / "nowhere" / "place")
    assert (tmp_path / "ready").read_text() == "new"


def test_a_private_file_is_for_its_owner_alone_from_the_first_byte(tmp_path):
    modes = []

    def write(part):
        modes.append(part.stat().st_mode & 0o777)
        part.write_text("1", encoding="utf-8")

    secret, public = tmp_path / "secret.csv", tmp_path / "public.csv"
    write_atomically({secret: write, public: writing("2")}, private=[secret])
    assert (modes, secret.stat().st_mode & 0o777) == ([0o600], 0o600)
    assert public.stat().st_mode & 0o777 != 0o600
