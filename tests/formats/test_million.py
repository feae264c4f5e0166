"""A million check-ins: quick, and within a gigabyte."""

import json
import subprocess
import sys

import numpy as np
import pytest
from limits import on_this_machine

ROWS = 1_000_000
PLACES = 40_000

BUILD = """
import json, sys, time
start = time.process_time()
from nomadp.datasets.built import write_built
from nomadp.datasets.checkins import CheckInRecipe, build_checkins
built = build_checkins(sys.argv[1], CheckInRecipe("foursquare", None, 2000))
counts = write_built(sys.argv[2], built)["counts"]
# Its own: ru_maxrss begins with what the process had that started this one.
status = open("/proc/self/status").read().split()
peak = int(status[status.index("VmHWM:") + 1]) * 1024
print(json.dumps({"s": time.process_time() - start, "bytes": peak, **counts}))
"""


def write_million(path):
    rng = np.random.default_rng(0)
    visited = rng.choice(
        PLACES, ROWS, p=(weight := 1.0 / (5 + np.arange(PLACES))) / weight.sum()
    )
    place = [
        f"{k:024x}\t4bf58dd8d48988d16d941735\tCaf\xe9\t{lat!r}\t{lng!r}\t-240\t"
        for k, (lat, lng) in enumerate(
            zip(
                rng.normal(40.75, 0.08, PLACES).tolist(),
                rng.normal(-73.98, 0.1, PLACES).tolist(),
                strict=True,
            )
        )
    ]
    second = np.sort(rng.integers(0, 300 * 86_400, ROWS))
    day = [(np.datetime64("2012-04-03") + k).item().strftime("%a %b %d ") for k in range(300)]
    user = rng.integers(0, 5000, ROWS)
    with path.open("w", encoding="latin-1", newline="\n") as file:
        for who, where, when in zip(
            user.tolist(), visited.tolist(), second.tolist(), strict=True
        ):
            clock = f"{when % 86400 // 3600:02}:{when % 3600 // 60:02}:{when % 60:02} +0000"
            year = 2012 if when < 273 * 86_400 else 2013
            file.write(f"{who}\t{place[where]}{day[when // 86400]}{clock} {year}\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux counts it")
def test_a_million_rows_take_under_ten_seconds_and_under_a_gigabyte(tmp_path):
    write_million(tmp_path / "checkins.txt")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, tmp_path / "checkins.txt", tmp_path / "built"],
        capture_output=True,
        text=True,
        check=True,
    )
    content = json.loads(done.stdout)
    assert (content["rows"], content["malformed"]) == (ROWS, 0)
    assert content["s"] < on_this_machine(10)
    assert content["bytes"] < 1e9
