"""Files of reports: they say how they were made, and appear whole or not at all."""

import json

import pyarrow.parquet as pq
import pytest

from nomadp.errors import DomainError, NomadpError, OutputError, SchemaError
from nomadp.formats import report_files
from nomadp.formats.tables import METADATA, ReportTable, read_reports, write_reports
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

WORLD = LocationSet.from_columns(["a", "b,c", "Z\u00fcrich"], [1, 2, 3], [4, 5, 6])
ELSEWHERE = LocationSet.from_columns(["a", "b,c", "Z\u00fcrich"], [1, 2, 3], [4, 5, 7])
REPORTS = TrajectorySet.from_lists([[2, 0], [1], [1, 1, 0]], ["x", "y", "\u00e9"], size=3)
SAID = {
    "mechanism": "atp",
    "mechanism_version": 1,
    "epsilon": "7/2",
    "location_set_sha256": WORLD.sha256,
    "rng": "seeded",
    "private": True,
    "nomadp_version": "0.1.0",
    "options": {"granularity": "table"},
}
FORMATS = ("csv", "csv.gz", "parquet")


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", FORMATS)
def test_reports_survive_being_written_and_read(tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    write_reports(path, ReportTable(REPORTS, WORLD, SAID))
    assert read_reports(path, WORLD) == (REPORTS, SAID)


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_reports_make_the_same_bytes(tmp_path, suffix):
    one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    write_reports(one, ReportTable(REPORTS, WORLD, SAID))
    write_reports(two, ReportTable(REPORTS, WORLD, dict(reversed(SAID.items()))))
    assert one.read_bytes() == two.read_bytes()


def test_csv_reads_as_anyone_would_expect(tmp_path):
    write_reports(tmp_path / "out.csv", ReportTable(REPORTS, WORLD, SAID))
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == (
        "tid,seq,location_id\n"
        'x,0,Z\u00fcrich\nx,1,a\ny,0,"b,c"\n\u00e9,0,"b,c"\n\u00e9,1,"b,c"\n\u00e9,2,a\n'
    )
    assert listing(tmp_path) == ["out.csv", "out.csv.meta.json"]
    assert json.loads((tmp_path / "out.csv.meta.json").read_bytes()) == SAID


def test_parquet_carries_its_metadata_inside(tmp_path):
    write_reports(tmp_path / "out.parquet", ReportTable(REPORTS, WORLD, SAID))
    assert listing(tmp_path) == ["out.parquet"]
    assert json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"nomadp"]) == SAID


@pytest.mark.parametrize("key", METADATA)
def test_reports_that_do_not_say_how_they_were_made_cannot_exist(key):
    said = {name: value for name, value in SAID.items() if name != key}
    with pytest.raises(SchemaError, match=f"missing: {key}"):
        ReportTable(REPORTS, WORLD, said)


def test_reports_must_fit_their_locations():
    outside = TrajectorySet.from_lists([[3]], size=4)
    with pytest.raises(DomainError, match="set of 3, got 1 outside"):
        ReportTable(outside, WORLD, SAID)
    with pytest.raises(DomainError, match="the locations they were made with"):
        ReportTable(REPORTS, ELSEWHERE, SAID)


@pytest.mark.parametrize("suffix", FORMATS)
def test_refuses_to_read_reports_with_other_locations(tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    write_reports(path, ReportTable(REPORTS, WORLD, SAID))
    with pytest.raises(DomainError, match=f"sha256={WORLD.sha256}, got {ELSEWHERE.sha256}"):
        read_reports(path, ELSEWHERE)


def test_reads_reports_of_others_that_say_nothing_of_themselves(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("tid,seq,location_id\nx,0,a\n", encoding="utf-8")
    reports, said = read_reports(path, WORLD)
    assert (reports[0].tolist(), said) == ([0], {})


@pytest.mark.parametrize("content", ["", "{", "[]", "\xff"])
def test_refuses_metadata_it_cannot_read(tmp_path, content):
    path = tmp_path / "out.csv"
    path.write_text("tid,seq,location_id\nx,0,a\n", encoding="utf-8")
    (tmp_path / "out.csv.meta.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(SchemaError, match=r"metadata of .*out\.csv must be"):
        read_reports(path, WORLD)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("tid,location_id\nx,a\n", "missing: seq"),
        ("tid,seq,location_id\nx,0,nowhere\n", "got 1 of 1 rows that are not"),
        ("tid,seq,location_id\nx,0,a\nx,0,a\n", "line 3: seq must be unique"),
    ],
)
def test_refuses_broken_reports_in_one_sentence(tmp_path, content, says):
    path = tmp_path / "out.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(NomadpError, match=says):
        read_reports(path, WORLD)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_failure_while_writing_leaves_the_folder_as_it_was(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"out.{suffix}"
    write_reports(path, ReportTable(REPORTS, WORLD, SAID))
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    def half(part, *_):
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_files, "write_table", half)
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        write_reports(path, ReportTable(REPORTS, WORLD, SAID))
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_metadata_is_in_place_before_the_reports_are(tmp_path):
    """Where the reports cannot be put, their metadata must not stay behind either."""
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        write_reports(tmp_path / "out.csv", ReportTable(REPORTS, WORLD, SAID))
    assert listing(tmp_path) == ["out.csv"]


def test_the_table_is_printed_without_its_reports():
    assert "contents withheld" in repr(ReportTable(REPORTS, WORLD, SAID))
