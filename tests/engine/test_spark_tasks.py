"""What workers of a cluster do, without a cluster; tests/cluster has the rest."""

import traceback
from fractions import Fraction
from importlib.util import find_spec

import pyarrow as pa
import pytest
from refusals import refused

from nomadp.analysis import evaluate
from nomadp.datasets.city import synthetic_city
from nomadp.engine import spark, spark_tasks
from nomadp.engine.batches import perturb_batch
from nomadp.engine.spark import session
from nomadp.errors import BudgetError, DomainError, ExtraMissing, NomadpError, SchemaError
from nomadp.formats.trajectory_batches import trajectories_of
from nomadp.inference import decode, groups_of
from nomadp.inference.decode import Decoders, groups_from
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import KeyedRandom
from nomadp.reports.batches import batch_of, raw_reports_of
from nomadp.reports.counts import Counts
from nomadp.reports.header import Header
from nomadp.reports.table import reports_as

CITY = synthetic_city(seed=2, places=30, trips=100)
TRIPS = batch_of(CITY.trajectories, CITY.locations)
WORDS = KeyedRandom(bytes(32))


def perturbed(mechanism) -> pa.RecordBatch:
    return perturb_batch(mechanism, WORDS, TRIPS, "reference", linked=True)


def reports_in(mechanism, batch: pa.RecordBatch):
    rows = raw_reports_of(batch, CITY.locations)
    header = Header.made_by(mechanism)
    return reports_as(header, CITY.locations, rows.sequences, numbers=rows.numbers)


@pytest.fixture
def ungathered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mappers get every batch as small as it came."""
    monkeypatch.setattr(spark_tasks, "coalesce_batches", lambda batches: batches)


def pieces(batch: pa.RecordBatch, rows: int = 30) -> list[pa.RecordBatch]:
    return [batch.slice(start, rows) for start in range(0, batch.num_rows, rows)]


def mapped(mapper, batches: list[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(mapper(iter(batches)))


@pytest.mark.parametrize(
    ("rows", "sizes"), [(1, [30, 30, 30, 10]), (50, [60, 40]), (999, [100])]
)
def test_small_batches_are_joined_in_order(rows: int, sizes: list[int]) -> None:
    joined = list(spark_tasks.coalesce_batches(iter(pieces(TRIPS)), rows))
    assert [batch.num_rows for batch in joined] == sizes
    assert pa.Table.from_batches(joined) == pa.Table.from_batches([TRIPS])


def test_an_empty_partition_has_nothing_to_perturb() -> None:
    assert list(spark_tasks.coalesce_batches(iter([]))) == []
    assert list(spark_tasks.coalesce_batches(iter([TRIPS.slice(0, 0)]))) == []


@pytest.mark.usefixtures("ungathered")
def test_a_worker_perturbs_batch_by_batch_what_one_batch_gives() -> None:
    mechanism = make_mechanism("atp", CITY.locations, 4)
    found = mapped(
        spark_tasks.perturbing(mechanism, WORDS, "reference", linked=True), pieces(TRIPS)
    )
    expected = perturbed(mechanism)
    assert found == pa.Table.from_batches([expected])


@pytest.mark.slow
@pytest.mark.usefixtures("ungathered")
@pytest.mark.parametrize(("name", "options"), [("exp", {}), ("atlas", {"size": 64})])
def test_tallies_add_up_over_batches(name: str, options) -> None:
    mechanism = make_mechanism(name, CITY.locations, 4, **options)
    reports = perturbed(mechanism)
    table = mapped(spark_tasks.tallying(mechanism), pieces(reports))
    expected = groups_of(mechanism, reports_in(mechanism, reports))
    counted = groups_from(mechanism, Counts.from_arrow(table))
    for found, group in zip(counted, expected, strict=True):
        assert found.evidence.reports.tolist() == group.evidence.reports.tolist()
        assert found.counts.tolist() == group.counts.tolist()


def test_a_forged_report_is_left_out_on_a_worker_too() -> None:
    mechanism = make_mechanism("atlas", CITY.locations, 4, size=64)
    good = perturbed(mechanism)
    numbers = good["number"].to_numpy().copy()
    numbers[3] = (numbers[3] + 1) % 64
    column = good.schema.get_field_index("number")
    bad = good.set_column(column, "number", pa.array(numbers))
    counts = Counts.from_arrow(mapped(spark_tasks.tallying(mechanism), [bad]))
    assert counts.refused == 1
    decoded = mapped(spark_tasks.decoding(mechanism, None, 0.9), [bad])
    tids = good["tid"].to_pylist()
    assert decoded["tid"].to_pylist() == tids[:3] + tids[4:]


def test_an_empty_partition_has_an_empty_tally() -> None:
    mechanism = make_mechanism("exp", CITY.locations, 4)
    assert mapped(spark_tasks.tallying(mechanism), []).num_rows == 0


@pytest.mark.parametrize(("name", "options"), [("exp", {}), ("atlas", {"size": 64})])
def test_decoders_that_are_kept_decode_the_same(name: str, options) -> None:
    mechanism = make_mechanism(name, CITY.locations, 4, **options)
    reports = reports_in(mechanism, perturbed(mechanism))
    decoders = Decoders(mechanism, None, 0.9)
    for _ in range(2):
        found, expected = decoders.decode(reports), decode(mechanism, reports)
        assert found.locations.tolist() == expected.locations.tolist()
        assert found.radius_km == pytest.approx(expected.radius_km)


@pytest.mark.usefixtures("ungathered")
def test_sums_of_batches_make_the_scores_of_all() -> None:
    mechanism = make_mechanism("exp", CITY.locations, 4)
    reports = perturbed(mechanism)
    names = ["tid", "true_ids", "reported_ids"]
    columns = [TRIPS["tid"], TRIPS["location_ids"], reports["location_ids"]]
    pairs = pa.RecordBatch.from_arrays(columns, names=names)
    mapper = spark_tasks.summing(CITY.locations, (1.0, 2.0))
    rows = [
        row
        for part in pieces(pairs, 45)
        for row in mapped(mapper, pieces(part, 20)).to_pylist()
    ]
    found = spark_tasks.finished(rows, CITY.locations, (1.0, 2.0))
    reported = trajectories_of(reports, CITY.locations)
    expected = evaluate(CITY.locations, CITY.trajectories, reported, (1.0, 2.0))
    assert (found.trajectories, found.points) == (expected.trajectories, expected.points)
    for name, answer in expected.answers.items():
        assert found.answers[name].normalised_error == pytest.approx(answer.normalised_error)
        assert found.answers[name].range_query == pytest.approx(answer.range_query)


def test_a_radius_below_0_is_refused_before_a_cluster_works():
    unread = object()
    with refused(DomainError, "query_radius_out_of_range", radius_km=-1):
        spark.evaluate(unread, unread, CITY.locations, [1, -1])


def test_nothing_to_evaluate_is_refused() -> None:
    rows = mapped(spark_tasks.summing(CITY.locations, ()), []).to_pylist()
    with refused(DomainError, "no_trajectories"):
        spark_tasks.finished(rows, CITY.locations, ())


def wrapped(mapper, batch: pa.RecordBatch) -> tuple[str, NomadpError]:
    """What an engine brings to the driver, the text of a traceback; and what was refused."""
    with pytest.raises(NomadpError) as refusal:
        list(mapper(iter([batch])))
    told = "".join(traceback.format_exception(refusal.value))
    return f"Job aborted.\n{told}\n\tat a line of Java", refusal.value


STRANGE = pa.RecordBatch.from_pydict({"tid": ["1", "2"], "location_ids": [["SECRET"], ["p1"]]})


def mappers() -> dict[str, spark_tasks.Mapper]:
    mechanism = make_mechanism("exp", CITY.locations, 4)
    return {
        "perturb": spark_tasks.perturbing(mechanism, WORDS, "reference", linked=True),
        "decode": spark_tasks.decoding(mechanism, None, 0.9),
        "tally": spark_tasks.tallying(mechanism),
        "sum": spark_tasks.summing(CITY.locations, ()),
    }


@pytest.mark.parametrize("name", ["perturb", "decode", "tally", "sum"])
def test_what_a_worker_refuses_keeps_code_and_facts(name: str) -> None:
    lists = pa.array(["a text"])
    wrong = {"tid": ["1"], "location_ids": lists, "true_ids": lists, "reported_ids": lists}
    text, error = wrapped(mappers()[name], pa.RecordBatch.from_pydict(wrong))
    with refused(SchemaError, **vars(error)), spark.refusals():
        raise RuntimeError(text)


def test_a_worker_tells_what_one_machine_would() -> None:
    with pytest.raises(DomainError) as plain:
        trajectories_of(STRANGE, CITY.locations)
    text, _ = wrapped(mappers()["perturb"], STRANGE)
    with refused(DomainError, **vars(plain.value)) as told, spark.refusals():
        raise RuntimeError(text)
    assert str(told.value) == str(plain.value)
    assert "SECRET" not in text


@pytest.mark.parametrize(
    "fact", [None, 3, 0.5, True, "a [b] [c {d}", (), ("a", "b"), Fraction(1, 3)]
)
def test_a_fact_of_any_kind_comes_through(fact: object) -> None:
    def refuse(batches: spark_tasks.Batches) -> spark_tasks.Batches:
        raise BudgetError('must be {"so"} [here]', code="share_too_small", fact=fact)

    text, _ = wrapped(spark_tasks.carrying_facts(refuse), TRIPS)
    expected = str(fact) if isinstance(fact, Fraction) else fact
    with refused(BudgetError, "share_too_small", fact=expected) as told, spark.refusals():
        raise RuntimeError(text)
    assert str(told.value) == 'must be {"so"} [here]'


@pytest.mark.parametrize(
    ("text", "message", "code"),
    [
        (
            "nomadp.errors.DomainError: what must hold\n\tat a line of Java",
            "what must hold",
            None,
        ),
        ("nomadp.errors.DomainError: what must hold [ab_c]", "what must hold", "ab_c"),
        (r"nomadp.errors.DomainError: must hold [ab_c {\"size\": 3}]", "must hold", "ab_c"),
    ],
)
def test_a_refusal_comes_out_of_the_error_an_engine_wraps_it_in(text, message, code) -> None:
    """Of another version's worker without a code, too, and where an engine escapes quotes."""
    with refused(DomainError, code or "domain") as told, spark.refusals():
        raise RuntimeError(f"Job aborted.\n{text}")
    assert str(told.value) == message


@pytest.mark.parametrize("message", ["disk full", "nomadp.errors.Unheard: of"])
def test_other_errors_stay_what_they_are(message: str) -> None:
    with pytest.raises(RuntimeError, match=message), spark.refusals():
        raise RuntimeError(message)


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed here")
def test_without_pyspark_a_session_says_what_to_install() -> None:
    with refused(ExtraMissing, "package_missing"):
        session("local[2]")
