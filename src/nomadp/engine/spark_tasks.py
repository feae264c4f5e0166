"""What a worker does with the batches of its partition, on Spark and on Sail alike.

Every function returns a mapper for `mapInArrow`. The engine carries it to its workers with all
it holds, so a mapper holds a mechanism and at most a key; what is expensive to work out is
worked out where it is needed and kept there. Engines cut batches as they like: a mapper joins
small ones, and no result depends on the cuts.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pyarrow as pa

import nomadp
from nomadp.engine.batches import perturb_batch, reports_of, trajectories_of
from nomadp.errors import NomadpError
from nomadp.inference import Prior
from nomadp.inference.decoders import Decoders, reported_values
from nomadp.mechanisms import Mechanism
from nomadp.randomness import KeyedWords
from nomadp.trajectory import TrajectorySet

__all__ = [
    "Batches",
    "ESTIMATE_COLUMNS",
    "Mapper",
    "REPORT_COLUMNS",
    "ROWS",
    "TALLY_COLUMNS",
    "decoding",
    "gathered",
    "perturbing",
    "software_of",
    "tallying",
]

Batches = Iterator[pa.RecordBatch]
Mapper = Callable[[Batches], Batches]

REPORT_COLUMNS = "tid string, location_ids array<string>"
ESTIMATE_COLUMNS = f"{REPORT_COLUMNS}, radius_km array<double>"
TALLY_COLUMNS = "length bigint, report bigint, count bigint"

ROWS = 16384
"""Trajectories that kernels get at a time, where the engine's own batches are smaller."""
_ARITHMETIC = ("numpy", "numba")


def perturbing(mechanism: Mechanism, words: KeyedWords, path: str) -> Mapper:
    """Trajectories to reports, by this path."""
    software = software_of(mechanism)

    def perturb_batches(batches: Batches) -> Batches:
        here = _kept(mechanism)
        _check_software(software, software_of(here))
        for batch in gathered(batches):
            yield perturb_batch(here, words, batch, path)

    return perturb_batches


def decoding(mechanism: Mechanism, prior: Prior | None, level: float) -> Mapper:
    """Reports to estimates, each point with the radius that holds ``level`` of its mass."""

    def decode_batches(batches: Batches) -> Batches:
        here = _kept(mechanism)
        decoders = Decoders(here, prior, level)  # a distinct report is worked out once
        for batch in gathered(batches):
            reports = trajectories_of(batch, here.locations)
            found = decoders.decode(reports)
            answers = TrajectorySet(reports.offsets, found.locations, reports.tids)
            rows = reports_of(answers, here.locations)
            offsets = pa.array(reports.offsets, pa.int32())
            radius = pa.ListArray.from_arrays(offsets, pa.array(found.radius_km))
            yield rows.append_column("radius_km", radius)

    return decode_batches


def tallying(mechanism: Mechanism) -> Mapper:
    """Reports to how often each distinct one came in, one table for each partition."""

    def tally_batches(batches: Batches) -> Batches:
        here = _kept(mechanism)
        tally: Counter[tuple[int, int]] = Counter()
        for batch in gathered(batches):
            reports = trajectories_of(batch, here.locations)
            for length, _, values in reported_values(here, reports):
                distinct, counts = np.unique(values, return_counts=True)
                for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
                    tally[length, value] += count
        rows = [(length, value, count) for (length, value), count in tally.items()]
        table: Any = np.array(rows, dtype=np.int64).reshape(-1, 3)
        columns = [pa.array(column) for column in table.T]
        yield pa.RecordBatch.from_arrays(columns, names=["length", "report", "count"])

    return tally_batches


def gathered(batches: Batches, rows: int = ROWS) -> Batches:
    """The same rows in the same order, at least so many at a time except at the end."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= rows:
            yield from _joined(held)
            held = []
    yield from _joined(held)


def _joined(held: list[pa.RecordBatch]) -> Batches:
    if any(batch.num_rows for batch in held):
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


def software_of(mechanism: Mechanism) -> str:
    """What a report depends on besides mechanism and key, as one line of text.

    The laws are exact, their weights are not: they are rounded from distances, and another
    library or processor may round the last bit of one the other way.
    """
    row = mechanism.locations.distances_km(0)
    facts = {"nomadp": nomadp.__version__}
    facts |= {name: _version(name) for name in _ARITHMETIC}
    facts["distances"] = hashlib.sha256(row.astype("<f8").tobytes()).hexdigest()[:16]
    return json.dumps(facts)


def _check_software(expected: str, found: str) -> None:
    if expected != found:
        raise NomadpError(
            "every worker must compute with what the driver has, else a batch that is run "
            f"again could draw other reports; the driver has {expected}, a worker {found}"
        )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


@lru_cache(maxsize=4)
def _kept(mechanism: Mechanism) -> Mechanism:
    """The first of equal mechanisms, with the tables that it has worked out by now.

    Every task brings a copy of its own; a worker runs many tasks.
    """
    return mechanism
