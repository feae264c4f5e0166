"""How fast every mechanism is, how far from the least possible, and whether it became slower.

    python3 dev.py bench                       under ten minutes on two idle cores
    python3 dev.py bench --quick               some seconds, to see that it works
    python3 dev.py bench --only atp,atlas --sizes 1000,10000
    python3 dev.py bench --rounds 2            twice as long, where others use the machine too
    python3 dev.py bench --record              also append to benchmarks/history.jsonl
    python3 dev.py bench --docs                also write docs/measured.json; with --only, the
                                               figures of the other mechanisms stay

The sets are the paper's, where they are (NOMADP_DATA or ../shared/data), and generated ones.
Each case runs in a process of its own; speed_case.py measures it, speed_bound.py says what the
lower bound is, speed_history.py what is compared. Outside of --quick, the exit code is 1 when
something became slower by more than a quarter.
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
    "us: microseconds of processor time per trajectory on one core by "
    "engine.local.perturb_set, over n trajectories, the fastest of some passes (in each of "
    "some rounds). Compiling is "
    "done before and in no time here; public tables and indexes are in 'prepare s' alone. "
    "all cores: on the clock, the same n with a worker on each core; 'speed-up' is against one "
    "core on the clock.",
    "reference: mechanisms.base.perturb_one, one trajectory at a time, in processor time; "
    "'x faster' is reference / us. random: share of us spent on making random words.",
    "bound: words the law needs x 8 bytes / measured AES rate + points x 16 bytes / measured "
    "memory rate, on one core; 'x bound' is us / bound. It leaves out every look at the map.",
    "peak MiB: the most memory the process of the case had until then, interpreter, "
    "libraries and the set included.",
)

Facts = dict[str, Any]


def parsed(args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds: few and small cases")
    parser.add_argument("--only", type=names, metavar="NAMES", help="mechanisms, by commas")
    parser.add_argument("--sizes", type=sizes, help="generated sets, and no others, by commas")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        default=ROOT / "build" / "bench.json",
        help="default: build/bench.json",
    )
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="the best of N")
    parser.add_argument("--record", action="store_true", help="append to the history")
    parser.add_argument("--docs", action="store_true", help="write docs/measured.json")
    parser.add_argument("--history", type=Path, default=HISTORY, help=argparse.SUPPRESS)
    asked = parser.parse_args(args)
    if asked.quick and (asked.record or asked.docs):
        parser.error("--quick measures too hastily to be kept; leave it or the other out")
    return asked


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


def plan_of(asked: argparse.Namespace) -> Plan:
    several = asked.sizes or (QUICK_SIZES if asked.quick else SIZES)
    by_default = list(QUICK_MECHANISMS if asked.quick else MECHANISMS)
    of_the_paper = [] if asked.quick or asked.sizes or paper_folder() is None else PAPER_SETS
    globes = [] if asked.quick or asked.sizes else GLOBES
    chosen = asked.only or by_default
    return Plan(
        mechanisms=chosen,
        sets=[*of_the_paper, *(f"city-{size}" for size in several), *globes],
        seconds=0.05 if asked.quick else 1.0,
        cap_s=20 if asked.quick else 30,
        trips=QUICK_TRIPS if asked.quick else TRIPS,
        start_up=2_000 if asked.quick else max(several) if asked.sizes else 1_000_000,
        started=chosen[:1] if asked.quick else chosen,
        rounds=max(1, asked.rounds),
    )


def skipped(plan: Plan) -> dict[str, str]:
    """The paper's sets when they are left out, and why."""
    if set(PAPER_SETS) <= set(plan.sets):
        return {}
    asked = paper_folder() is not None
    why = "not asked for" if asked else "they are not here; NOMADP_DATA names their folder"
    return {"the paper's sets": why}


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
    """Exponents of time and of preparation over the generated sizes, by mechanism."""
    found: dict[str, Facts] = {}
    generated = [case for case in cases if size_of(case["set"]) is not None and "us" in case]
    for name in dict.fromkeys(case["mechanism"] for case in generated):
        own = [case for case in generated if case["mechanism"] == name]
        slopes = {
            what: exponent([(case["locations"], case[what]) for case in own])
            for what in ("us", "prepare_s")
        }
        if slopes["us"] is not None:
            found[name] = slopes | {"sizes": len(own)}
    return found


def main(args: list[str]) -> int:
    asked = parsed(args)
    report = measured(plan_of(asked), read_history(asked.history))
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    print(printed(report))
    if asked.record:
        print(f"{record(report, asked.history)} lines added to {asked.history.name}")
    if asked.docs:
        known = json.loads(MEASURED.read_text())
        found = merged(known, facts(report)) if asked.only else facts(report)
        MEASURED.write_text(json.dumps(known | found, indent=2, sort_keys=True) + "\n")
        print("docs/measured.json is written; python docs/generate.py puts it into the pages")
    slower = any(change["regression"] for change in report["changes"])
    return 1 if slower and not asked.quick else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
