"""Arrow batches perturbed one at a time, in whatever order and process: streams and clusters.

Every trajectory draws from the stream of words that bears its tid. So neither the batch it is
in, nor its place there, nor who perturbs it changes its report or the report's id.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nomadp.engine.local import Progress
from nomadp.errors import SchemaError
from nomadp.formats.nested_files import NestedFile, repeated_tids
from nomadp.formats.trajectory_batches import BEGIN, trajectories_of
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.paths import perturb_many
from nomadp.randomness import RandomSource
from nomadp.reports.batches import batch_of
from nomadp.reports.table import report_ids
from nomadp.sequences import Sequences

__all__ = ["Survey", "perturb_batch", "survey"]


def perturb_batch(
    mechanism: Mechanism,
    randomness: RandomSource,
    batch: pa.RecordBatch,
    path: str,
    *,
    linked: bool,
) -> pa.RecordBatch:
    """The reports of a batch, in its order, drawn by this path (mechanisms/paths.py).

    ``randomness`` is the keyed source of the whole job. Here it is bound to the mechanism,
    and its streams are named by tid. A tid must stand for one trajectory in all batches of a
    job; only the caller, who sees all of them, can make sure of that. Reports keep the tids if
    ``linked``; otherwise they get random ids.
    """
    true = trajectories_of(batch, mechanism.locations, hours=mechanism.timed)
    named = randomness.bound_to(mechanism.identity).named(true.tids)
    drawn = perturb_many(mechanism, true, named, path)
    names = true.tids if linked else report_ids(randomness, mechanism, true.tids)
    rows = Sequences(mechanism.report_offsets(true.offsets), drawn.locations, names)
    return batch_of(rows, None if mechanism.is_oracle else mechanism.locations, drawn.numbers)


@dataclass(frozen=True)
class Survey:
    """What a file of trajectories holds. All of it is public: lengths are."""

    trajectories: int
    points: int
    single: int
    """Trajectories of one location."""


def survey(
    source: NestedFile, locations: LocationSet, progress: Progress | None = None
) -> Survey:
    """Every trajectory is over these locations, and no tid occurs twice; or a refusal.

    Two trajectories of one tid would draw the same words, and their reports would tell about
    each other. So tids are compared exactly, in 8 bytes of memory for each.
    """
    points = single = 0
    for row, batch in source.batches():
        found = source.trajectories(row, batch, locations)
        if source.hours and found.hours is None:
            raise SchemaError(
                f"{source.path} must say in a column {BEGIN} when each trajectory begins, "
                "and does not; add it, or ask without --when",
                code="columns_missing",
                missing=(BEGIN,),
            )
        points += len(found.locations)
        single += int(np.count_nonzero(found.lengths == 1))
        if progress is not None:
            progress(len(found))
    again = repeated_tids(source)
    if again:
        raise SchemaError(
            f"{source.path}: every tid must name one trajectory, got {again} repeated of "
            f"{source.rows}; number the trajectories, or keep only one of each tid",
            code="tid_repeated",
            repeated=again,
            rows=source.rows,
        )
    return Survey(source.rows, points, single)
