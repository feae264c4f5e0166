"""What an archive may hold, and that one that holds far more is refused before it is read."""

import os
import zipfile

from refusals import refused

from nomadp.formats import archives, bounded
from nomadp.formats.archives import zip_entries
from nomadp.formats.unreadable import Unreadable

MILLION = 1_000_000


def packed(path, *contents):
    """A zip file; bytes are packed, as zeros well are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for k, content in enumerate(contents):
            archive.writestr(f"{k}.json", content)
    return path


def read(source):
    with source.open() as stream:
        return stream.read()


def test_files_of_an_archive_are_read_as_they_are(tmp_path):
    entries = zip_entries(packed(tmp_path / "good.zip", b"one", bytes(15 * MILLION)))
    assert [read(each) for each in entries] == [b"one", bytes(15 * MILLION)]


def test_files_that_are_bearable_each_and_too_much_together_are_refused_unread(tmp_path):
    path = packed(tmp_path / "bomb.zip", *[bytes(6 * MILLION)] * 3)
    with refused(Unreadable, "bomb"):
        zip_entries(path)


def test_a_file_that_grows_beyond_measure_is_refused_in_an_archive_of_honest_ones(tmp_path):
    honest = os.urandom(MILLION // 4)
    source, bomb = zip_entries(packed(tmp_path / "bomb.zip", honest, bytes(20 * MILLION)))
    assert read(source) == honest
    with refused(Unreadable, "bomb"):
        read(bomb)


def test_more_files_than_any_export_has_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILES", 2)
    assert len(zip_entries(packed(tmp_path / "two.zip", b"1", b"2"))) == 2
    with refused(Unreadable, "bomb"):
        zip_entries(packed(tmp_path / "three.zip", b"1", b"2", b"3"))


def test_however_large_an_archive_is_there_is_an_end_to_what_comes_out(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded, "MAX_BYTES", 1000)
    assert len(zip_entries(packed(tmp_path / "small.zip", os.urandom(1000)))) == 1
    with refused(Unreadable, "bomb"):
        zip_entries(packed(tmp_path / "large.zip", os.urandom(1001)))
