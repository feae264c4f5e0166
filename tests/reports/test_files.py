"""Files of reports: they say how they were made, and appear whole or not at all."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused
from reported import lists, reported

import nomadp
from nomadp.errors import DomainError, NotPrivateError, OutputError, SchemaError
from nomadp.locations import LocationSet
from nomadp.mechanisms import make_mechanism
from nomadp.reports import read_reports, report_files, write_reports, write_simulated
from nomadp.reports.report_files import read_raw_reports
from nomadp.trajectory import TrajectorySet

WORLD = LocationSet.from_columns(["a", "b,c", "Z\u00fcrich"], [1, 2, 3], [4, 5, 6])
ELSEWHERE = LocationSet.from_columns(["a", "b,c", "Z\u00fcrich"], [1, 2, 3], [4, 5, 7])
TRUE = TrajectorySet.from_lists([[2, 0], [1], [1, 1, 0]], ["x", "y", "\u00e9"], size=3)
EXP = make_mechanism("exp", WORLD, "7/2")
FORMATS = ("csv", "csv.gz", "parquet")


def made(name="exp", randomness=None, **how):
    options = {"size": 6} if name == "atlas" else {}
    mechanism = make_mechanism(name, WORLD, "7/2", **options)
    return nomadp.perturb_set(mechanism, TRUE, randomness, **how)


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(
    ("name", "how"),
    [("exp", {}), ("atlas", {"keep_tids": True}), ("atp", {"transcripts": True})],
)
def test_reports_survive_being_written_and_read(tmp_path, suffix, name, how):
    path, reports = tmp_path / f"out.{suffix}", made(name, **how)
    write_reports(path, reports)
    assert path.stat().st_mode & 0o777 == 0o600
    found = read_reports(path, WORLD)
    assert found == reports
    assert type(found) is type(reports) is nomadp.Reports
    assert not found.n_refused


def test_csv_reads_as_anyone_would_expect(tmp_path):
    reports = reported(EXP, [[2, 0], [1]], ["x", "\u00e9"])
    write_simulated(tmp_path / "out.csv", reports)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == (
        'tid,seq,location_id\nx,0,Z\u00fcrich\nx,1,a\n\u00e9,0,"b,c"\n'
    )
    assert listing(tmp_path) == ["out.csv", "out.csv.meta.json"]
    said = json.loads((tmp_path / "out.csv.meta.json").read_bytes())
    assert said == reports.header.as_dict()


def test_parquet_has_one_row_to_a_report_and_its_header_inside(tmp_path):
    reports = made("atlas", keep_tids=True)
    write_reports(tmp_path / "out.parquet", reports)
    assert listing(tmp_path) == ["out.parquet"]
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["tid", "location_ids", "number"]
    assert table["number"].to_pylist() == reports.numbers.tolist()
    assert json.loads(table.schema.metadata[b"nomadp"]) == reports.header.as_dict()


def test_what_protects_nobody_is_written_only_under_its_name(tmp_path):
    simulated = made(randomness=nomadp.SeededRandom(1))
    with refused(NotPrivateError, "reports_not_private", type="SimulatedReports"):
        write_reports(tmp_path / "out.csv", simulated)
    assert listing(tmp_path) == []
    write_simulated(tmp_path / "out.csv", simulated)
    assert type(read_reports(tmp_path / "out.csv", WORLD)) is nomadp.SimulatedReports


def test_nobody_calls_simulated_reports_people_s():
    simulated = made(randomness=nomadp.SeededRandom(1))
    with refused(NotPrivateError, "reports_not_private"):
        nomadp.Reports(
            simulated.offsets,
            simulated.locations,
            simulated.names,
            header=simulated.header,
            location_set=WORLD,
        )


@pytest.mark.parametrize("suffix", FORMATS)
def test_refuses_to_read_reports_with_other_locations(tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    write_reports(path, made())
    for read in (read_reports, read_raw_reports):
        with refused(
            DomainError,
            "reports_of_other_locations",
            expected=WORLD.sha256,
            given=ELSEWHERE.sha256,
        ):
            read(path, ELSEWHERE)


def test_reports_that_say_nothing_of_themselves_need_somebody_who_does(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("tid,seq,location_id\nx,0,a\n", encoding="utf-8")
    with refused(SchemaError, "header_missing"):
        read_reports(path, WORLD)
    found = read_reports(path, WORLD, EXP)
    assert (type(found), found.header.randomness) == (nomadp.SimulatedReports, "unknown")
    rows, said = read_raw_reports(path, WORLD)
    assert (lists(rows.sequences), said) == ([[0]], {})


@pytest.mark.parametrize("content", ["", "{", "[]", "\xff", '{"a": 1, "a": 2}', '{"a": NaN}'])
def test_refuses_a_header_it_cannot_read(tmp_path, content):
    path = tmp_path / "out.csv"
    path.write_text("tid,seq,location_id\nx,0,a\n", encoding="utf-8")
    (tmp_path / "out.csv.meta.json").write_bytes(content.encode("latin-1"))
    with refused(SchemaError, "metadata_unreadable"):
        read_reports(path, WORLD)


@pytest.mark.parametrize(
    ("content", "kind", "code", "facts"),
    [
        ("", SchemaError, "file_empty", {}),
        ("tid,location_id\nx,a\n", SchemaError, "columns_missing", {"missing": ("seq",)}),
        ("tid,seq,location_id\nx,0,nowhere\n", DomainError, "no_reports", {"left_out": 1}),
        ("tid,seq,location_id\nx,zero,a\n", SchemaError, "not_a_whole_number", {"line": 2}),
    ],
)
def test_refuses_broken_files_in_one_sentence(tmp_path, content, kind, code, facts):
    path = tmp_path / "out.csv"
    path.write_text(content, encoding="utf-8")
    with refused(kind, code, **facts):
        read_reports(path, WORLD, EXP)


def test_refuses_a_folder_without_reports(tmp_path):
    folder = tmp_path / "out.parquet"
    folder.mkdir()
    with refused(SchemaError, "no_parquet_files"):
        read_reports(folder, WORLD, EXP)
    (folder / "part-0.parquet").write_bytes(b"PAR1")
    with refused(SchemaError, "not_parquet"):
        read_reports(folder, WORLD, EXP)


# One forged report is no veto for everybody


def test_points_that_cannot_be_a_report_are_counted_and_left_out(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text(
        "tid,seq,location_id,number\n"
        "good,1,a,3\ngood,0,Z\u00fcrich,3\n"
        "unknown,0,a,1\nunknown,1,nowhere,1\n"
        "twice,0,a,1\ntwice,0,a,1\n"
        "torn,0,a,1\ntorn,1,a,2\n",
        encoding="utf-8",
    )
    found = read_reports(path, WORLD, EXP)
    assert (found.ids, lists(found), found.numbers.tolist()) == (("good",), [[2, 0]], [3])
    assert sorted(found.refused.values()) == [1, 1, 1]
    assert found.n_refused == 3


BAD_ROWS = {
    "an unknown id": (["nowhere"], "x", 1, "[1]"),
    "nothing": ([], "x", 1, "[1]"),
    "no list": (None, "x", 1, "[1]"),
    "a gap": ([None, "a"], "x", 1, "[1]"),
    "no name": (["a"], None, 1, "[1]"),
    "a name that came before": (["a"], "first", 1, "[1]"),
    "no number": (["a"], "x", None, "[1]"),
    "no transcript": (["a"], "x", 1, None),
    "a transcript of text": (["a"], "x", 1, '["1"]'),
    "a transcript that is none": (["a"], "x", 1, "[" * 10_000),
}


@pytest.mark.parametrize("what", BAD_ROWS)
def test_rows_that_cannot_be_a_report_are_counted_and_left_out(tmp_path, what):
    rows = [(["a"], "first", 1, "[1]"), BAD_ROWS[what], (["b,c", "a"], "last", 2, "[]")]
    places, names, numbers, said = map(list, zip(*rows, strict=True))
    kind = pa.list_(pa.string())
    table = pa.table(
        {
            "tid": pa.array(names, pa.string()),
            "location_ids": pa.array(places, kind),
            "number": pa.array(numbers, pa.int64()),
            "transcript": pa.array(said, pa.string()),
        }
    )
    pq.write_table(table, tmp_path / "out.parquet")
    found = read_reports(tmp_path / "out.parquet", WORLD, EXP)
    assert (found.ids, lists(found)) == (("first", "last"), [[0], [1, 0]])
    assert (found.numbers.tolist(), found.transcripts) == ([1, 2], ((1,), ()))
    assert list(found.refused.values()) == [1]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("location_ids", ["a"]),
        ("location_ids", [{"a": 1}]),
        ("location_ids", [[0.5]]),
        ("tid", [0.5]),
        ("number", [0.5]),
    ],
)
def test_columns_of_another_kind_are_refused(tmp_path, column, values):
    columns = {"tid": ["x"], "location_ids": [["a"]], "number": [1]} | {column: values}
    pq.write_table(pa.table(columns), tmp_path / "out.parquet")
    with refused(SchemaError, "wrong_column_type", column=column):
        read_reports(tmp_path / "out.parquet", WORLD, EXP)


# Whole or not at all


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("write", [write_reports, write_simulated])
def test_what_is_there_is_replaced_only_if_that_is_said(tmp_path, suffix, write):
    path = tmp_path / f"out.{suffix}"
    write_reports(path, made())
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    with refused(OutputError, "output_exists"):
        write(path, made())
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    write(path, made(), overwrite=True)
    assert path.read_bytes() != before[path.name]


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_folder_is_never_replaced_and_a_link_to_nothing_is_there(tmp_path, suffix):
    path, link = tmp_path / f"folder.{suffix}", tmp_path / f"link.{suffix}"
    path.mkdir()
    link.symlink_to(tmp_path / "nothing")
    for each in (path, link):
        with refused(OutputError, "output_exists"):
            write_reports(each, made())
    with refused(OutputError, "file_unwritable"):
        write_reports(path, made(), overwrite=True)
    assert sorted(tmp_path.iterdir()) == [path, link]


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_failure_while_writing_leaves_the_folder_as_it_was(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"out.{suffix}"
    write_reports(path, made())
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    def half(part, *_):
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nomadp.formats.files.write_table", half)
    monkeypatch.setattr(report_files, "_write_parquet", half)
    with refused(OutputError, "file_unwritable"):
        write_reports(path, made(), overwrite=True)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_the_header_is_in_place_before_the_reports_are(tmp_path):
    """Where the reports cannot be put, their header must not stay behind either."""
    (tmp_path / "out.csv").mkdir()
    with refused(OutputError, "file_unwritable"):
        write_reports(tmp_path / "out.csv", made(), overwrite=True)
    assert listing(tmp_path) == ["out.csv"]


def test_selected_reports_keep_their_numbers_and_transcripts():
    reports = made("atlas", keep_tids=True, transcripts=True)
    some = reports.select([2, 0])
    assert (some.ids, lists(some)) == (("\u00e9", "x"), [lists(reports)[2], lists(reports)[0]])
    assert some.numbers.tolist() == reports.numbers[[2, 0]].tolist()
    assert some.transcripts == (reports.transcripts[2], reports.transcripts[0])
    assert reports.between(1, 3) == reports.select([1, 2])


def test_columns_must_be_as_long_as_there_are_reports():
    with refused(DomainError, "column_length_mismatch", length=2, reports=3):
        nomadp.Reports(
            TRUE.offsets,
            TRUE.locations,
            TRUE.names,
            header=made().header,
            location_set=WORLD,
            numbers=np.array([1, 2]),
        )
