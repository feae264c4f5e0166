"""Arrow batches perturbed one at a time, in whatever order and process: streams and clusters.

Every trajectory draws from the stream of words that bears its tid. So neither the batch it is
in, nor its place there, nor who perturbs it changes its report or the report's id.
"""

import pyarrow as pa

from nomadp.formats.trajectory_batches import TRAJECTORY_SCHEMA, trajectories_of
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.paths import perturb_many
from nomadp.randomness import Words
from nomadp.reports.batches import batch_of
from nomadp.reports.table import report_ids
from nomadp.sequences import Sequences

__all__ = ["TRAJECTORY_SCHEMA", "perturb_batch", "trajectories_of"]


def perturb_batch(
    mechanism: Mechanism, words: Words, batch: pa.RecordBatch, path: str, *, linked: bool
) -> pa.RecordBatch:
    """The reports of a batch, in its order, drawn by this path (mechanisms/paths.py).

    ``words`` are the keyed source of the whole job: here they are bound to the mechanism, and
    their streams named by tid. A tid must stand for one trajectory in all batches of a job;
    only the caller, who sees all of them, can make sure of that. Reports bear the tids if
    ``linked``, else random ids.
    """
    true = trajectories_of(batch, mechanism.locations)
    named = words.bound_to(mechanism.identity).named(true.tids)
    drawn = perturb_many(mechanism, true, named, path)
    names = true.tids if linked else report_ids(words, mechanism, true.tids)
    rows = Sequences(true.offsets, drawn.locations, names)
    return batch_of(rows, mechanism.locations, drawn.numbers)
