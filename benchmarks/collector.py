"""Test a collector against its performance and robustness goals.

    python3 dev.py bench collector             about 40 minutes on two idle cores
    python3 dev.py bench collector --quick     two minutes, to check that it runs
    python3 dev.py bench collector --only single,batches
    python3 dev.py bench collector --record    also append to benchmarks/history.jsonl
    python3 dev.py bench collector --only "" --docs    write the newest records into the docs

The collector ("nomadp serve") and the senders are separate processes on the same machine, and
share its cores. Reports are of ATLAS with epsilon 4, over 1,000 locations and 4 points. Filling
a store with ten million reports takes minutes; NOMADP_BENCH_STORES names a folder that keeps
these stores. The exit code is 1 if a goal is missed.
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
# The tests' helpers run and kill collectors.
sys.path.insert(0, str(ROOT / "tests"))

from collector_rows import ROWS, Row  # noqa: E402
from speed_history import HISTORY, commit, read_history  # noqa: E402

import nomadp  # noqa: E402

HEADER = ("test", "probe", "goal", "measured", "")
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
        help=f"comma-separated: {', '.join(ROWS)}",
    )
    parser.add_argument("--record", action="store_true", help="append to the history")
    parser.add_argument("--docs", action="store_true", help="write the records into the docs")
    options = parser.parse_args(args)
    if options.quick and options.record:
        parser.error("--quick results are too noisy to record; use one of the two options")
    return options


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    if unknown := set(names) - set(ROWS):
        raise argparse.ArgumentTypeError(f"unknown tests: {', '.join(sorted(unknown))}")
    return names


def main(args: list[str]) -> int:
    options, run = parsed(args), of_the_run()
    rows_by_name: dict[str, list[Row]] = {}
    for name in options.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows_by_name[name] = ROWS[name](quick=options.quick)
        if options.record:
            record(run, name, rows_by_name[name])
    rows = [row for group in rows_by_name.values() for row in group]
    table = [HEADER, *((r.what, r.probe, r.goal, r.measured, r.verdict) for r in rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(HEADER))]
    for row in table:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
    if options.docs:
        document()
    return 0 if options.quick or all(row.is_met for row in rows) else 1


def of_the_run() -> dict[str, Any]:
    """Facts about the run, with the same names as in the lines of the other benchmarks."""
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
            line = run | {"set": row.what, "row": name, "said": row.measured, "met": row.is_met}
            line |= {"probe": row.probe, "goal": row.goal}
            history.write(json.dumps(line | {"figures": row.figures}) + "\n")


def document() -> None:
    """Write the newest record of each test into the documents."""
    newest: dict[str, dict[str, Any]] = {}
    for line in read_history():
        if line["mechanism"] == "collector":
            newest[line["set"]] = line
    rows = sorted(newest.values(), key=lambda line: list(ROWS).index(line["row"]))
    table = ["| test | probe | goal | measured |", "| --- | --- | --- | --- |"]
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
