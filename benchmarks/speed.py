"""Measure the speed of every mechanism, compare it with a lower bound, find regressions.

    python3 dev.py bench                       under ten minutes on two idle cores
    python3 dev.py bench --quick               some seconds, to check that it runs
    python3 dev.py bench --only atp,atlas --sizes 1000,10000
    python3 dev.py bench --rounds 2            twice as long, for a machine with other load
    python3 dev.py bench --record              also append to benchmarks/history.jsonl
    python3 dev.py bench --docs                also write docs/measured.json; with --only, the
                                               figures of other mechanisms do not change

Uses generated data sets and, if they are available (NOMADP_DATA or ../shared/data), those of
the paper. Each case runs in a separate process. speed_case.py measures a case, speed_bound.py
has the lower bound, speed_history.py compares with earlier runs. The exit code is 1 if a case
became slower by more than a quarter (not with --quick).
"""

import argparse
import importlib.util
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from speed_history import HISTORY, changes, commit, read_history, record
from speed_runs import Plan, all_cases, exponent, machine, start_ups
from speed_sets import GLOBES, PAPER_SETS, TRIPS, paper_folder, size_of
from speed_tables import facts, merged, printed

import nomadp
from nomadp.mechanisms import MECHANISMS

__all__ = ["main", "measured"]

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "docs" / "measured.json"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (200, 800)
QUICK_TRIPS = 4_096
QUICK_MECHANISMS = ("exp", "atp", "atlas")
DEFINITIONS = (
    "us: microseconds of CPU time per trajectory by engine.local.perturb_set on one core, for "
    "n trajectories; the fastest of several passes. Excludes compilation; 'prepare s' has the "
    "time to build public tables and indexes. all cores: wall-clock time per trajectory with a "
    "worker on each core; 'speed-up' compares it with the wall-clock time on one core.",
    "reference: mechanisms.base.perturb_one, one trajectory at a time, in CPU time; 'x faster' "
    "is reference / us. random: the share of us that generates random words.",
    "bound: the words that the law needs x 8 bytes / measured AES rate + points x 16 bytes / "
    "measured memory rate, on one core; 'x bound' is us / bound. It ignores all map lookups.",
    "peak MiB: the peak memory of the process, including the interpreter, libraries and the "
    "data set.",
)

Facts = dict[str, Any]


def parsed(args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only a few small cases")
    parser.add_argument(
        "--only", type=names, metavar="NAMES", help="mechanisms, comma-separated"
    )
    parser.add_argument(
        "--sizes", type=sizes, help="use only generated sets of these sizes, comma-separated"
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        default=ROOT / "build" / "bench.json",
        help="default: build/bench.json",
    )
    parser.add_argument(
        "--rounds", type=int, default=1, metavar="N", help="take the best of N rounds"
    )
    parser.add_argument("--record", action="store_true", help="append to the history")
    parser.add_argument("--docs", action="store_true", help="write docs/measured.json")
    parser.add_argument("--history", type=Path, default=HISTORY, help=argparse.SUPPRESS)
    options = parser.parse_args(args)
    if options.quick and (options.record or options.docs):
        parser.error("--quick results are too noisy to record; use one of the two options")
    return options


def names(text: str) -> list[str]:
    chosen = text.split(",")
    if unknown := [name for name in chosen if name not in MECHANISMS]:
        known = ", ".join(MECHANISMS)
        raise argparse.ArgumentTypeError(f"choose among {known}, got {', '.join(unknown)}")
    return chosen


def sizes(text: str) -> list[int]:
    chosen = [int(size) for size in text.split(",")]
    if min(chosen) < 10:
        raise argparse.ArgumentTypeError(f"a set needs 10 locations, got {min(chosen)}")
    return sorted(chosen)


def plan_of(options: argparse.Namespace) -> Plan:
    several = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    by_default = list(QUICK_MECHANISMS if options.quick else MECHANISMS)
    of_the_paper = (
        [] if options.quick or options.sizes or paper_folder() is None else PAPER_SETS
    )
    globes = [] if options.quick or options.sizes else GLOBES
    chosen = options.only or by_default
    return Plan(
        mechanisms=chosen,
        sets=[*of_the_paper, *(f"city-{size}" for size in several), *globes],
        seconds=0.05 if options.quick else 1.0,
        cap_s=20 if options.quick else 30,
        trips=QUICK_TRIPS if options.quick else TRIPS,
        start_up=2_000 if options.quick else max(several) if options.sizes else 1_000_000,
        started=chosen[:1] if options.quick else chosen,
        rounds=max(1, options.rounds),
    )


def skipped(plan: Plan) -> dict[str, str]:
    """The sets that are skipped, and the reason."""
    if set(PAPER_SETS) <= set(plan.sets):
        return {}
    is_available = paper_folder() is not None
    reason = (
        "not selected" if is_available else "not available; set NOMADP_DATA to their folder"
    )
    return {"the paper's sets": reason}


def measured(plan: Plan, history: list[Facts]) -> Facts:
    """The report of a run."""
    rates = machine(plan)
    cases = all_cases(plan, rates)
    report: Facts = {
        "definitions": DEFINITIONS,
        "run": about_the_run() | rates,
        "sets": plan.sets,
        "skipped": skipped(plan),
        "cases": cases,
        "scaling": scaling(cases),
        "start_up": list(start_ups(plan, cases)),
    }
    return report | {"changes": changes(report, history)}


def about_the_run() -> Facts:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "version": nomadp.__version__,
        "commit": commit(ROOT),
        "cpus": os.cpu_count() or 1,
        "python": platform.python_version(),
        "numba": importlib.util.find_spec("numba") is not None,
    }


def scaling(cases: list[Facts]) -> dict[str, Facts]:
    """The exponents of time and preparation time in the number of locations, by mechanism."""
    exponents: dict[str, Facts] = {}
    generated = [case for case in cases if size_of(case["set"]) is not None and "us" in case]
    for name in dict.fromkeys(case["mechanism"] for case in generated):
        own = [case for case in generated if case["mechanism"] == name]
        slopes = {
            key: exponent([(case["locations"], case[key]) for case in own])
            for key in ("us", "prepare_s")
        }
        if slopes["us"] is not None:
            exponents[name] = slopes | {"sizes": len(own)}
    return exponents


def main(args: list[str]) -> int:
    options = parsed(args)
    report = measured(plan_of(options), read_history(options.history))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    print(printed(report))
    if options.record:
        print(f"added {record(report, options.history)} lines to {options.history.name}")
    if options.docs:
        known = json.loads(MEASURED.read_text())
        values = merged(known, facts(report)) if options.only else facts(report)
        MEASURED.write_text(json.dumps(known | values, indent=2, sort_keys=True) + "\n")
        print("wrote docs/measured.json; run python docs/generate.py to update the documents")
    slower = any(change["regression"] for change in report["changes"])
    return 1 if slower and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
