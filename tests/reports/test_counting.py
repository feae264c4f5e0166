"""Files of reports are counted as they would be if all were read, a piece at a time."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused
from worlds import scattered

from nomadp.engine import perturb_set
from nomadp.errors import DomainError, SchemaError
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.randomness import SeededRandom
from nomadp.reports import Counts, counting, read_reports, write_simulated
from nomadp.reports.counting import count_files
from nomadp.reports.counts import drop_impossible
from nomadp.reports.raw_reports import SAME_ID
from nomadp.reports.report_files import HEADER_NAME
from nomadp.trajectory import TrajectorySet

LOCATIONS = scattered(30)
NAMES = ["atlas", "exp", "trips", "visits"]


def made(name, epsilon=4):
    if name == "atlas":
        return Atlas(locations=LOCATIONS, epsilon=epsilon, size=16)
    options = {"zones": "grid:3"} if name in ("trips", "visits") else {}
    return make_mechanism(name, LOCATIONS, epsilon, **options)


def reports_of(mechanism, count=60, seed=1):
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 30, 1 + k % 4).tolist() for k in range(count)]
    return perturb_set(mechanism, TrajectorySet.from_lists(rows, size=30), SeededRandom(seed))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(counting, "ROWS", 7)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_counted_as_its_reports_are(name, suffix, tmp_path):
    mechanism = made(name)
    reports, path = reports_of(mechanism), tmp_path / f"reports.{suffix}"
    write_simulated(path, reports)
    found = count_files(mechanism, [path])
    assert found.counts == Counts.of(mechanism, reports)
    assert (found.refused, found.counts.reports(mechanism)) == ({}, 60)


@pytest.mark.parametrize("name", NAMES)
def test_several_files_and_a_folder_are_counted_as_one(name, tmp_path):
    mechanism = made(name)
    parts = [reports_of(mechanism, 20, seed) for seed in (1, 2, 3)]
    write_simulated(tmp_path / "one.csv", parts[0])
    write_simulated(tmp_path / "two.parquet", parts[1])
    folder = tmp_path / "spark"
    folder.mkdir()
    write_simulated(folder / "part-0.parquet", parts[2])
    (folder / HEADER_NAME).write_bytes(parts[2].header.to_json())
    paths = [tmp_path / "one.csv", tmp_path / "two.parquet", folder]
    whole = sum((Counts.of(mechanism, part) for part in parts), Counts())
    told = []
    assert count_files(mechanism, paths, told.append).counts == whole
    assert sum(told) == 60


def changed(path, **columns):
    table = pq.read_table(path)
    for name, values in columns.items():
        place = table.schema.names.index(name)
        table = table.set_column(place, name, pa.array(values, table.schema.field(name).type))
    pq.write_table(table, path)


@pytest.mark.parametrize("alike", [False, True])
def test_of_reports_under_one_id_the_first_counts(alike, tmp_path, monkeypatch):
    if alike:  # equal hashes cost time and drop no report
        monkeypatch.setattr(
            counting, "_hashes_of", lambda ids: np.zeros(len(ids), dtype=np.uint64)
        )
    mechanism, path = made("atlas"), tmp_path / "reports.parquet"
    reports = reports_of(mechanism)
    write_simulated(path, reports)
    changed(path, tid=["same"] * 30 + list(reports.ids[30:]))
    found = count_files(mechanism, [path, path])
    assert found.counts.reports(mechanism) == 31
    assert found.refused == {SAME_ID: 29 + 60}
    alone = Counts.of(mechanism, read_reports(path, LOCATIONS, mechanism))
    assert found.counts.by_length(mechanism).__next__()[0] == 1
    assert {**alone.cells, (mechanism.identity, 0, 0): 89} == found.counts.cells


def test_what_cannot_be_read_is_left_out_and_counted_by_reason(tmp_path):
    mechanism, path = made("atlas"), tmp_path / "reports.parquet"
    reports = reports_of(mechanism)
    write_simulated(path, reports)
    table = pq.read_table(path)
    places, numbers = table["location_ids"].to_pylist(), table["number"].to_pylist()
    places[3], places[8], numbers[12] = ["nowhere"], [], None
    numbers[20] = (numbers[20] + 1) % 16
    numbers[21] = 10**6
    changed(path, location_ids=places, number=numbers)
    found = count_files(mechanism, [path])
    assert sum(found.refused.values()) == 5 == found.counts.refused
    read = drop_impossible(mechanism, read_reports(path, LOCATIONS, mechanism))
    assert dict(read.refused) == dict(found.refused)
    assert Counts.of(mechanism, read) == found.counts


def test_reports_of_another_mechanism_are_refused(tmp_path):
    write_simulated(tmp_path / "reports.parquet", reports_of(made("exp")))
    with refused(DomainError, "reports_of_another_mechanism", differs=("epsilon",)):
        count_files(made("exp", 2), [tmp_path / "reports.parquet"])


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "reports.parquet"
    write_simulated(path, reports_of(made("exp")))
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes(200) + content[300:])
    with refused(SchemaError, "not_parquet"):
        count_files(made("exp"), [path])


def test_ids_of_any_length_have_numbers_of_their_own():
    names = ["", "a", "b", "ab", "ba", "x" * 7, "x" * 8, "x" * 9, "x" * 17, "é", "a\0"]
    found = counting._hashes_of(pa.array(names))
    assert len(set(found.tolist())) == len(names)
    sliced = counting._hashes_of(pa.array(["zz", *names])[1:])
    assert np.array_equal(found, sliced)


def test_the_hash_is_of_what_was_counted_in_whatever_order():
    cells = {("a", 1, 2): 3, ("a", 2, 1): 4}
    turned = dict(reversed(cells.items()))
    assert Counts(cells).sha256 == Counts(turned).sha256
    assert Counts(cells).sha256 != Counts({**cells, ("a", 1, 2): 4}).sha256


def test_reports_are_told_by_length():
    for name in ("atlas", "exp"):
        found = Counts.of(made(name), reports_of(made(name)))
        assert found.lengths(made(name)) == {1: 15, 2: 15, 3: 15, 4: 15}
    asked = Counts.of(made("trips"), reports_of(made("trips")))
    assert asked.reports(made("trips")) == 60
    assert asked.reports(made("exp")) == 0
