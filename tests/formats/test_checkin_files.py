"""Check-in files as downloaded: what is read, what is counted, what is never said."""

import gzip
import hashlib
from errno import ENOENT

import numpy as np
import pytest
from refusals import refused

from nomadp.errors import SchemaError
from nomadp.formats.box import Box
from nomadp.formats.checkin_files import read_checkins

NYC = [
    "470\t49bbd6c0f964a520f4531fe3\tcat1\tArts & Crafts\t40.7198\t-74.0025\t-240\t"
    "Tue Apr 03 18:00:09 +0000 2012",
    "979\t4a43c0aef964a520c6a61fe3\tcat2\tCaf\xe9\t40.6068\t-74.0441\t-240\t"
    "Tue Apr 03 18:00:25 +0000 2012",
    "470\t4a43c0aef964a520c6a61fe3\tcat2\tCaf\xe9\t40.6068\t-74.0441\t-240\t"
    "Tue Apr 03 20:02:24 +0200 2012",
]
GOWALLA = [
    "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847",
    "0\t2010-10-18T22:17:43Z\t30.2691029532\t-97.7493953705\t420315",
    "7\t2010-10-17T23:42:03Z\t41.8781\t-87.6298\t316637",
]


def written(folder, lines, name="checkins.txt"):
    content = "\n".join(lines).encode("latin-1") + b"\n"
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def test_reads_foursquare_with_its_latin_1_names(tmp_path):
    read = read_checkins(written(tmp_path, NYC), "foursquare")
    assert (read.rows, read.malformed, read.outside) == (3, 0, 0)
    assert [read.user_ids[k] for k in read.uid] == ["470", "979", "470"]
    assert [read.place_ids[k][:4] for k in read.place] == ["49bb", "4a43", "4a43"]
    assert read.lat.tolist() == [40.7198, 40.6068, 40.6068]
    assert read.lng.tolist() == [-74.0025, -74.0441, -74.0441]
    first = np.datetime64("2012-04-03T18:00:09", "us").astype(int)
    assert (read.moment_us - first).tolist() == [0, 16_000_000, 135_000_000]


@pytest.mark.parametrize("name", ["gowalla.txt", "gowalla.txt.gz"])
def test_reads_gowalla_plain_or_packed(tmp_path, name):
    path = written(tmp_path, GOWALLA, name)
    read = read_checkins(path, "gowalla")
    assert [read.place_ids[k] for k in read.place] == ["22847", "420315", "316637"]
    assert read.lat.tolist() == [30.2359091167, 30.2691029532, 41.8781]
    assert read.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_windows_line_ends_and_a_missing_last_one_change_nothing(tmp_path):
    plain = read_checkins(written(tmp_path, GOWALLA), "gowalla")
    path = tmp_path / "windows.txt"
    path.write_bytes("\r\n".join(GOWALLA).encode())
    read = read_checkins(path, "gowalla")
    assert read.moment_us.tolist() == plain.moment_us.tolist()
    assert (read.rows, read.place_ids) == (3, plain.place_ids)


def test_only_the_box_is_kept_and_the_rest_is_counted(tmp_path):
    chicago = Box(-88, 41.6, -87.4, 42)
    read = read_checkins(written(tmp_path, GOWALLA), "gowalla", chicago)
    assert (read.place_ids, read.outside, read.rows) == (("316637",), 2, 3)


BROKEN = [
    "",
    "only one column",
    GOWALLA[0] + "\tone too many",
    GOWALLA[0].replace("2010-10-19T", "2010-10-32T"),
    GOWALLA[0].replace("Z", ""),
    GOWALLA[0].replace("30.2359091167", "nan"),
    GOWALLA[0].replace("30.2359091167", "130.2"),
    GOWALLA[0].replace("-97.7951395833", "-197.8"),
    GOWALLA[0].replace("-97.7951395833", "97,8W"),
    GOWALLA[0].replace("22847", ""),
    GOWALLA[0].replace("22847", "caf\xe9"),
    GOWALLA[0].replace("0\t", "\t", 1),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_malformed_row_is_counted_and_named_by_its_line(tmp_path, broken):
    lines = [GOWALLA[0], GOWALLA[1], broken, GOWALLA[2]]
    read = read_checkins(written(tmp_path, lines), "gowalla")
    assert (read.rows, read.malformed, read.malformed_lines) == (4, 1, (3,))
    assert len(read.place) == 3


def test_lines_are_right_when_torn_and_broken_rows_alternate_over_many_blocks(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("nomadp.formats.checkin_files.BLOCK_BYTES", 512)
    lines, bad = [], []
    rng = np.random.default_rng(5)
    for k in range(400):
        kind = rng.integers(0, 6)
        lines.append({0: "torn", 1: BROKEN[5], 2: ""}.get(int(kind), GOWALLA[0]))
        bad += [k + 1] if kind < 3 else []
    monkeypatch.setattr("nomadp.formats.checkin_files.NAMED_LINES", 1000)
    read = read_checkins(written(tmp_path, lines), "gowalla")
    assert read.malformed_lines == tuple(bad)
    assert len(read.place) == 400 - len(bad)


def test_a_torn_row_with_a_latin_1_name_is_counted_like_any_other(tmp_path):
    lines = [NYC[0], "470\tCaf\xe9\xff", NYC[1]]
    read = read_checkins(written(tmp_path, lines), "foursquare")
    assert (read.rows, read.malformed_lines) == (3, (2,))


def test_only_the_first_malformed_lines_are_named(tmp_path):
    read = read_checkins(written(tmp_path, ["x"] * 9 + GOWALLA), "gowalla")
    assert (read.malformed, read.malformed_lines) == (9, (1, 2, 3, 4, 5))


def test_progress_ends_at_the_size_of_the_file(tmp_path):
    seen = []
    path = written(tmp_path, GOWALLA, "g.txt.gz")
    read_checkins(path, "gowalla", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size,) * 2


@pytest.mark.parametrize("lines", [NYC, ["SECRET"] * 3])
def test_refuses_another_kind_of_file_without_quoting_it(tmp_path, lines):
    with refused(SchemaError, "not_checkins", rows=3) as refusal:
        read_checkins(written(tmp_path, lines), "gowalla")
    assert lines[0][:6] not in str(refusal.value)


def test_refuses_an_empty_and_a_missing_and_a_damaged_file(tmp_path):
    (tmp_path / "empty.txt").write_bytes(b"")
    with refused(SchemaError, "not_checkins"):
        read_checkins(tmp_path / "empty.txt", "gowalla")
    with refused(SchemaError, "file_unreadable", errno=ENOENT):
        read_checkins(tmp_path / "none.txt", "gowalla")
    whole = written(tmp_path, GOWALLA * 100, "cut.txt.gz")
    whole.write_bytes(whole.read_bytes()[:-10])
    with refused(SchemaError, "damaged_archive") as refusal:
        read_checkins(whole, "gowalla")
    assert refusal.value.__context__ is None


def test_nothing_of_the_check_ins_is_printed(tmp_path):
    read = read_checkins(written(tmp_path, GOWALLA), "gowalla")
    assert "22847" not in repr(read)
    assert "30.2" not in repr(read)
