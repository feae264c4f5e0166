"""Run the cases of the speed benchmark, each in a separate process with a time limit."""

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speed_bound import bound_us
from speed_sets import size_of

__all__ = ["NOT_MEASURED", "Plan", "all_cases", "exponent", "machine", "start_ups"]

SCRIPT = Path(__file__).with_name("speed_case.py")
NOT_MEASURED = "not measured"
HOPELESS = 2
"""Skip a case that would take this many times its limit."""
COMPILING_S = 600
TIMED = ("us", "clock_us", "all_cores_us", "reference_us", "prepare_s")

Facts = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The cases to measure, and their time limits."""

    mechanisms: list[str]
    sets: list[str]
    seconds: float
    """The time for each figure."""
    cap_s: float
    """The time limit of a case."""
    trips: int
    """The number of generated trips; passes use as many as the time allows."""
    start_up: int
    """The number of locations in the file of the start-up cases."""
    started: list[str]
    """The mechanisms of the start-up cases."""
    rounds: int = 1
    """The number of rounds, for machines with other load that comes and goes."""


def child(case: Facts, cap_s: float) -> Facts:
    """The results of a case, and why it was `stopped` or `failed`."""
    command = [sys.executable, str(SCRIPT), json.dumps(case)]
    facts: Facts = {}
    try:
        result = subprocess.run(command, capture_output=True, timeout=cap_s, check=False)
        output = result.stdout
        if result.returncode != 0:
            lines = result.stderr.decode(errors="replace").strip().splitlines()
            facts["failed"] = lines[-1] if lines else f"exit code {result.returncode}"
    except subprocess.TimeoutExpired as expired:
        output = expired.stdout or b""
        facts["stopped"] = f"stopped after {cap_s:.0f} s"
    for line in output.decode().splitlines():
        facts.update(json.loads(line))
    return facts


def log(text: str) -> None:
    """Print the progress."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def machine(plan: Plan) -> Facts:
    """Measure the rates of the lower bound, and compile the kernels for all cases."""
    log("measuring the rates of AES and memory")
    rates = child({"kind": "machine"}, COMPILING_S)
    log("compiling kernels")
    largest = max([plan.start_up, *(size_of(on) or 0 for on in plan.sets)])
    compiling = child(
        {"kind": "compiled", "mechanisms": plan.mechanisms, "largest": largest}, COMPILING_S
    )
    for problem in ("failed", "stopped"):
        if problem in rates or problem in compiling:
            raise RuntimeError(f"the benchmark cannot start: {rates | compiling}")
    return rates


def all_cases(plan: Plan, rates: Facts) -> list[Facts]:
    """Measure every mechanism on every set, smaller sets first; the best of all rounds."""
    best = list(one_round(plan, 1))
    for number in range(2, plan.rounds + 1):
        best = [faster(*two) for two in zip(best, one_round(plan, number), strict=True)]
    return [case if NOT_MEASURED in case else concluded(case, rates) for case in best]


def one_round(plan: Plan, number: int) -> Iterator[Facts]:
    total = len(plan.mechanisms) * len(plan.sets)
    of_all = f"round {number}, " if plan.rounds > 1 else ""
    number_of_case = 0
    for name in plan.mechanisms:
        smaller: list[Facts] = []
        for on in plan.sets:
            number_of_case += 1
            case = {"mechanism": name, "set": on}
            facts = case | hopeless(smaller, size_of(on), plan.cap_s)
            if NOT_MEASURED not in facts:
                log(f"{of_all}{number_of_case} of {total}: {name} on {on}")
                options = {"kind": "measured", "seconds": plan.seconds, "trips": plan.trips}
                facts |= child(case | options, plan.cap_s)
            if size_of(on) is not None:
                smaller.append(facts)
            yield facts


def faster(one: Facts, other: Facts) -> Facts:
    """The better of two results of a case, with the smallest of each time."""
    if other.get("trajectories", 0) != one.get("trajectories", 0):
        # Heavy load made one round measure fewer trajectories; keep the other.
        return max(one, other, key=lambda facts: facts.get("trajectories", 0))
    if "us" not in one:
        return one
    best = min(one, other, key=lambda facts: facts["us"])
    return best | {
        what: min(one[what], other[what]) for what in TIMED if what in one and what in other
    }


def hopeless(smaller: list[Facts], size: int | None, cap_s: float) -> Facts:
    """Why a set of this size is skipped, extrapolated from smaller sets."""
    if size is None:
        return {}
    for key, share in (("prepare_s", 1.0), ("us", 1e-6)):
        known = [(f["locations"], f[key]) for f in smaller if key in f and f[key] > 0]
        if not known:
            continue
        # With a single size, or short and noisy times, assume proportional growth.
        slope = max(1.0, exponent(known[-2:]) or 1.0) if known[-1][1] * share > 0.5 else 1.0
        largest, value = known[-1]
        estimate_s = share * value * (size / largest) ** slope
        if estimate_s > HOPELESS * cap_s:
            step = "preparing it" if key == "prepare_s" else "one trajectory"
            reason = f"{step} would take about {amount_of_time(estimate_s)}"
            return {NOT_MEASURED: f"{reason}, extrapolated from {largest:,} locations"}
    return {}


def amount_of_time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def concluded(facts: Facts, rates: Facts) -> Facts:
    """Add the ratios that the measured stages allow."""
    if "us" not in facts:
        stage = "measuring" if "prepare_s" in facts else "preparing"
        reason = facts.get("failed") or f"{facts['stopped']} while {stage}"
        return facts | {NOT_MEASURED: reason}
    if "reference_us" in facts:
        bound = bound_us(facts["words_needed"], facts["points"], rates)
        facts |= {
            "ratio": facts["reference_us"] / facts["us"],
            "bound_us": bound,
            "times_bound": facts["us"] / bound,
        }
    if "all_cores_us" in facts:
        facts["speed_up"] = facts["clock_us"] / facts["all_cores_us"]
    return facts


def start_ups(plan: Plan, cases: list[Facts]) -> Iterator[Facts]:
    """Time from a location file to the first batch, if the largest set was measured."""
    generated = [on for on in plan.sets if size_of(on) is not None]
    largest = max(generated, key=lambda on: size_of(on) or 0, default=None)
    left_out = {f["mechanism"] for f in cases if f["set"] == largest and NOT_MEASURED in f}
    names = [name for name in plan.started if name not in left_out]
    results = started_up(plan, names)
    for name in plan.started:
        facts = {"mechanism": name, "locations": plan.start_up}
        if name in left_out:
            yield facts | {NOT_MEASURED: f"it was not measured on {largest}"}
            continue
        facts |= min(results[name], key=lambda result: result.get("first_batch_s", math.inf))
        if "first_batch_s" not in facts:
            facts[NOT_MEASURED] = facts.get("failed") or facts["stopped"]
        yield facts


def started_up(plan: Plan, names: list[str]) -> dict[str, list[Facts]]:
    """The results of each mechanism in every round."""
    results: dict[str, list[Facts]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "places.parquet")
        log(f"start-up: writing {plan.start_up:,} locations")
        child({"kind": "written", "file": file, "size": plan.start_up}, COMPILING_S)
        for _ in range(plan.rounds):
            for name in names:
                log(f"start-up: {name}")
                case = {"kind": "started up", "file": file, "mechanism": name}
                results[name].append(child(case | {"began": time.time()}, plan.cap_s))
    return results


def exponent(known: list[tuple[float, float]]) -> float | None:
    """The slope of log value over log size by least squares; None from fewer than two sizes."""
    if len({size for size, _ in known}) < 2:
        return None
    sizes, values = zip(*((math.log(s), math.log(v)) for s, v in known), strict=True)
    return statistics.linear_regression(sizes, values).slope
