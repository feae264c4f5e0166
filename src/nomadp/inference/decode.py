"""From reports to estimates, whatever mechanism they came from.

Reports are trajectories of reported locations, as `perturb_set` returns them; what they stand
for is read back from the mechanism, which must be the one that made them.
"""

import numpy as np

from nomadp.inference.decoders import Decoders, group_of, reported_values
from nomadp.inference.estimate import Estimate
from nomadp.inference.learning import Group, Progress, learn
from nomadp.inference.prior import Prior
from nomadp.mechanisms.base import Mechanism
from nomadp.trajectory import TrajectorySet

__all__ = ["decode", "groups_of", "learn_prior"]

LEVEL = 0.9


def decode(
    mechanism: Mechanism,
    reports: TrajectorySet,
    prior: Prior | None = None,
    *,
    level: float = LEVEL,
    progress: Progress | None = None,
) -> Estimate:
    """The location with the smallest expected error for every reported point, in order.

    ``progress`` is told how many more reports are done.
    """
    return Decoders(mechanism, prior, level).decode(reports, progress)


def learn_prior(
    mechanism: Mechanism, reports: TrajectorySet, *, progress: Progress | None = None
) -> Prior:
    """Where people go, learned from all their reports of one mechanism together.

    Reports of several mechanisms or epsilons: `learn` with the `groups_of` each.
    """
    return learn(mechanism.locations, groups_of(mechanism, reports), progress=progress)


def groups_of(mechanism: Mechanism, reports: TrajectorySet) -> list[Group]:
    """The reports by their law, distinct ones counted."""
    return [
        group_of(mechanism, length, *np.unique(values, return_counts=True))
        for length, _, values in reported_values(mechanism, reports)
    ]
