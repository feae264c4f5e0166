"""A device is light: one report takes the standard library, numpy, and nothing of the desk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from devices import atlas_bundle, collecting, question_bundle

from nomadp.protocol import TaskBundle

HEAVY = ("pandas", "scipy", "numba", "matplotlib", "pyarrow", "cryptography", "click", "h3")
REPORT = """
import sys
import nomadp.client
home, url, task_id = sys.argv[1:]
with nomadp.client.Client(home) as client:
    client.join(url, task_id)
    receipt = client.report([(40.0, -74.0), (40.02, -73.97)], hour=5)
print(receipt.state, *sorted({name.split(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    "bundle",
    [
        pytest.param(atlas_bundle("light"), id="atlas"),
        pytest.param(question_bundle("trips", "when", when="day-part"), id="trips, when"),
        *(
            pytest.param(question_bundle(name, name), id=name, marks=pytest.mark.slow)
            for name in ("trips", "starts", "ends", "visits")
        ),
    ],
)
def test_a_report_needs_nothing_heavy(tmp_path: Path, bundle: TaskBundle) -> None:
    with collecting(bundle) as collector:
        done = subprocess.run(
            [sys.executable, "-c", REPORT, str(tmp_path), collector.url, bundle.task.id],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
    state, *loaded = done.stdout.split()
    assert state == "accepted"
    assert set(loaded).isdisjoint(HEAVY)
