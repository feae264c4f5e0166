"""CPU time of perturbing on Spark and Sail, and the extrapolation to a billion trajectories.

    .venv-spark/bin/python benchmarks/cluster.py --json spark.json
    .venv-sail/bin/python benchmarks/cluster.py --json sail.json

Every engine reads the same Parquet file and writes Parquet. Times are CPU seconds of this
process and all its child processes, which depend less on other load than wall-clock time. A
first small job, which is not counted, starts the workers and compiles the kernels. Linux only,
because CPU times of other processes are read from /proc.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nomadp.datasets.city import synthetic_city
from nomadp.engine import spark as cluster
from nomadp.engine.batches import perturb_batch
from nomadp.engine.spark import session
from nomadp.engine.spark_tasks import ROWS
from nomadp.mechanisms import Mechanism, make_mechanism
from nomadp.mechanisms.dispatch import FEW, path_of
from nomadp.randomness import KeyedRandom, new_key
from nomadp.reports.batches import batch_of

BILLION = 1_000_000_000
CORES = 64
ROW_GROUP = 50_000
BASE = 20_000  # distinct trips, which are repeated under other tids
ASSUMPTIONS = (
    f"{CORES} cores as fast as this one, all of them busy: work is proportional to the number "
    "of trajectories, and no partition is much larger than the others",
    "fast enough storage; excludes the start of the session and any superlinear cost of "
    "shuffling tids",
    "trajectories and a location set of the measured sizes",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=1_000_000)
    parser.add_argument("--places", type=int, default=1_000)
    parser.add_argument("--mechanism", default="atp")
    parser.add_argument("--epsilon", default="4")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = measured(options, Path(folder))
    show(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


def measured(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    city = synthetic_city(seed=1, places=options.places, trips=BASE)
    mechanism = make_mechanism(options.mechanism, city.locations, options.epsilon)
    large, small = folder / "many.parquet", folder / "few.parquet"
    write_trips(large, city, options.trajectories)
    write_trips(small, city, min(options.trajectories, 2 * ROWS))
    results: dict[str, Any] = {
        "trajectories": options.trajectories,
        "places": options.places,
        "mean_length": float(city.trajectories.lengths.mean()),
        "mechanism": options.mechanism,
        "epsilon": options.epsilon,
        "input_bytes": large.stat().st_size,
        "engines": {},
    }
    job = mechanism, KeyedRandom(new_key()), small, large, folder
    results["engines"]["local, 1 core"] = timed(
        lambda path, out: alone(*job[:2], path, out), job
    )
    results["report_bytes"] = size(folder / "out")
    for name, master, settings in clusters():
        results["engines"][name] = on_cluster(master, settings, job)
    return results


def write_trips(path: Path, city: Any, count: int) -> None:
    trips = batch_of(city.trajectories, city.locations)
    with pq.ParquetWriter(path, trips.schema) as writer:
        for start in range(0, count, ROW_GROUP):
            rows = np.arange(start, min(start + ROW_GROUP, count))
            selected = trips.take(pa.array(rows % len(trips)))
            tids = pa.array([f"t{row}" for row in rows.tolist()])
            batch = pa.RecordBatch.from_arrays(
                [tids, selected["location_ids"]], names=["tid", "location_ids"]
            )
            writer.write_batch(batch)


def clusters() -> list[tuple[str, str, dict[str, str]]]:
    if find_spec("pysail"):
        return [("Sail, 2 threads", "sail", {})]
    if find_spec("pyspark") and shutil.which("java"):
        # One JVM serves both. A session keeps its master, so they run one after the other.
        return [("Spark local[1]", "local[1]", {}), ("Spark local[2]", "local[2]", {})]
    return []


def on_cluster(master: str, settings: dict[str, str], job: Any) -> dict[str, float]:
    mechanism, randomness, _, large, _ = job
    start = time.perf_counter()
    spark, stop = opened(master, settings)
    spark.range(1).count()
    session_s = time.perf_counter() - start

    def perturb(path: Path, out: Path) -> None:
        frame = spark.read.parquet(str(path))
        if path != large:  # in so large pieces that every worker gets one
            frame = frame.repartition(8)
        cluster.perturb(
            frame, mechanism, randomness, check_unique=False, keep_tids=True
        ).write.parquet(str(out))

    try:
        results = timed(perturb, job)
        before, start = cpu_seconds(), time.perf_counter()
        cluster.check_unique_tids(spark.read.parquet(str(large)))
        results["tids_cpu_s"] = cpu_seconds() - before
        results["tids_wall_s"] = time.perf_counter() - start
    finally:
        stop()
    return {**results, "session_s": session_s}


def opened(master: str, settings: dict[str, str]) -> tuple[Any, Callable[[], None]]:
    if master != "sail":
        spark = session(master, settings)
        spark.sparkContext.setLogLevel("ERROR")
        return spark, spark.stop
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer()
    server.start(background=True)
    spark = session(f"sc://localhost:{server.listening_address[1]}")

    def stop() -> None:
        spark.stop()
        server.stop()

    return spark, stop


def alone(mechanism: Mechanism, randomness: KeyedRandom, path: Path, out: Path) -> None:
    """Perturb in one process and one thread, for comparison."""
    out.mkdir()
    source, fast = pq.ParquetFile(path), path_of(mechanism, FEW)
    with pq.ParquetWriter(out / "part.parquet", source.schema_arrow) as writer:
        for batch in source.iter_batches(ROWS, use_threads=False):
            reports = perturb_batch(mechanism, randomness, batch, fast, linked=True)
            writer.write_batch(reports.cast(source.schema_arrow))


def timed(perturb: Callable[[Path, Path], None], job: Any) -> dict[str, float]:
    _, _, small, large, folder = job
    out = folder / "out"
    for path in (small, large):
        shutil.rmtree(out, ignore_errors=True)
        before, start = cpu_seconds(), time.perf_counter()
        perturb(path, out)
        cpu_s, wall_s = cpu_seconds() - before, time.perf_counter() - start
    return {"cpu_s": cpu_s, "wall_s": wall_s}


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def cpu_seconds() -> float:
    """CPU time of this process and its descendants, including those that ended."""
    parent, ticks = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = int(stat.parent.name), stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # the process has ended
        parent[pid], ticks[pid] = int(rest[1]), sum(map(int, rest[11:15]))
    total = 0
    for pid in ticks:
        ancestor = pid
        while ancestor in parent and ancestor != os.getpid():
            ancestor = parent[ancestor]
        total += ticks[pid] if ancestor == os.getpid() else 0
    return total / os.sysconf("SC_CLK_TCK")


def show(results: dict[str, Any]) -> None:
    count, engines = results["trajectories"], results["engines"]
    print(
        f"{count:,} trajectories of {results['mean_length']:.1f} points on average over "
        f"{results['places']:,} locations; {results['mechanism']} with "
        f"epsilon {results['epsilon']}\n"
    )
    header = "per core second", "of local", "clock s", "tids, cpu s"
    print(f"{'engine':<18}" + "".join(name.rjust(len(name) + 2) for name in header))
    local = engines["local, 1 core"]["cpu_s"]
    for name, figures in engines.items():
        tids = f"{figures['tids_cpu_s']:.1f}" if "tids_cpu_s" in figures else "-"
        print(
            f"{name:<18}{count / figures['cpu_s']:>17,.0f}{local / figures['cpu_s']:>10.0%}"
            f"{figures['wall_s']:>9.1f}{tids:>13}"
        )
    print(f"\n{BILLION:,} trajectories:")
    for name, figures in engines.items():
        hours, tids = (
            figures.get(part, 0) * BILLION / count / 3600 for part in ("cpu_s", "tids_cpu_s")
        )
        tids_note = f", and {tids:.1f} to compare the tids" if tids else ""
        print(
            f"  {name}: {hours:.1f} core hours{tids_note}; "
            f"{60 * (hours + tids) / CORES:.0f} minutes on {CORES} cores"
        )
    read, written = (
        results[key] * BILLION / count / 1e9 for key in ("input_bytes", "report_bytes")
    )
    print(f"  {read:,.0f} GB read and {written:,.0f} GB written\nAssuming")
    for assumption in ASSUMPTIONS:
        print(f"  {assumption}")


if __name__ == "__main__":
    main()
