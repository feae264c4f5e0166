"""The device in twenty lines does what it says."""

import re
import subprocess
import sys
from pathlib import Path

from devices import atlas_bundle, collecting

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "device.py"


def test_the_example_reports_once(tmp_path: Path) -> None:
    bundle = atlas_bundle("example", epsilon=4)
    with collecting(bundle) as collector:
        done = subprocess.run(
            [
                sys.executable,
                EXAMPLE,
                tmp_path / "home",
                f"{collector.url}/tasks/{bundle.task.id}",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    task, receipt = done.stdout.splitlines()
    assert bundle.task.purpose in task
    assert re.findall("[0-9]+", task) == ["4", "20"]  # epsilon, and what is left of the budget
    assert receipt.split(":")[0] == "accepted"
    assert len(collector.uploads) == 1


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 24
