"""Scores of reports on a cluster: sums for each partition, put together by the driver."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nomadp.analysis import Evaluation, Scores, evaluate
from nomadp.engine.batches import trajectories_of
from nomadp.engine.spark_tasks import Batches, Mapper, gathered
from nomadp.errors import DomainError
from nomadp.locations import LocationSet

__all__ = ["SUM_COLUMNS", "finished", "summing"]

SUM_COLUMNS = (
    "trajectories bigint, points bigint, missing bigint, extra bigint, sums array<double>"
)
_COUNTS = ("trajectories", "points", "missing", "extra")
_SCHEMA = pa.schema(
    [(name, pa.int64()) for name in _COUNTS] + [("sums", pa.list_(pa.float64()))]
)


def summing(locations: LocationSet, radii_km: Sequence[float]) -> Mapper:
    """From rows of (tid, true_ids, reported_ids) to one row of sums for each partition."""

    def sum_batches(batches: Batches) -> Batches:
        counts = np.zeros(4, dtype=np.int64)
        sums = np.zeros(3 * (1 + len(radii_km)))
        for batch in gathered(batches):
            there, paired = _paired(batch)
            counts += there
            if paired.num_rows:
                found = _evaluated(paired, locations, radii_km)
                counts[:2] += found.trajectories, found.points
                sums += found.trajectories * _flat(found)
        row = dict(zip(_COUNTS, counts.tolist(), strict=True)) | {"sums": sums.tolist()}
        yield pa.RecordBatch.from_pylist([row], _SCHEMA)

    return sum_batches


def finished(
    rows: Iterable[Any], locations: LocationSet, radii_km: Sequence[float]
) -> Evaluation:
    """The evaluation of everything, from the sums of all partitions."""
    counts = np.zeros(4, dtype=np.int64)
    sums = np.zeros(3 * (1 + len(radii_km)))
    for row in rows:
        counts += [row[name] for name in _COUNTS]
        sums += row["sums"]
    trajectories, points, missing, extra = counts.tolist()
    if missing or extra:
        raise DomainError(
            "reports must carry the tids of the trajectories to be compared with them, but "
            f"{missing} trajectories have no report and {extra} reports have no trajectory; "
            "reports under random ids cannot be compared, perturb with keep_tids"
        )
    if not trajectories:
        raise DomainError("there must be at least one trajectory to evaluate, got none")
    answers = [_scores(part, locations) for part in np.split(sums / trajectories, 3)]
    radii = tuple(map(float, radii_km))
    return Evaluation(trajectories, points, locations.diameter_km, radii, *answers)


def _paired(batch: pa.RecordBatch) -> tuple[list[int], pa.RecordBatch]:
    """How many rows lack a report or a trajectory, as counts; the rows that have both."""
    true, reported = pc.is_valid(batch["true_ids"]), pc.is_valid(batch["reported_ids"])
    counts = [pc.sum(pc.invert(side)).as_py() for side in (reported, true)]
    return [0, 0, *counts], batch.filter(pc.and_(true, reported))


def _evaluated(
    paired: pa.RecordBatch, locations: LocationSet, radii_km: Sequence[float]
) -> Evaluation:
    true, reported = (
        trajectories_of(
            pa.RecordBatch.from_arrays(
                [paired["tid"], paired[name]], names=["tid", "location_ids"]
            ),
            locations,
        )
        for name in ("true_ids", "reported_ids")
    )
    return evaluate(locations, true, reported, radii_km)


def _flat(found: Evaluation) -> Any:
    answers = found.answers.values()
    return np.concatenate([[each.error_km, *each.range_query] for each in answers])


def _scores(means: Any, locations: LocationSet) -> Scores:
    error_km, *within = means.tolist()
    diameter_km = locations.diameter_km
    normalised = error_km / diameter_km if diameter_km > 0 else 0.0
    return Scores(error_km, normalised, tuple(within))
