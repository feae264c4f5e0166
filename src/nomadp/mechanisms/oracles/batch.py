"""The fast path of frequency oracles: many trajectories at once, bit for bit as one by one."""

import numpy as np

from nomadp.laws import Ints, SubsetSelection
from nomadp.laws.channel import high_product
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.limits import rows_at_once
from nomadp.mechanisms.oracles.base import FrequencyOracle
from nomadp.mechanisms.oracles.kinds import Visits
from nomadp.randomness import RandomSource
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many"]

_NUMBERS_AT_ONCE = 1 << 25
"""Words, and marks of labels that are in a set, in memory at a time."""


def draw_many(
    mechanism: FrequencyOracle, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    law, count = mechanism.channel, len(trajectories)
    labels = law.size if isinstance(law, SubsetSelection) else 0
    step = rows_at_once(_NUMBERS_AT_ONCE, law.word_count + labels)
    reports = np.empty((count, law.entries), dtype=np.int64)
    for first in range(0, count, step):
        batch = np.arange(first, min(first + step, count))
        reports[batch] = _drawn(mechanism, trajectories, randomness, batch)
    return Reported(reports.ravel(), None)


def _drawn(
    mechanism: FrequencyOracle,
    trajectories: TrajectorySet,
    randomness: RandomSource,
    batch: Ints,
) -> Ints:
    """The reports of a batch of trajectories, given by their indices."""
    law, hours = mechanism.channel, mechanism.hours_of(trajectories)
    first, last = trajectories.offsets[batch], trajectories.offsets[batch + 1] - 1
    if isinstance(mechanism, Visits):
        # The first word selects the point, as in `Visits._visit`.
        rows = randomness.rows(batch, 1 + law.word_count)
        points, rows = (first + high_product(rows[:, 0], last + 1 - first))[None], rows[:, 1:]
    else:
        rows = randomness.rows(batch, law.word_count)
        points = np.stack([first, last])
    zones = mechanism.partition.of[trajectories.locations[points]]
    labels = mechanism.labels_at(zones, None if hours is None else hours[batch])
    return law.drawn(labels, rows)
