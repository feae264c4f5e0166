"""How long an analyst waits: ten million reports are counted and queried, 50 tracks drawn.

python benchmarks/analyst.py [--reports 10000000] [--lengths 2,3,4] [--epsilon 4] [--tracks 50]

Reports are drawn from the exact law of ATLAS over a synthetic city, and written as Parquet like
the reports of "nomadp perturb". A separate process counts, fits and queries, and measures its
peak memory. Tracks have from 200 to 2,000 points, all of different lengths. The goal is to
perturb, decode and draw them in 30 s.
"""

import argparse
import contextlib
import json
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PLACES, SEED = 1000, 20261116
CHUNK = 500_000
QUERIES: tuple[dict[str, Any], ...] = (
    {"kind": "hotspots"},
    {"kind": "hotspots", "areas": "grid:16"},
    {"kind": "density"},
    {"kind": "flows"},
    {"kind": "hotspots", "at": "ends"},
    {"kind": "synthesize", "count": 1000},
)


def mechanism_for(epsilon: str) -> Any:
    import nomadp

    city = nomadp.synthetic_city(SEED, places=PLACES, trips=1)
    return nomadp.make_mechanism("atlas", city.locations, epsilon=epsilon)


def write_reports(path: Path, mechanism: Any, count: int, lengths: list[int]) -> None:
    """Write reports of random-walk trajectories of unequal popularity, with 128-bit ids."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nomadp.formats.trajectory_batches import id_column
    from nomadp.laws import probabilities
    from nomadp.reports import Header
    from nomadp.walks import public_walks

    rng, ids, writer = np.random.default_rng(SEED), id_column(mechanism.locations), None
    metadata = {b"nomadp": Header.of(mechanism, None).to_json()}
    distributions = {}
    for length in lengths:
        walks = public_walks(mechanism.locations, length, 2000, "analyst").astype(np.int64)
        popularity = rng.dirichlet(np.full(len(walks), 0.2))
        distributions[length] = popularity @ probabilities(mechanism.channel(length), walks.T)
    for start in range(0, count, CHUNK):
        n_rows = min(CHUNK, count - start)
        tids = secrets.token_bytes(16 * n_rows).hex()
        names = [tids[k : k + 32] for k in range(0, len(tids), 32)]
        row_length = rng.choice(lengths, n_rows)
        parts, places = [], []
        for length in sorted(lengths):
            n_of_length = int((row_length == length).sum())
            drawn = rng.choice(len(distributions[length]), n_of_length, p=distributions[length])
            parts.append(drawn)
            places.append(mechanism.atlas(length).codewords[drawn].reshape(-1))
        offsets = np.concatenate([[0], np.cumsum(np.sort(row_length))]).astype(np.int32)
        lists = pa.ListArray.from_arrays(
            pa.array(offsets), ids.take(pa.array(np.concatenate(places)))
        )
        columns = {
            "tid": pa.array(names),
            "location_ids": lists,
            "number": pa.array(np.concatenate(parts)),
        }
        table = pa.table(columns).replace_schema_metadata(metadata)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def peak_mb() -> float:
    """The peak memory of this process. (A child inherits the value of getrusage.)"""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def query_reports(path: Path, epsilon: str) -> dict[str, Any]:
    """Count, fit and query the reports in this process, and measure each step."""
    from nomadp.answers import run_query
    from nomadp.inference.model import fit
    from nomadp.reports.counting import count_files

    mechanism, book_s = timed(lambda: _with_codebooks(path, epsilon))
    count_result, count_s = timed(lambda: count_files(mechanism, [path]))
    counts = count_result.counts
    start_cpu_s = time.process_time()
    model, learn_s = timed(lambda: fit(mechanism, counts))
    learn_cpu_s, seconds = time.process_time() - start_cpu_s, []
    for query in QUERIES:
        start = time.perf_counter()
        run_query(mechanism, counts, query, model=model)
        seconds.append(time.perf_counter() - start)
    model_path = path.with_suffix(".npz")
    _, write_s = timed(lambda: model.write(model_path))
    read_model, read_s = timed(lambda: type(model).read(model_path, mechanism, counts))
    _, reread_s = timed(lambda: run_query(mechanism, counts, QUERIES[0], model=read_model))
    return {
        "reports": counts.reports(mechanism),
        "refused": counts.refused,
        "book_s": book_s,
        "count_s": count_s,
        "first_answer_s": learn_s + seconds[0],
        "learn_cpu_s": learn_cpu_s,
        "next_answers_s": dict(zip(map(json.dumps, QUERIES[1:]), seconds[1:], strict=True)),
        "kept_s": write_s,
        "read_again_s": read_s + reread_s,
        "kept_kb": model_path.stat().st_size / 1024,
        "peak_mb": peak_mb(),
    }


def _with_codebooks(path: Path, epsilon: str) -> Any:
    """The mechanism with its public codebooks, which are built in advance."""
    mechanism = mechanism_for(epsilon)
    for length in json.loads(path.with_suffix(".json").read_text()):
        mechanism.channel(length)
    return mechanism


def tracks(count: int, epsilon: str) -> dict[str, Any]:
    """Perturb long tracks, decode them with a uniform and a fitted prior, and draw them."""
    import nomadp
    from nomadp.analysis.utility import public_tracks

    mechanism = mechanism_for(epsilon)
    rng = np.random.default_rng(SEED)
    lengths = rng.choice(np.arange(200, 2001), count, replace=False).tolist()
    world = mechanism.locations
    rows = [public_tracks(world, length, 8)[k % 8] for k, length in enumerate(lengths)]
    true = nomadp.TrajectorySet.from_lists(rows, size=len(mechanism.locations))
    randomness = nomadp.SeededRandom(SEED)
    reports, perturb_s = timed(lambda: nomadp.perturb_set(mechanism, true, randomness, jobs=1))
    _, decode_s = timed(lambda: nomadp.decode(mechanism, reports))
    prior, learn_s = timed(lambda: nomadp.fit_prior(mechanism, reports))
    _, learned_s = timed(lambda: nomadp.decode(mechanism, reports, prior))
    map_kb, map_s = timed(lambda: map_size_kb(mechanism, reports))
    figures = {"tracks": count, "points": len(true.locations)}
    figures |= {"perturb_s": perturb_s, "decode_s": decode_s, "map_s": map_s}
    figures |= {"together_s": perturb_s + decode_s + map_s, "map_kb": map_kb}
    return figures | {"learn_s": learn_s, "decode_learned_s": learned_s, "peak_mb": peak_mb()}


def map_size_kb(mechanism: Any, reports: Any) -> float:
    """The size of the page of "nomadp query trajectories --map", which decodes again."""
    import nomadp
    from nomadp.cli import main as nomadp_command

    with tempfile.TemporaryDirectory() as folder:
        places, report_path = Path(folder) / "places.csv", Path(folder) / "reports.parquet"
        nomadp.write_locations(places, mechanism.locations)
        nomadp.write_simulated(report_path, reports)
        out, page = Path(folder) / "drawn.parquet", Path(folder) / "drawn.html"
        arguments = [
            "query",
            "trajectories",
            report_path,
            "--locations",
            places,
            "--out",
            out,
            "--map",
            page,
        ]
        with contextlib.redirect_stdout(sys.stderr):
            nomadp_command.main(list(map(str, arguments)), standalone_mode=False)
        return page.stat().st_size / 1024


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--lengths", default="2,3,4")
    parser.add_argument("--epsilon", default="4")
    parser.add_argument("--tracks", type=int, default=50)
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(args)
    if options.of is not None:
        part = tracks(options.tracks, options.epsilon) if options.of == Path("tracks") else None
        print(json.dumps(part or query_reports(options.of, options.epsilon)))
        return 0
    lengths = [int(length) for length in options.lengths.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        if options.reports:
            write_reports(path, mechanism_for(options.epsilon), options.reports, lengths)
            path.with_suffix(".json").write_text(json.dumps(lengths))
            _print("counted and queried", _in_subprocess(args, path))
        if options.tracks:
            _print("long tracks", _in_subprocess(args, Path("tracks")))
    return 0


def _in_subprocess(args: list[str], of: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, *args, "--of", str(of)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def _print(title: str, figures: dict[str, Any]) -> None:
    print(title)
    for name, value in figures.items():
        if isinstance(value, dict):
            for label, number in value.items():
                print(f"  {name:16} {number:10.2f}  {label}")
        else:
            text = f"{value:10.2f}" if isinstance(value, float) else f"{value:10}"
            print(f"  {name:16} {text}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
