"""What a collector takes and what it withstands: the figures of its specification, measured.

    python3 dev.py bench collector             about 40 minutes on two idle cores
    python3 dev.py bench collector --quick     two minutes, to see that it works
    python3 dev.py bench collector --only single,batches
    python3 dev.py bench collector --record    also append to benchmarks/history.jsonl
    python3 dev.py bench collector --only "" --docs    the newest record of each row, into docs

The collector is "nomadp serve", a process of its own, and so are its senders, on the same
machine: the cores are shared. Reports are of ATLAS, over 1,000 places in journeys of 4 points
at epsilon 4. Stores of ten million reports take minutes to fill; NOMADP_BENCH_STORES names a
folder that keeps them. The exit code is 1 when a goal is missed.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(
    0, str(ROOT / "tests")
)  # the collectors that tests run, and how they are killed

from collector_rows import ROWS, Row  # noqa: E402
from speed_history import HISTORY, commit, read_history  # noqa: E402

import nomadp  # noqa: E402

HEADER = ("what", "probe", "goal", "measured", "")
MEASURED = ROOT / "docs" / "measured.json"


def parsed(args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="dev.py bench collector", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="short runs and small stores")
    parser.add_argument(
        "--only",
        metavar="NAMES",
        type=_names,
        default=list(ROWS),
        help=f"by commas: {', '.join(ROWS)}",
    )
    parser.add_argument("--record", action="store_true", help="append to the history")
    parser.add_argument("--docs", action="store_true", help="put what was recorded into docs")
    asked = parser.parse_args(args)
    if asked.quick and asked.record:
        parser.error("--quick measures too hastily to be kept; leave it or the other out")
    return asked


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    if unknown := set(names) - set(ROWS):
        raise argparse.ArgumentTypeError(f"there is no row {', '.join(sorted(unknown))}")
    return names


def main(args: list[str]) -> int:
    asked, run = parsed(args), of_the_run()
    found: dict[str, list[Row]] = {}
    for name in asked.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        found[name] = ROWS[name](quick=asked.quick)
        if asked.record:
            record(run, name, found[name])
    rows = [row for each in found.values() for row in each]
    table = [HEADER, *((r.what, r.probe, r.goal, r.said, r.verdict) for r in rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(HEADER))]
    for row in table:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
    if asked.docs:
        document()
    return 0 if asked.quick or all(row.is_met for row in rows) else 1


def of_the_run() -> dict[str, Any]:
    """With the names that the other benchmarks' lines have, so that all are read alike."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "version": nomadp.__version__,
        "commit": commit(ROOT),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "numba": None,
        "mechanism": "collector",
        "trajectories": None,
    }


def record(run: dict[str, Any], name: str, rows: list[Row]) -> None:
    with HISTORY.open("a", encoding="utf-8") as history:
        for row in rows:
            line = run | {"set": row.what, "row": name, "said": row.said, "met": row.is_met}
            line |= {"probe": row.probe, "goal": row.goal}
            history.write(json.dumps(line | {"figures": row.figures}) + "\n")


def document() -> None:
    """The newest record of each row, whichever run it is of, into the documents."""
    newest: dict[str, dict[str, Any]] = {}
    for line in read_history():
        if line["mechanism"] == "collector":
            newest[line["set"]] = line
    rows = sorted(newest.values(), key=lambda line: list(ROWS).index(line["row"]))
    table = ["| what | probe | goal | measured |", "| --- | --- | --- | --- |"]
    for line in rows:
        missed = "" if line["met"] else " **(missed)**"
        cells = (line["set"], line["probe"], line["goal"], line["said"] + missed)
        table.append(f"| {' | '.join(cells)} |")
    cores = " or ".join(sorted({str(line["cpus"]) for line in rows}))
    days = sorted({line["date"] for line in rows})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    table += ["", f"Measured on {cores} cores, {when}."]
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    measured["collector-figures"] = "\n" + "\n".join(table) + "\n"
    text = json.dumps(measured, indent=2, sort_keys=True) + "\n"
    MEASURED.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, str(MEASURED.with_name("generate.py"))], check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
