"""Reports of direct questions: kept, read back and counted; what is none is left out."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused
from worlds import scattered

from nomadp.analysis import evaluate, explain, simulate_utility
from nomadp.engine import perturb_set
from nomadp.engine.spark_tasks import perturbing, report_columns, tallying
from nomadp.errors import DomainError, SchemaError
from nomadp.inference import decode, fit_prior
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import KeyedRandom, SeededRandom, new_key
from nomadp.reports import Counts, read_reports, write_reports
from nomadp.reports.report_files import HEADER_NAME
from nomadp.trajectory import TrajectorySet

WORLD = scattered(120)
FINE = {"zones": "grid:40"}
ASKED = pytest.mark.parametrize(
    "question",
    [
        make_mechanism("trips", WORLD, 2),
        make_mechanism("visits", WORLD, 1, when="weekday"),
        make_mechanism("trips", WORLD, "1/4", when="day-part", **FINE),
    ],
    ids=["sets", "sets and when", "points"],
)


def journeys(count=60):
    rng = np.random.default_rng(2)
    lists = [rng.integers(0, 120, 1 + k % 4) for k in range(count)]
    return TrajectorySet.from_lists(lists, size=120, hours=rng.integers(0, 168, count))


@ASKED
@pytest.mark.parametrize("name", ["reports.csv", "reports.csv.gz", "reports.parquet"])
def test_reports_are_read_back_as_they_were_written(question, name, tmp_path):
    reports = perturb_set(question, journeys())
    assert reports.lengths.tolist() == [question.channel.entries] * 60
    write_reports(tmp_path / name, reports)
    back = read_reports(tmp_path / name, WORLD)
    assert back == reports
    assert (back.entry_size, back.n_refused) == (question.report_size, 0)
    assert back.header.mechanism_for(WORLD) == question


@ASKED
def test_reports_of_a_cluster_are_read_from_a_folder_and_counted_there(question, tmp_path):
    words, true = KeyedRandom(new_key()), journeys()
    alone = perturb_set(question, true, words, keep_tids=True)
    lists = [[WORLD.ids[k] for k in true[j]] for j in range(len(true))]
    days = np.datetime64("2024-01-01") + true.hours * np.timedelta64(1, "h")
    batch = pa.RecordBatch.from_pydict(
        {"tid": list(true.tids), "location_ids": lists, "datetime": days.astype(str).tolist()}
    )
    mapper = perturbing(question, words, alone.header.path, linked=True)
    pieces = list(mapper(iter([batch.slice(0, 25), batch.slice(25)])))
    assert [f.split()[0] for f in report_columns(question).split(", ")] == pieces[
        0
    ].schema.names
    (counted,) = tallying(question)(iter(pieces))
    assert Counts.from_arrow(counted) == Counts.of(question, alone)
    folder = tmp_path / "reports.parquet"
    folder.mkdir()
    (folder / HEADER_NAME).write_bytes(alone.header.to_json())
    pq.write_table(pa.Table.from_batches(pieces), folder / "part-0.parquet")
    assert read_reports(folder, WORLD) == alone


def spoiled(width):
    rest = list(range(2, width))
    return [[1, 0, *rest], [1, 1, *rest], [0, 1, *rest[1:]], [-1, 1, *rest], [0, *rest, 10**9]]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_no_possible_report_is_counted_and_left_out(ending, tmp_path):
    question = make_mechanism("starts", WORLD, 2)
    path = tmp_path / f"reports.{ending}"
    reports = perturb_set(question, journeys(), KeyedRandom(bytes(32)))
    good = [reports[k].tolist() for k in range(60)]
    rows = good + spoiled(question.channel.entries)
    if ending == "parquet":
        table = pa.table({"tid": [str(k) for k in range(65)], "values": rows})
        write_reports(path, reports)
        kept = pq.read_schema(path).metadata
        pq.write_table(table.replace_schema_metadata(kept), path)
    else:
        write_reports(path, reports)
        lines = [f"{k},{s},{v}" for k, row in enumerate(rows) for s, v in enumerate(row)]
        path.write_text("tid,seq,value\n" + "\n".join(lines) + "\n")
    found = read_reports(path, WORLD)
    assert sorted(found[k].tolist() for k in range(len(found))) == sorted(good)
    assert found.refused == {
        "a location or value is not in the set": 2,
        "no trajectory leads to them": 3,
    }
    assert Counts.of(question, found).refused == 5


def test_a_column_of_something_else_is_refused(tmp_path):
    question = make_mechanism("starts", WORLD, 2)
    path = tmp_path / "reports.parquet"
    write_reports(path, perturb_set(question, journeys()))
    kept = pq.read_schema(path).metadata
    for values in ([["a"]], [[1.5]]):
        table = pa.table({"tid": ["x"], "values": values})
        pq.write_table(table.replace_schema_metadata(kept), path)
        with refused(SchemaError, "wrong_column_type", column="values"):
            read_reports(path, WORLD)


def test_a_header_that_promises_too_many_labels_is_refused(tmp_path):
    """Whoever wrote it is not trusted: nothing large is built of it."""
    path = tmp_path / "reports.csv"
    write_reports(path, perturb_set(make_mechanism("starts", WORLD, 2), journeys()))
    about = Path(f"{path}.meta.json")
    said = json.loads(about.read_text())
    codes = {"grid:9999999": "unknown_zone_rule", "polygons:" + "0" * 64: "unknown_zone_rule"}
    for zones, code in [*codes.items(), (7, "not_zones")]:
        said["params"]["zones"] = zones
        about.write_text(json.dumps(said))
        with refused(DomainError, code):
            read_reports(path, WORLD)


@ASKED
def test_counts_of_parts_add_up_to_support_and_number_of_all(question):
    reports = perturb_set(question, journeys(), SeededRandom(3))
    parts = [reports.select(range(20)), reports.select(range(20, 60))]
    total = sum((Counts.of(question, part) for part in parts), Counts())
    assert total == Counts.of(question, reports)
    ((length, values, counts),) = total.by_length(question)
    assert counts.sum() == length * len(reports)
    every = question.support_of(*np.unique(reports.locations, return_counts=True))
    assert question.support_of(values, counts).tolist() == every.tolist()


def test_answers_to_a_question_are_no_journeys():
    question = make_mechanism("starts", WORLD, 12)
    reports = perturb_set(question, journeys(), SeededRandom(1), keep_tids=True)
    for read in (decode, fit_prior):
        with refused(DomainError, "frequency_oracle_unsupported"):
            read(question, reports)
    with refused(DomainError, "frequency_oracle_unsupported"):
        evaluate(WORLD, journeys(), reports, (1.0,))
    with refused(DomainError, "frequency_oracle_unsupported"):
        simulate_utility(question, 2)
    with refused(DomainError, "no_transcripts"):
        perturb_set(question, journeys(), transcripts=True)


def test_a_question_promises_to_hide_the_length_and_the_time_it_asks_for(wording):
    journey = explain(make_mechanism("exp", WORLD, 1), 3)
    plain, timed = (
        explain(make_mechanism("starts", WORLD, 1, when=when), 3) for when in (None, "weekday")
    )
    assert plain.guarantee == timed.guarantee != journey.guarantee
    assert len({journey.not_covered, plain.not_covered, timed.not_covered}) == 3
    said = [
        f"{name}: {each.guarantee}\n" + "".join(f"- not {hole}\n" for hole in each.not_covered)
        for name, each in (("exp", journey), ("starts", plain), ("starts, weekday", timed))
    ]
    wording("laws", "what a report guarantees", "\n".join(said))
