"""A task folder: written whole, and read as if a stranger had sent it."""

import pytest
from refusals import refused

from nomadp.errors import OutputError, TaskRefused
from nomadp.protocol import folder
from nomadp.protocol.folder import read_task_folder, write_task_folder


def names(path):
    return sorted(each.name for each in path.iterdir())


def test_a_folder_holds_the_canonical_bytes_and_is_read_again(
    tmp_path, atlas_bundle, zones_bundle
):
    for bundle, book in ((atlas_bundle, "atlas.json"), (zones_bundle, "zones.json")):
        path = write_task_folder(tmp_path / bundle.task.id, bundle)
        assert names(path) == sorted(["locations.csv", "task.json", book])
        assert (path / "task.json").read_bytes() == bundle.task.content
        assert read_task_folder(path, bundle.task.id).task == bundle.task


def test_writing_over_another_kind_of_task_leaves_nothing_of_it(
    tmp_path, atlas_bundle, zones_bundle
):
    write_task_folder(tmp_path, atlas_bundle)
    write_task_folder(tmp_path, zones_bundle)
    assert names(tmp_path) == ["locations.csv", "task.json", "zones.json"]
    assert read_task_folder(tmp_path).task == zones_bundle.task


def test_a_failure_leaves_no_new_file_behind(tmp_path, atlas_bundle, monkeypatch):
    (tmp_path / "task.json").mkdir()  # cannot be replaced by a file
    with pytest.raises(OutputError):
        write_task_folder(tmp_path, atlas_bundle)
    assert names(tmp_path) == ["task.json"]


def test_a_folder_without_a_file_is_refused(tmp_path, atlas_bundle):
    for name in ("task.json", "locations.csv", "atlas.json"):
        write_task_folder(tmp_path, atlas_bundle)
        (tmp_path / name).unlink()
        with refused(TaskRefused, "task_file_missing", files=[name]):
            read_task_folder(tmp_path)


def test_a_changed_byte_anywhere_is_refused(tmp_path, atlas_bundle):
    for name, old, new in (
        ("task.json", b"buses", b"Buses"),
        ("locations.csv", b"40.02", b"40.03"),
        ("atlas.json", b'"near_count":1', b'"near_count":2'),
    ):
        write_task_folder(tmp_path, atlas_bundle)
        content = (tmp_path / name).read_bytes()
        assert old in content
        (tmp_path / name).write_bytes(content.replace(old, new, 1))
        with pytest.raises(TaskRefused):
            read_task_folder(tmp_path, atlas_bundle.task.id)


def test_no_more_is_read_than_a_file_may_have(tmp_path, atlas_bundle, monkeypatch):
    write_task_folder(tmp_path, atlas_bundle)
    monkeypatch.setattr(folder, "FILE_BYTES_MAX", 10)
    with refused(TaskRefused, "task_file_too_large", file="locations.csv", limit=10):
        read_task_folder(tmp_path)
    (tmp_path / "task.json").write_bytes(b" " * 20_000)
    with refused(TaskRefused, "task_file_too_large", file="task.json", limit=16_384):
        read_task_folder(tmp_path)
