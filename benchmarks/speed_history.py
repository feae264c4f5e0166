"""What earlier runs measured, one JSON object a line, so that a regression is seen.

Machines differ, so microseconds are not compared: the time of a case divided by the time of
the plain reference in the same run is. It grows when the case became slower, and also when the
reference became faster; the recorded microseconds tell which.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

__all__ = [
    "HISTORY",
    "OF_A_COLLECTOR",
    "REGRESSION",
    "changes",
    "commit",
    "read_history",
    "record",
]

HISTORY = Path(__file__).with_name("history.jsonl")
REGRESSION = 0.25
"""A case whose relative time grew by more than this share is called a regression."""
SAME = ("mechanism", "set", "numba", "cpus")
"""What must be equal for one record to replace another; the newest of them is compared with."""
OF_THE_RUN = ("date", "version", "commit", "cpus", "python", "numba")
OF_THE_CASE = ("mechanism", "set", "trajectories", "us", "ratio", "speed_up", "peak_mib")
OF_A_COLLECTOR = ("mechanism", "set", "trajectories", "row", "said", "met", "probe", "goal")
"""Of a line that collector.py wrote, whose figures are different in every row."""

Facts = dict[str, Any]


def read_history(path: Path = HISTORY) -> list[Facts]:
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def record(report: Facts, path: Path = HISTORY) -> int:
    """Append the measured cases of a run; returns how many."""
    lines = [json.dumps(entry) + "\n" for entry in entries(report)]
    with path.open("a", encoding="utf-8") as history:
        history.writelines(lines)
    return len(lines)


def entries(report: Facts) -> list[Facts]:
    """The line of each case that was measured beside the reference."""
    run = {name: report["run"][name] for name in OF_THE_RUN}
    return [
        run | {name: rounded(case.get(name)) for name in OF_THE_CASE}
        for case in report["cases"]
        if "ratio" in case
    ]


def rounded(value: Any) -> Any:
    """Four digits: the others would be noise in every diff."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def changes(report: Facts, history: list[Facts]) -> list[Facts]:
    """How the relative time of each case changed since it was last recorded, as a share.

    Fewer trajectories share less work. So if the newest record is of another number of them,
    there is none to compare with: an older one of this number is older than other changes.
    """
    last = {tuple(entry.get(name) for name in SAME): entry for entry in history}
    found = []
    for entry in entries(report):
        case = {name: entry[name] for name in ("mechanism", "set", "us")}
        known = last.get(tuple(entry[name] for name in SAME))
        if known is None or known["trajectories"] != entry["trajectories"]:
            found.append(case | {"since": None, "regression": False})
            continue
        change = known["ratio"] / entry["ratio"] - 1
        case |= {"since": known["date"], "was_us": known["us"], "change": rounded(change)}
        found.append(case | {"regression": change > REGRESSION})
    return found


def commit(root: Path) -> str | None:
    """The commit that was measured, with a sign when files have changed since; or None."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        asked = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return asked.stdout.strip() or None
