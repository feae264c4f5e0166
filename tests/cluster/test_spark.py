"""A cluster gives, report for report, what one machine gives with the same key.

The same tests run on Spark (two workers, each a process with a JVM of its own) and on Sail:
`python3 dev.py cluster` makes an environment for each. Elsewhere they skip.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused
from snippets import block_of, commands

from nomadp.analysis import evaluate
from nomadp.datasets.city import synthetic_city
from nomadp.engine import spark as cluster
from nomadp.engine.batches import perturb_batch
from nomadp.engine.keys import create_key
from nomadp.engine.spark import session
from nomadp.errors import DomainError, NomadpError, SchemaError, WrongType
from nomadp.formats.location_files import write_locations
from nomadp.inference import decode, fit_prior, fit_prior_to_groups, groups_of
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.dispatch import path_of
from nomadp.randomness import KeyedRandom, SystemRandom, new_key
from nomadp.reports import read_reports
from nomadp.reports.batches import batch_of, raw_reports_of
from nomadp.reports.header import Header
from nomadp.reports.table import reports_as
from nomadp.sequences import Sequences

# What engines warn about is theirs: open sockets, and releases of pandas they do not know.
pytestmark = pytest.mark.filterwarnings("default")

ON_SAIL = find_spec("pysail") is not None
KEY = bytes(range(100, 132))
MECHANISMS = {"atp": {}, "tp": {}, "exp": {}, "atlas": {"size": 256}}
SMALL = {
    "spark.executor.memory": "512m",
    "spark.driver.memory": "512m",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # begin with all workers there
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
}


@pytest.fixture(scope="module")
def master():
    """A cluster of several workers, on this machine."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed here; python3 dev.py cluster installs it")
    if ON_SAIL:
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer()
        server.start(background=True)
        yield f"sc://localhost:{server.listening_address[1]}"
        server.stop()
        return
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs java, and there is none on this machine")
    yield "local-cluster[2,1,1024]"


@pytest.fixture(scope="module")
def spark(master):
    found = session(master, {} if ON_SAIL else SMALL)
    if not ON_SAIL:
        found.sparkContext.setLogLevel("OFF")  # workers are killed on purpose
    yield found
    found.stop()  # before its server: without it, a client tries to reach it for minutes


@pytest.fixture(scope="module")
def city():
    return synthetic_city(seed=1, places=60, trips=400)


@pytest.fixture(scope="module")
def trips(city) -> pa.RecordBatch:
    return batch_of(city.trajectories, city.locations)


@pytest.fixture(scope="module")
def stored(trips, tmp_path_factory) -> str:
    """The trips as a file of many small row groups, which engines share out."""
    path = tmp_path_factory.mktemp("trips") / "trips.parquet"
    pq.write_table(pa.Table.from_batches([trips]), path, row_group_size=50)
    return str(path)


@pytest.fixture
def frame(spark, stored):
    return spark.read.parquet(stored).repartition(4)


def mechanism_of(name: str, city):
    return make_mechanism(name, city.locations, 4, **MECHANISMS[name])


def rows(batch) -> dict[str, list[str]]:
    """Locations by tid; every tid once."""
    found = list(zip(batch["tid"].to_pylist(), batch["location_ids"].to_pylist(), strict=True))
    assert max(Counter(tid for tid, _ in found).values()) == 1
    return dict(found)


def alone_on(mechanism, randomness, trips, *, linked: bool = False) -> pa.RecordBatch:
    """The reports of one machine."""
    path = path_of(mechanism, trips.num_rows)
    return perturb_batch(mechanism, randomness, trips, path, linked=linked)


def reports_in(mechanism, batch):
    found = raw_reports_of(batch, mechanism.locations)
    header = Header.made_by(mechanism)
    return reports_as(header, mechanism.locations, found.sequences, numbers=found.numbers)


@pytest.mark.skipif(ON_SAIL, reason="Sail runs all of its local workers in one process")
def test_several_workers_share_the_work(frame) -> None:
    def parents(batches):
        for batch in batches:
            time.sleep(1)  # long enough for the other worker to get its part
            pids = pa.array([os.getppid()] * batch.num_rows, pa.int64())
            yield pa.RecordBatch.from_arrays([pids], names=["pid"])

    found = frame.select("tid").mapInArrow(parents, "pid bigint").distinct().collect()
    assert len(found) == 2


@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_are_those_of_one_machine(frame, trips, city, name: str) -> None:
    mechanism = mechanism_of(name, city)
    randomness = KeyedRandom(KEY)
    for linked in (False, True):
        alone = alone_on(mechanism, randomness, trips, linked=linked)
        found = cluster.perturb(frame, mechanism, randomness, keep_tids=linked).toArrow()
        assert rows(found) == rows(alone)
        assert found.column_names == alone.schema.names


def test_random_ids_stand_in_their_order_in_every_file(frame, city, tmp_path) -> None:
    reports = cluster.perturb(frame, mechanism_of("exp", city), KeyedRandom(KEY))
    reports.write.parquet(str(tmp_path / "reports"))
    files = sorted((tmp_path / "reports").rglob("*.parquet"))
    found = [pq.read_table(each)["tid"].to_pylist() for each in files]
    assert sum(map(len, found)) == 400
    assert all(tids == sorted(tids) for tids in found)


def test_another_key_gives_other_reports(frame, trips, city) -> None:
    mechanism = mechanism_of("exp", city)
    alone = alone_on(mechanism, KeyedRandom(KEY), trips)
    assert rows(cluster.perturb(frame, mechanism, KeyedRandom(new_key())).toArrow()) != rows(
        alone
    )


def test_neither_partitions_nor_batches_change_a_report(spark, stored, city) -> None:
    mechanism, randomness = mechanism_of("atp", city), KeyedRandom(KEY)
    found = []
    for partitions in (1, 3, 7):
        frame = spark.read.parquet(stored).repartition(partitions, "tid")
        found.append(rows(cluster.perturb(frame, mechanism, randomness).toArrow()))
    assert found[0] == found[1] == found[2]


def test_whole_numbers_as_tids_are_read_as_text(spark, city, tmp_path) -> None:
    mechanism, randomness = mechanism_of("exp", city), KeyedRandom(KEY)
    ids = [["p0", "p1"]] if "p0" in city.locations.ids else [list(city.locations.ids[:2])]
    for name, kind in (("text", pa.string()), ("number", pa.int64())):
        tids = pa.array([7], pa.int64()).cast(kind)
        pq.write_table(pa.table({"tid": tids, "location_ids": ids}), tmp_path / name)
    frames = (spark.read.parquet(str(tmp_path / name)) for name in ("text", "number"))
    text, number = (
        rows(cluster.perturb(frame, mechanism, randomness).toArrow()) for frame in frames
    )
    assert text == number


def test_the_command_line_gives_the_same_on_every_engine(
    master, stored, city, tmp_path
) -> None:
    places, key = tmp_path / "places.csv", tmp_path / "job.key"
    write_locations(places, city.locations)
    create_key(key)
    found = []
    for engine in ([], ["--engine", "spark", "--master", master if ON_SAIL else "local[2]"]):
        out = tmp_path / f"reports-{len(engine)}.parquet"
        command = ["nomadp", "perturb", stored, "--locations", places, "--epsilon", "4"]
        command += ["--mechanism", "atp", "--single-points", "--key-file", key, "--out", out]
        subprocess.run([sys.executable, "-m", *map(str, command), *engine], check=True)
        found.append(read_reports(out, city.locations))
    one, other = found
    assert (len(one), one.header) == (400, other.header)
    assert one == other.select(np.argsort(other.ids))
    about = json.loads((out / "_nomadp.json").read_text())
    assert (about["mechanism"], about["rng"], about["private"]) == ("atp", "keyed", True)


def breaking(folder: str, how: str):
    """A mapper that lets all batches pass and then, but only once, breaks its task."""

    def fail_once(batches):
        passed = []
        for batch in batches:
            passed += batch.column("location_ids").to_pylist()
            yield batch
        try:
            with (Path(folder) / "broken").open("x") as file:
                file.write(repr(passed))
        except FileExistsError:
            (Path(folder) / f"whole-{uuid4()}").write_text(repr(passed))
            return
        if how == "raises":
            raise RuntimeError("the first attempt is lost")
        if how == "worker dies":
            os.kill(os.getpid(), signal.SIGKILL)
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(daemon.rsplit(")")[-1].split()[1]), signal.SIGKILL)

    return fail_once


@pytest.mark.skipif(ON_SAIL, reason="Sail's local mode fails a job whose task fails")
@pytest.mark.parametrize("how", ["raises", "worker dies", "executor dies"])
def test_a_batch_that_is_run_again_repeats_its_reports(
    frame, trips, city, tmp_path, how: str
) -> None:
    mechanism, randomness = mechanism_of("atp", city), KeyedRandom(KEY)
    reports = cluster.perturb(frame, mechanism, randomness, keep_tids=True)
    disturbed = reports.mapInArrow(breaking(str(tmp_path), how), reports.schema).toArrow()
    lost = (tmp_path / "broken").read_text()
    whole = [path.read_text() for path in tmp_path.glob("whole-*")]
    assert len(lost) > 100
    assert lost in whole  # the batch was drawn twice, and the same both times
    assert rows(disturbed) == rows(alone_on(mechanism, randomness, trips, linked=True))


def test_a_job_that_is_run_again_repeats_its_reports(frame, city) -> None:
    reports = cluster.perturb(frame, mechanism_of("tp", city), KeyedRandom(KEY))
    assert rows(reports.toArrow()) == rows(reports.toArrow())


def test_a_repeated_tid_is_refused_and_not_quoted(frame, city) -> None:
    mechanism = mechanism_of("exp", city)
    with refused(SchemaError, "tid_repeated", repeated=400) as refusal:
        cluster.perturb(frame.union(frame), mechanism, KeyedRandom(KEY))
    assert city.trajectories.tids[0] not in str(refusal.value).split()


def test_a_location_outside_the_set_is_refused_and_not_quoted(spark, city, tmp_path) -> None:
    table = pa.table({"tid": ["secret-tid"], "location_ids": [["secret-place"]]})
    pq.write_table(table, tmp_path / "one.parquet")
    frame = spark.read.parquet(str(tmp_path / "one.parquet"))
    reports = cluster.perturb(frame, mechanism_of("exp", city), KeyedRandom(KEY))
    with refused(DomainError, "unknown_locations", unknown=1) as refusal, cluster.refusals():
        reports.toArrow()
    assert "secret" not in str(refusal.value)
    with pytest.raises(Exception, match=r"\[unknown_locations ") as wrapped:
        reports.toArrow()
    assert "secret" not in str(wrapped.value)


def test_a_frame_without_the_columns_is_refused(frame, city) -> None:
    with refused(SchemaError, "columns_missing", missing=("location_ids",)):
        cluster.perturb(frame.select("tid"), mechanism_of("exp", city), KeyedRandom(KEY))


def test_a_survey_counts_what_there_is(frame, city) -> None:
    lengths = city.trajectories.lengths
    found = cluster.survey(frame)
    assert (found.trajectories, found.points) == (len(lengths), lengths.sum())
    assert found.single == (lengths == 1).sum()


def test_words_that_cannot_be_drawn_again_are_refused(frame, city) -> None:
    with refused(WrongType, "words_not_keyed", type="SystemRandom"):
        cluster.perturb(frame, mechanism_of("exp", city), SystemRandom())


def test_a_worker_with_other_software_draws_nothing(frame, city, monkeypatch) -> None:
    monkeypatch.setattr("nomadp.__version__", "another")
    reports = cluster.perturb(frame, mechanism_of("exp", city), KeyedRandom(KEY))
    monkeypatch.undo()
    expected = refused(NomadpError, "worker_software_differs")
    with expected, cluster.refusals():
        reports.toArrow()


def test_the_key_stands_in_no_plan_and_no_error(frame, city, capfd) -> None:
    reports = cluster.perturb(frame, mechanism_of("atp", city), KeyedRandom(KEY))
    reports.explain(True)
    shown = repr(reports) + capfd.readouterr().out
    if not ON_SAIL:
        shown += reports._jdf.queryExecution().toString()
    assert "perturb_batches" in shown or "MapInArrow" in shown or ON_SAIL
    broken = reports.mapInArrow(lambda batches: iter([1 / 0]), reports.schema)
    with pytest.raises(Exception, match="division") as failed:
        broken.toArrow()
    shown += str(failed.value) + repr(failed.value)
    for spelled in (KEY.hex(), repr(KEY)[2:-1], KEY.decode("latin-1"), str(list(KEY))[1:-1]):
        assert spelled not in shown


@pytest.mark.parametrize("name", ["atlas", "exp"])
def test_estimates_are_those_of_one_machine(frame, trips, city, name: str) -> None:
    mechanism, randomness = mechanism_of(name, city), KeyedRandom(KEY)
    alone = reports_in(mechanism, alone_on(mechanism, randomness, trips))
    prior = fit_prior(mechanism, alone)
    expected = decode(mechanism, alone, prior, level=0.8)
    reports = cluster.perturb(frame, mechanism, randomness)
    found = cluster.decode(reports, mechanism, prior, level=0.8).toArrow()
    answers = Sequences(alone.offsets, expected.locations, alone.names)
    places = batch_of(answers, city.locations)
    assert rows(found) == rows(places)
    radius = dict(zip(found["tid"].to_pylist(), found["radius_km"].to_pylist(), strict=True))
    in_order = np.concatenate([radius[tid] for tid in alone.ids])
    assert in_order == pytest.approx(expected.radius_km)


@pytest.mark.parametrize("name", ["atlas", "exp"])
def test_counted_reports_teach_the_same_prior(frame, trips, city, name: str) -> None:
    mechanism, randomness = mechanism_of(name, city), KeyedRandom(KEY)
    alone = reports_in(mechanism, alone_on(mechanism, randomness, trips))
    groups = cluster.count(cluster.perturb(frame, mechanism, randomness), mechanism)
    for found, expected in zip(groups, groups_of(mechanism, alone), strict=True):
        assert found.counts.tolist() == expected.counts.tolist()
        assert found.evidence.reports.tolist() == expected.evidence.reports.tolist()
    learned = fit_prior_to_groups(city.locations, groups).scores
    assert learned == pytest.approx(fit_prior(mechanism, alone).scores)


def test_reports_of_pivot_mechanisms_are_not_counted(frame, city) -> None:
    with refused(DomainError, "mechanism_not_decodable", mechanism="atp"):
        cluster.count(frame, mechanism_of("atp", city))


def test_scores_are_those_of_one_machine(frame, trips, city) -> None:
    mechanism, randomness = mechanism_of("atp", city), KeyedRandom(KEY)
    alone = reports_in(mechanism, alone_on(mechanism, randomness, trips, linked=True))
    radii_km = (0.5, 2.0)
    expected = evaluate(city.locations, city.trajectories, alone, radii_km)
    reports = cluster.perturb(frame, mechanism, randomness, keep_tids=True)
    found = cluster.evaluate(frame, reports, city.locations, radii_km)
    assert (found.trajectories, found.points) == (expected.trajectories, expected.points)
    assert found.radii_km == expected.radii_km
    for name, answer in expected.answers.items():
        assert found.answers[name].error_km == pytest.approx(answer.error_km)
        assert found.answers[name].normalised_error == pytest.approx(answer.normalised_error)
        assert found.answers[name].range_query == pytest.approx(answer.range_query)


def test_scores_need_a_report_for_every_trajectory(frame, city) -> None:
    first = city.trajectories.tids[0]
    some = frame.where(f"tid <> '{first}'")
    with refused(DomainError, "reports_not_matched", missing=1, extra=0):
        cluster.evaluate(frame, some, city.locations)
    with refused(DomainError, "reports_not_matched", missing=0, extra=1):
        cluster.evaluate(some, frame, city.locations)


PAGE = "docs/cluster.md"


def test_the_code_of_the_page_runs(spark, city, stored, tmp_path, capsys) -> None:
    """With folders that every worker finds."""
    places = {"trips": stored, "reports": tmp_path / "reports", "estimates": tmp_path / "out"}
    block = block_of(PAGE, "import nomadp.inference")
    for name, path in places.items():
        assert f'"{name}"' in block
        block = block.replace(f'"{name}"', repr(str(path)))
    names = {
        "spark": spark,
        "key": KEY,
        "experiment_randomness": KeyedRandom(KEY).bound_to("experiment"),
        "mechanism": mechanism_of("atlas", city),
        "locations": city.locations,
    }
    exec(compile(block, PAGE, "exec"), names)
    assert spark.read.parquet(str(places["estimates"])).count() == len(city.trajectories)
    assert "normalised_error" in capsys.readouterr().out


@pytest.mark.usefixtures("spark")
def test_the_command_of_the_page_runs(master, city, stored, tmp_path) -> None:
    write_locations(tmp_path / "places.csv", city.locations)
    create_key(tmp_path / "job.key")
    shutil.copyfile(stored, tmp_path / "trips.parquet")
    block = block_of(PAGE, "nomadp perturb")
    assert "--master local[8]" in block
    block = block.replace("local[8]", master if ON_SAIL else "local[2]")
    for name in ("trips.parquet", "places.csv", "job.key", "reports.parquet"):
        block = block.replace(name, str(tmp_path / name))
    for randomness in commands(block):
        subprocess.run([sys.executable, "-m", "nomadp", *randomness], check=True)
    assert (tmp_path / "reports.parquet" / "_nomadp.json").is_file()
