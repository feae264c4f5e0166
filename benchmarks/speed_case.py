"""One case of the speed benchmark, in a separate process to measure its peak memory.

speed_runs.py calls this with a JSON object. It writes one JSON object after each stage, so that
results remain if the process is stopped.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import speed_sets
from speed_bound import CountedStream, Tally, TimedWords, aes_gb_s, both_clocks, memory_gb_s

from nomadp.engine.local import perturb_set
from nomadp.formats.location_files import read_locations, write_locations
from nomadp.mechanisms import Mechanism, make_mechanism, perturb_one
from nomadp.mechanisms.dispatch import REFERENCE, fastest, path_of, perturb_many
from nomadp.mechanisms.fast.limits import TABLE_LIMIT
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

__all__ = ["main"]

EPSILON = 4
GROWTH = 8
"""Numbers of trajectories grow by this factor, so that runs measure the same numbers."""
PASSES = 15
"""The most passes. The fastest counts, because other load only makes a pass slower."""
REFERENCES = 64
WORDS = SeededRandom(1)
MANY = 1024
"""Enough trajectories to use the fast path; for fewer, the reference may be chosen."""
SMALL = 300

Record = Callable[..., None]


class Pass(NamedTuple):
    """One pass over some trajectories: CPU time, wall-clock time and random words."""

    busy_s: float
    clock_s: float
    tally: Tally


def machine(case: dict[str, Any], record: Record) -> None:
    """Measure the rates of the lower bound."""
    record(aes_gb_s=aes_gb_s(), memory_gb_s=memory_gb_s())


perturbed = partial(perturb_set, keep_tids=True)
"""Perturbs without replacing and shuffling ids."""


def compiled(case: dict[str, Any], record: Record) -> None:
    """Compile the kernels for small and large sets. numba caches them for the other cases."""
    sizes = (SMALL, TABLE_LIMIT + 1) if case["largest"] > TABLE_LIMIT else (SMALL,)
    for size in sizes:
        city = speed_sets.generated(size, trips=4)
        for name in case["mechanisms"]:
            started = time.perf_counter()
            by_fast_path(make_mechanism(name, city.locations, EPSILON), city.trajectories)
            record(compiled=[name, size, time.perf_counter() - started])


def by_fast_path(mechanism: Mechanism, trajectories: TrajectorySet) -> None:
    """Use the path that is chosen for many trajectories, whatever their number."""
    path = path_of(mechanism, MANY)
    perturb_many(mechanism, trajectories, WORDS.bound_to(mechanism.identity), path)


def measured(case: dict[str, Any], record: Record) -> None:
    """Measure one mechanism on one set."""
    city = speed_sets.load(case["set"], case["trips"])
    record(locations=len(city.locations), set_mib=peak_mib())
    started = time.perf_counter()
    mechanism = make_mechanism(case["mechanism"], city.locations, EPSILON)
    by_fast_path(mechanism, first_of_each_length(city.trajectories))
    record(prepare_s=time.perf_counter() - started)
    some = on_one_core(mechanism, city.trajectories, case["seconds"], record)
    record(peak_mib=peak_mib())
    reference(mechanism, city.trajectories, case["seconds"], record)
    on_all_cores(mechanism, some, case, record)


def first_of_each_length(trajectories: TrajectorySet) -> TrajectorySet:
    """One trajectory of each length, because the preparation may depend on the length."""
    return trajectories.select(np.unique(trajectories.lengths, return_index=True)[1])


def on_one_core(
    mechanism: Mechanism, trajectories: TrajectorySet, seconds: float, record: Record
) -> TrajectorySet:
    """Measure the time per trajectory; returns the trajectories that were used."""

    def once(count: int) -> Pass:
        some, tally = trajectories.select(range(count)), Tally()
        words = TimedWords(WORDS, tally)
        busy, clock = both_clocks(lambda: perturbed(mechanism, some, words, jobs=1))
        return Pass(busy, clock, tally)

    fewest = 1 if path_of(mechanism, MANY) == REFERENCE else MANY
    count, passes = paced(once, len(trajectories), seconds, fewest)
    best = least(passes)
    some = trajectories.select(range(count))
    record(
        trajectories=count,
        us=1e6 * best.busy_s / count,
        clock_us=least_clock_us(passes, count),
        points=len(some.locations) / count,
        randomness_share=best.tally.seconds / best.busy_s,
        words_made=best.tally.words / count,
    )
    return some


def reference(
    mechanism: Mechanism, trajectories: TrajectorySet, seconds: float, record: Record
) -> None:
    """Measure the plain reference on the first trajectories, one at a time."""
    randomness = WORDS.bound_to(mechanism.identity)

    def once(count: int) -> Pass:
        streams = [CountedStream(randomness.stream(k)) for k in range(count)]

        def one_at_a_time() -> None:
            for k, stream in enumerate(streams):
                perturb_one(mechanism, trajectories[k], stream)

        busy, clock = both_clocks(one_at_a_time)
        return Pass(busy, clock, Tally(words=sum(stream.drawn for stream in streams)))

    count, passes = paced(once, min(REFERENCES, len(trajectories)), seconds)
    best = least(passes)
    record(
        reference_us=1e6 * best.busy_s / count,
        reference_trajectories=count,
        words_needed=best.tally.words / count,
    )


def paced(
    once: Callable[[int], Pass], limit: int, seconds: float, fewest: int = 1
) -> tuple[int, list[Pass]]:
    """The number of trajectories that the time allows, and the passes over them."""
    count = min(fewest, limit)
    first = once(count)
    while count < limit and GROWTH * first.busy_s < 4 * seconds:
        count = min(GROWTH * count, limit)
        first = once(count)
    return count, repeated(first, lambda: once(count), seconds)


def repeated(first: Pass, again: Callable[[], Pass], seconds: float) -> list[Pass]:
    """This pass, and more passes while there is time."""
    passes = [first]
    while len(passes) < PASSES and sum(one.clock_s for one in passes) < seconds:
        passes.append(again())
    return passes


def least(passes: list[Pass]) -> Pass:
    return min(passes, key=lambda one: one.busy_s)


def least_clock_us(passes: list[Pass], count: int) -> float:
    return 1e6 * min(one.clock_s for one in passes) / count


def on_all_cores(
    mechanism: Mechanism, some: TrajectorySet, case: dict[str, Any], record: Record
) -> None:
    """Measure the same trajectories with a worker on every core."""
    if case["cores"] < 2:
        record(no_speed_up="only one core")
    elif fastest(mechanism) == REFERENCE:
        record(no_speed_up="no kernels at this size, and worker processes are slow to start")
    elif len(some) < case["cores"]:
        record(no_speed_up="too few trajectories for all cores")
    else:

        def once() -> Pass:
            run = partial(perturbed, mechanism, some, WORDS, jobs=case["cores"])
            return Pass(*both_clocks(run), Tally())

        passes = repeated(once(), once, case["seconds"])
        record(all_cores_us=least_clock_us(passes, len(some)))


def written(case: dict[str, Any], record: Record) -> None:
    """Write the location file of the start-up cases."""
    write_locations(case["file"], speed_sets.generated(case["size"], trips=1).locations)
    record(file_mib=Path(case["file"]).stat().st_size / 2**20)


def started_up(case: dict[str, Any], record: Record) -> None:
    """Measure the stages from the start of this process to the first perturbed batch."""
    record(imports_s=time.time() - case["began"])
    locations = read_locations(case["file"])
    record(read_s=time.time() - case["began"])
    rng = np.random.default_rng(1)
    rows = rng.integers(len(locations), size=(MANY, speed_sets.LENGTH))
    batch = TrajectorySet.from_lists(list(rows), size=len(locations))
    mechanism = make_mechanism(case["mechanism"], locations, EPSILON)
    by_fast_path(mechanism, batch.select([0]))
    record(ready_s=time.time() - case["began"])
    perturbed(mechanism, batch, WORDS)
    record(first_batch_s=time.time() - case["began"], peak_mib=peak_mib())


def peak_mib() -> float:
    """The peak memory of this process.

    On Linux, ru_maxrss includes the memory of the parent at the fork, so read VmHWM instead.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)


KINDS = {
    "machine": machine,
    "compiled": compiled,
    "measured": measured,
    "written": written,
    "started up": started_up,
}


def record(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def main(args: list[str]) -> int:
    case = json.loads(args[0])
    case.setdefault("cores", os.cpu_count() or 1)
    KINDS[case["kind"]](case, record)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
