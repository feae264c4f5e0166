"""Results of earlier runs, one JSON object per line, to find regressions.

Machines differ, so the time of a case is divided by the time of the plain reference in the same
run. This ratio also grows if the reference became faster; the recorded microseconds show which.
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
"""A case whose relative time grew by more than this share is a regression."""
SAME = ("mechanism", "set", "numba", "cpus")
"""Records that agree in these fields are of the same case; the newest is compared."""
OF_THE_RUN = ("date", "version", "commit", "cpus", "python", "numba")
OF_THE_CASE = ("mechanism", "set", "trajectories", "us", "ratio", "speed_up", "peak_mib")
OF_A_COLLECTOR = ("mechanism", "set", "trajectories", "row", "said", "met", "probe", "goal")
"""The fields of a line of collector.py, besides its figures."""

Facts = dict[str, Any]


def read_history(path: Path = HISTORY) -> list[Facts]:
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def record(report: Facts, path: Path = HISTORY) -> int:
    """Append the measured cases of a run, and return their number."""
    lines = [json.dumps(entry) + "\n" for entry in entries(report)]
    with path.open("a", encoding="utf-8") as history:
        history.writelines(lines)
    return len(lines)


def entries(report: Facts) -> list[Facts]:
    """The line of each case with a measured reference."""
    run = {name: report["run"][name] for name in OF_THE_RUN}
    return [
        run | {name: rounded(case.get(name)) for name in OF_THE_CASE}
        for case in report["cases"]
        if "ratio" in case
    ]


def rounded(value: Any) -> Any:
    """Round to four digits; more would only be noise in diffs."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def changes(report: Facts, history: list[Facts]) -> list[Facts]:
    """The change of each case's relative time since its newest record, as a share.

    The fixed work per batch makes times with different numbers of trajectories incomparable. If
    the newest record has another number, there is no comparison: older records are outdated.
    """
    last = {tuple(entry.get(name) for name in SAME): entry for entry in history}
    result = []
    for entry in entries(report):
        case = {name: entry[name] for name in ("mechanism", "set", "us")}
        previous = last.get(tuple(entry[name] for name in SAME))
        if previous is None or previous["trajectories"] != entry["trajectories"]:
            result.append(case | {"since": None, "regression": False})
            continue
        change = previous["ratio"] / entry["ratio"] - 1
        case |= {"since": previous["date"], "was_us": previous["us"], "change": rounded(change)}
        result.append(case | {"regression": change > REGRESSION})
    return result


def commit(root: Path) -> str | None:
    """The current commit, with a + if files were modified; None without git."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return result.stdout.strip() or None
