"""Running the cases of the speed benchmark: each in a process of its own, none for too long."""

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
"""A case that would take so many times its cap is not even tried."""
COMPILING_S = 600
TIMED = ("us", "clock_us", "all_cores_us", "reference_us", "prepare_s")

Facts = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is measured, and how long it may take."""

    mechanisms: list[str]
    sets: list[str]
    seconds: float
    """Spent on each figure."""
    cap_s: float
    """After so long a case is stopped."""
    trips: int
    """Generated for each set; passes are over as many of them as the time allows."""
    start_up: int
    """Locations in the file of the start-up cases."""
    started: list[str]
    """The mechanisms that are started up."""
    rounds: int = 1
    """How often everything is measured: what disturbs a shared machine comes and goes."""


def child(case: Facts, cap_s: float) -> Facts:
    """What a case told; why it was `stopped` if it was, why it `failed` if it did."""
    command = [sys.executable, str(SCRIPT), json.dumps(case)]
    facts: Facts = {}
    try:
        done = subprocess.run(command, capture_output=True, timeout=cap_s, check=False)
        told = done.stdout
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            facts["failed"] = lines[-1] if lines else f"exit code {done.returncode}"
    except subprocess.TimeoutExpired as expired:
        told = expired.stdout or b""
        facts["stopped"] = f"stopped after {cap_s:.0f} s"
    for line in told.decode().splitlines():
        facts.update(json.loads(line))
    return facts


def say(what: str) -> None:
    """Progress, for whoever waits."""
    print(f"bench: {what}", file=sys.stderr, flush=True)


def machine(plan: Plan) -> Facts:
    """The rates of the lower bound; and the kernels are compiled, so that no case has to."""
    say("rates of AES and of memory")
    rates = child({"kind": "machine"}, COMPILING_S)
    say("compiling what is not compiled yet")
    largest = max([plan.start_up, *(size_of(on) or 0 for on in plan.sets)])
    compiling = child(
        {"kind": "compiled", "mechanisms": plan.mechanisms, "largest": largest}, COMPILING_S
    )
    for trouble in ("failed", "stopped"):
        if trouble in rates or trouble in compiling:
            raise RuntimeError(f"the benchmark cannot begin: {rates | compiling}")
    return rates


def all_cases(plan: Plan, rates: Facts) -> list[Facts]:
    """Every mechanism on every set, smaller generated sets first; the best of all rounds."""
    best = list(one_round(plan, 1))
    for number in range(2, plan.rounds + 1):
        best = [faster(*two) for two in zip(best, one_round(plan, number), strict=True)]
    return [case if NOT_MEASURED in case else concluded(case, rates) for case in best]


def one_round(plan: Plan, number: int) -> Iterator[Facts]:
    total = len(plan.mechanisms) * len(plan.sets)
    of_all = f"round {number}, " if plan.rounds > 1 else ""
    done = 0
    for name in plan.mechanisms:
        before: list[Facts] = []
        for on in plan.sets:
            done += 1
            case = {"mechanism": name, "set": on}
            facts = case | hopeless(before, size_of(on), plan.cap_s)
            if NOT_MEASURED not in facts:
                say(f"{of_all}{done} of {total}: {name} on {on}")
                asked = {"kind": "measured", "seconds": plan.seconds, "trips": plan.trips}
                facts |= child(case | asked, plan.cap_s)
            if size_of(on) is not None:
                before.append(facts)
            yield facts


def faster(one: Facts, other: Facts) -> Facts:
    """The same case twice: the better round, and the least of what both rounds timed."""
    if other.get("trajectories", 0) != one.get("trajectories", 0):
        # A round that was disturbed so much measured another number of them.
        return max(one, other, key=lambda facts: facts.get("trajectories", 0))
    if "us" not in one:
        return one
    best = min(one, other, key=lambda facts: facts["us"])
    return best | {
        what: min(one[what], other[what]) for what in TIMED if what in one and what in other
    }


def hopeless(before: list[Facts], size: int | None, cap_s: float) -> Facts:
    """Why a set of this size is not tried, told from the smaller ones."""
    if size is None:
        return {}
    for what, share in (("prepare_s", 1.0), ("us", 1e-6)):
        known = [(f["locations"], f[what]) for f in before if what in f and f[what] > 0]
        if not known:
            continue
        # From a single size, and against noise: in proportion at least.
        slope = max(1.0, exponent(known[-2:]) or 1.0) if known[-1][1] * share > 0.5 else 1.0
        largest, value = known[-1]
        would_s = share * value * (size / largest) ** slope
        if would_s > HOPELESS * cap_s:
            does = "preparing it" if what == "prepare_s" else "one trajectory"
            reason = f"{does} would take about {amount_of_time(would_s)}"
            return {NOT_MEASURED: f"{reason}, told from {largest:,} locations"}
    return {}


def amount_of_time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def concluded(facts: Facts, rates: Facts) -> Facts:
    """What follows from the stages that were reached."""
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
    """From a location file to the first batch, for what was measured on the largest set."""
    generated = [on for on in plan.sets if size_of(on) is not None]
    largest = max(generated, key=lambda on: size_of(on) or 0, default=None)
    left_out = {f["mechanism"] for f in cases if f["set"] == largest and NOT_MEASURED in f}
    asked = [name for name in plan.started if name not in left_out]
    tried = started_up(plan, asked)
    for name in plan.started:
        facts = {"mechanism": name, "locations": plan.start_up}
        if name in left_out:
            yield facts | {NOT_MEASURED: f"nor is it on {largest}"}
            continue
        facts |= min(tried[name], key=lambda told: told.get("first_batch_s", math.inf))
        if "first_batch_s" not in facts:
            facts[NOT_MEASURED] = facts.get("failed") or facts["stopped"]
        yield facts


def started_up(plan: Plan, names: list[str]) -> dict[str, list[Facts]]:
    """What each mechanism told in every round, one after the other in each."""
    told: dict[str, list[Facts]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "places.parquet")
        say(f"start-up: writing {plan.start_up:,} locations")
        child({"kind": "written", "file": file, "size": plan.start_up}, COMPILING_S)
        for _ in range(plan.rounds):
            for name in names:
                say(f"start-up: {name}")
                case = {"kind": "started up", "file": file, "mechanism": name}
                told[name].append(child(case | {"began": time.time()}, plan.cap_s))
    return told


def exponent(known: list[tuple[float, float]]) -> float | None:
    """The slope of log value over log size by least squares; None from fewer than two sizes."""
    if len({size for size, _ in known}) < 2:
        return None
    sizes, values = zip(*((math.log(s), math.log(v)) for s, v in known), strict=True)
    return statistics.linear_regression(sizes, values).slope
