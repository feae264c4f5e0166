"""Perturb Arrow batches independently of each other, for streams and clusters.

Every trajectory draws from the random stream named by its tid. So its report and the report's
id do not depend on its batch, its position there, or the process that perturbs it.
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
from nomadp.mechanisms.dispatch import perturb_many
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
    """The reports of a batch in order, drawn by this code path (mechanisms/dispatch.py).

    ``randomness`` is the keyed source of the whole job; the caller has not bound it to the
    mechanism. A tid must name one trajectory in all batches of the job, and only the caller,
    who sees all of them, can check that. If ``linked``, reports keep the tids; otherwise they
    get random ids.
    """
    trajectories = trajectories_of(batch, mechanism.locations, hours=mechanism.timed)
    tids = trajectories.tids
    # Bound to the identity, one key draws independent words for two mechanisms.
    named = randomness.bound_to(mechanism.identity).named(tids)
    drawn = perturb_many(mechanism, trajectories, named, path)
    names = tids if linked else report_ids(randomness, mechanism, tids)
    offsets = mechanism.report_offsets(trajectories.offsets)
    sequences = Sequences(offsets, drawn.locations, names)
    locations = None if mechanism.is_oracle else mechanism.locations
    return batch_of(sequences, locations, drawn.numbers)


@dataclass(frozen=True)
class Survey:
    """The size of a file of trajectories. All of it is public, since lengths are."""

    trajectories: int
    points: int
    single: int
    """Number of trajectories of one location."""


def survey(
    source: NestedFile, locations: LocationSet, progress: Progress | None = None
) -> Survey:
    """Read all trajectories once, and refuse unknown locations and repeated tids.

    Two trajectories with one tid would draw the same words, so that their two reports together
    would reveal more than epsilon allows. Tids are therefore compared exactly, in 8 bytes of
    memory for each.
    """
    points = single = 0
    for row, batch in source.batches():
        trajectories = source.trajectories(row, batch, locations)
        if source.hours and trajectories.hours is None:
            raise SchemaError(
                f"{source.path} must have a column {BEGIN} with the time at which each "
                "trajectory begins, but has none; add it, or leave out --when",
                code="columns_missing",
                missing=(BEGIN,),
            )
        points += len(trajectories.locations)
        single += int(np.count_nonzero(trajectories.lengths == 1))
        if progress is not None:
            progress(len(trajectories))
    repeated = repeated_tids(source)
    if repeated:
        raise SchemaError(
            f"{source.path}: every tid must name one trajectory, got {repeated} repeated of "
            f"{source.rows}; number the trajectories, or keep only one of each tid",
            code="tid_repeated",
            repeated=repeated,
            rows=source.rows,
        )
    return Survey(source.rows, points, single)
