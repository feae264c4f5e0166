"""What an analyst waits for: ten million reports counted and asked, fifty long tracks drawn.

python benchmarks/analyst.py [--reports 10000000] [--lengths 2,3,4] [--epsilon 4] [--tracks 50]

Reports are drawn from the exact law of ATLAS over a synthetic city and written as Parquet in
the form that "nomadp perturb" writes. Memory is the peak of a process of its own that counts,
learns and asks. Tracks have from 200 to 2,000 points, each its own number of them; perturbed,
decoded and drawn, they are to take 30 s together.
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
PIECE = 500_000
QUESTIONS: tuple[dict[str, Any], ...] = (
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
    """Reports of public walks, some more often than others, and ids of 128 random bits."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nomadp.formats.trajectory_batches import ids_of
    from nomadp.laws import probabilities
    from nomadp.reports import Header
    from nomadp.walks import public_walks

    rng, ids, writer = np.random.default_rng(SEED), ids_of(mechanism.locations), None
    about = {b"nomadp": Header.of(mechanism, None).to_json()}
    chances = {}
    for length in lengths:
        walks = public_walks(mechanism.locations, length, 2000, "analyst").astype(np.int64)
        popular = rng.dirichlet(np.full(len(walks), 0.2))
        chances[length] = popular @ probabilities(mechanism.channel(length), walks.T)
    for start in range(0, count, PIECE):
        some = min(PIECE, count - start)
        tids = secrets.token_bytes(16 * some).hex()
        names = [tids[k : k + 32] for k in range(0, len(tids), 32)]
        each = rng.choice(lengths, some)
        parts, places = [], []
        for length in sorted(lengths):
            here = int((each == length).sum())
            drawn = rng.choice(len(chances[length]), here, p=chances[length])
            parts.append(drawn)
            places.append(mechanism.atlas(length).codewords[drawn].reshape(-1))
        offsets = np.concatenate([[0], np.cumsum(np.sort(each))]).astype(np.int32)
        lists = pa.ListArray.from_arrays(
            pa.array(offsets), ids.take(pa.array(np.concatenate(places)))
        )
        columns = {
            "tid": pa.array(names),
            "location_ids": lists,
            "number": pa.array(np.concatenate(parts)),
        }
        table = pa.table(columns).replace_schema_metadata(about)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def peak_mb() -> float:
    """Of this process alone: what getrusage says a child inherits from its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def asked(path: Path, epsilon: str) -> dict[str, Any]:
    """Count, learn, ask; in the process this runs in."""
    from nomadp.answers import run_query
    from nomadp.inference.model import fit
    from nomadp.reports.counting import count_files

    mechanism, book_s = timed(lambda: _booked(path, epsilon))
    counted, count_s = timed(lambda: count_files(mechanism, [path]))
    counts = counted.counts
    begun_s = time.process_time()
    learned, learn_s = timed(lambda: fit(mechanism, counts))
    learn_cpu_s, seconds = time.process_time() - begun_s, []
    for question in QUESTIONS:
        start = time.perf_counter()
        run_query(mechanism, counts, question, model=learned)
        seconds.append(time.perf_counter() - start)
    kept = path.with_suffix(".npz")
    _, write_s = timed(lambda: learned.write(kept))
    again, read_s = timed(lambda: type(learned).read(kept, mechanism, counts))
    _, reread_s = timed(lambda: run_query(mechanism, counts, QUESTIONS[0], model=again))
    return {
        "reports": counts.reports(mechanism),
        "refused": counts.refused,
        "book_s": book_s,
        "count_s": count_s,
        "first_answer_s": learn_s + seconds[0],
        "learn_cpu_s": learn_cpu_s,
        "next_answers_s": dict(zip(map(json.dumps, QUESTIONS[1:]), seconds[1:], strict=True)),
        "kept_s": write_s,
        "read_again_s": read_s + reread_s,
        "kept_kb": kept.stat().st_size / 1024,
        "peak_mb": peak_mb(),
    }


def _booked(path: Path, epsilon: str) -> Any:
    """The mechanism with its public books, which every device has, too."""
    mechanism = mechanism_for(epsilon)
    for length in json.loads(path.with_suffix(".json").read_text()):
        mechanism.channel(length)
    return mechanism


def tracks(count: int, epsilon: str) -> dict[str, Any]:
    """Long tracks perturbed, decoded with a flat and with a learned prior, and drawn."""
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
    map_kb, map_s = timed(lambda: mapped(mechanism, reports))
    found = {"tracks": count, "points": len(true.locations)}
    found |= {"perturb_s": perturb_s, "decode_s": decode_s, "map_s": map_s}
    found |= {"together_s": perturb_s + decode_s + map_s, "map_kb": map_kb}
    return found | {"learn_s": learn_s, "decode_learned_s": learned_s, "peak_mb": peak_mb()}


def mapped(mechanism: Any, reports: Any) -> float:
    """How large a page "nomadp query trajectories --map" draws: it reads and decodes anew."""
    import nomadp
    from nomadp.cli import main as nomadp_command

    with tempfile.TemporaryDirectory() as folder:
        places, made = Path(folder) / "places.csv", Path(folder) / "reports.parquet"
        nomadp.write_locations(places, mechanism.locations)
        nomadp.write_simulated(made, reports)
        out, page = Path(folder) / "drawn.parquet", Path(folder) / "drawn.html"
        said = [
            "query",
            "trajectories",
            made,
            "--locations",
            places,
            "--out",
            out,
            "--map",
            page,
        ]
        with contextlib.redirect_stdout(sys.stderr):
            nomadp_command.main(list(map(str, said)), standalone_mode=False)
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
        print(json.dumps(part or asked(options.of, options.epsilon)))
        return 0
    lengths = [int(each) for each in options.lengths.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        if options.reports:
            write_reports(path, mechanism_for(options.epsilon), options.reports, lengths)
            path.with_suffix(".json").write_text(json.dumps(lengths))
            _print("counted and asked", _alone(args, path))
        if options.tracks:
            _print("long tracks", _alone(args, Path("tracks")))
    return 0


def _alone(args: list[str], of: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, *args, "--of", str(of)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _print(title: str, found: dict[str, Any]) -> None:
    print(title)
    for name, value in found.items():
        if isinstance(value, dict):
            for what, each in value.items():
                print(f"  {name:16} {each:10.2f}  {what}")
        else:
            shown = f"{value:10.2f}" if isinstance(value, float) else f"{value:10}"
            print(f"  {name:16} {shown}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
