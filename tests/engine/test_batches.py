"""Batches: a report depends on the key, the tid and the trajectory, and on nothing else."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many import drawn_many, fast_path
from refusals import refused

from nomadp.engine.batches import perturb_batch
from nomadp.engine.stream import Job, open_job
from nomadp.errors import DomainError, SchemaError
from nomadp.formats.trajectory_batches import TRAJECTORY_SCHEMA, trajectories_of
from nomadp.locations import LocationSet
from nomadp.mechanisms import (
    EXPERIMENTAL,
    MECHANISMS,
    PUBLISHED,
    Mechanism,
    make_mechanism,
    perturb_one,
)
from nomadp.randomness import KeyedRandom, RandomSource, SeededRandom, new_key
from nomadp.reports.table import report_ids

EVERY = [*MECHANISMS, *PUBLISHED, *EXPERIMENTAL]


@pytest.fixture
def batch(trips: Path) -> pa.RecordBatch:
    (whole,) = pq.read_table(trips).combine_chunks().to_batches()
    return whole


def batched(
    mechanism: Mechanism, randomness: RandomSource, batch: pa.RecordBatch
) -> pa.RecordBatch:
    return perturb_batch(mechanism, randomness, batch, fast_path(mechanism), linked=True)


def by_tid(*batches: pa.RecordBatch) -> dict[str, list[str]]:
    table = pa.Table.from_batches(batches).to_pydict()
    (values,) = table.keys() & {"location_ids", "values"}
    return dict(zip(table["tid"], table[values], strict=True))


@pytest.mark.parametrize("name", EVERY)
def test_a_batch_gives_what_perturb_many_gives_under_its_names(
    name: str, square: LocationSet, batch: pa.RecordBatch
) -> None:
    mechanism, true = make_mechanism(name, square, 4), trajectories_of(batch, square)
    randomness = SeededRandom(5)
    drawn = drawn_many(
        mechanism, true, randomness.bound_to(mechanism.identity).named(true.tids)
    )
    reports = batched(mechanism, randomness, batch)
    if mechanism.is_oracle:
        assert reports.schema.names == ["tid", "values"]
        assert reports["tid"].to_pylist() == list(true.tids)
        assert reports["values"].flatten().to_pylist() == drawn.tolist()
        return
    numbered = ["number"] if name == "atlas" else []
    assert reports.schema.names == [*TRAJECTORY_SCHEMA.names, *numbered]
    found = trajectories_of(reports, square)
    assert found.tids == true.tids
    assert found.lengths.tolist() == true.lengths.tolist()
    assert found.locations.tolist() == drawn.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_neither_order_nor_batch_changes_a_report(
    name: str, square: LocationSet, batch: pa.RecordBatch
) -> None:
    mechanism, randomness = make_mechanism(name, square, 4), KeyedRandom(new_key())
    together = by_tid(batched(mechanism, randomness, batch))
    order = np.random.default_rng(1).permutation(batch.num_rows)
    shuffled = batch.take(pa.array(order))
    pieces = [shuffled.slice(first, 10) for first in range(0, batch.num_rows, 10)]
    assert by_tid(*(batched(mechanism, randomness, piece) for piece in pieces)) == together
    assert by_tid(batched(mechanism, KeyedRandom(new_key()), batch)) != together


def test_one_trajectory_draws_from_the_stream_of_its_tid(
    square: LocationSet, batch: pa.RecordBatch
) -> None:
    mechanism, randomness = make_mechanism("ngram", square, 1), SeededRandom(2)
    found = trajectories_of(batched(mechanism, randomness, batch), square)
    true = trajectories_of(batch, square)
    bound = randomness.bound_to(mechanism.identity)
    for k in range(len(true)):
        stream = bound.named([true.tids[k]]).stream(0)
        assert tuple(found[k].tolist()) == perturb_one(mechanism, true[k], stream)


def test_a_batch_without_rows_gives_none(square: LocationSet, batch: pa.RecordBatch) -> None:
    mechanism = make_mechanism("atp", square, 4)
    assert batched(mechanism, SeededRandom(1), batch.slice(0, 0)).num_rows == 0


def test_a_refused_batch_draws_nothing(square: LocationSet, batch: pa.RecordBatch) -> None:
    class Untouched(SeededRandom):
        def named(self, names):
            pytest.fail("a stream was named before the batch was checked")

    mechanism = make_mechanism("atp", square.subset(range(30)), 4)
    with refused(DomainError, "unknown_locations", size=30):
        batched(mechanism, Untouched(1), batch)


def test_random_ids_take_the_place_of_tids(square: LocationSet, batch: pa.RecordBatch) -> None:
    mechanism, randomness = make_mechanism("exp", square, 4), KeyedRandom(new_key())
    linked = batched(mechanism, randomness, batch)
    reports = perturb_batch(mechanism, randomness, batch, "numpy", linked=False)
    assert reports["location_ids"] == linked["location_ids"]
    tids = tuple(batch["tid"].to_pylist())
    assert reports["tid"].to_pylist() == list(report_ids(randomness, mechanism, tids))


@pytest.mark.parametrize(("when", "asked"), [(None, False), ("weekday", True)])
def test_clocks_are_looked_at_only_for_a_mechanism_that_asks_when(
    when: str | None, square: LocationSet, batch: pa.RecordBatch, *, asked: bool
) -> None:
    mechanism = make_mechanism("starts", square, 1, when=when)
    assert mechanism.timed is asked
    broken = batch.append_column("datetime", pa.array(["SECRET"] * batch.num_rows))
    if asked:
        with refused(SchemaError, "not_a_moment") as refusal:
            batched(mechanism, SeededRandom(1), broken)
        assert "SECRET" not in str(refusal.value)
    else:
        assert batched(mechanism, SeededRandom(1), broken).num_rows == batch.num_rows


def test_a_file_without_times_is_refused_before_a_question_when_is_drawn(
    trips: Path, square: LocationSet, tmp_path: Path
) -> None:
    mechanism = make_mechanism("starts", square, 1, when="weekday")
    job = Job(mechanism, trips, tmp_path / "reports.parquet")
    with refused(SchemaError, "columns_missing", missing=("datetime",)), open_job(job):
        pass
