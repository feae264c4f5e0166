"""The wall-clock time, CPU time and memory of one `nomadp perturb`.

    python benchmarks/stream.py                          10 million trajectories, with atp
    python benchmarks/stream.py --trajectories 1000000 --mechanism atlas

The trips are parts of trips in the seeded synthetic city, with 3 to 7 locations. Everything is
written to a temporary folder and deleted. The whole command is measured, as a separate process.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nomadp.datasets.city import synthetic_city
from nomadp.formats.location_files import write_locations
from nomadp.formats.trajectory_batches import TRAJECTORY_SCHEMA

ROW_GROUP = 250_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=10_000_000)
    parser.add_argument("--places", type=int, default=1_500)
    parser.add_argument("--mechanism", default="atp")
    parser.add_argument("--epsilon", default="4")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), options.trajectories, options.places)
        run(Path(folder), options)


def make(folder: Path, trajectories: int, places: int) -> None:
    """Write a location file, and a Parquet file with one row per trajectory."""
    city = synthetic_city(seed=1, places=places, trips=2_000)
    write_locations(folder / "places.csv", city.locations)
    ids, visited = pa.array(city.locations.ids), city.trajectories.locations
    rng = np.random.default_rng(1)
    with pq.ParquetWriter(folder / "trips.parquet", TRAJECTORY_SCHEMA) as writer:
        for first in range(0, trajectories, ROW_GROUP):
            count = min(ROW_GROUP, trajectories - first)
            lengths = rng.integers(3, 8, size=count)
            offsets = np.concatenate([[0], np.cumsum(lengths)])
            begin = rng.integers(len(visited) - 7, size=count)
            point = np.repeat(begin - offsets[:-1], lengths) + np.arange(offsets[-1])
            lists = pa.ListArray.from_arrays(
                pa.array(offsets, pa.int32()), ids.take(pa.array(visited[point]))
            )
            tids = pa.array(np.arange(first, first + count)).cast(pa.string())
            writer.write_batch(pa.record_batch([tids, lists], schema=TRAJECTORY_SCHEMA))


def run(folder: Path, options: argparse.Namespace) -> None:
    command = [sys.executable, "-m", "nomadp", "perturb", "trips.parquet"]
    command += ["--locations", "places.csv", "--out", "reports.parquet"]
    command += ["--mechanism", options.mechanism, "--epsilon", options.epsilon]
    started = time.monotonic()
    subprocess.run([*command, "--jobs", str(options.jobs)], cwd=folder, check=True)
    seconds = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = used.ru_utime + used.ru_stime
    print(f"{seconds:.0f} s wall-clock time, {busy:.0f} s CPU time")
    print(f"{busy / seconds:.2f} cores busy; load average {os.getloadavg()[0]:.1f}")
    print(f"peak memory {used.ru_maxrss / 1024:.0f} MiB")
    print(f"{options.trajectories / seconds:.0f} trajectories per second")


if __name__ == "__main__":
    main()
