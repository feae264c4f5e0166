"""From reports to estimates, whatever mechanism they came from.

Reports are what `perturb_set` returns or a file holds; what they stand for is read back from
the mechanism, which must be the one that made them.
"""

from nomadp.inference.decoders import Decoders, groups_from
from nomadp.inference.estimate import Estimate
from nomadp.inference.learning import Group, Progress, learn
from nomadp.inference.prior import Prior
from nomadp.mechanisms.base import Mechanism
from nomadp.reports.counts import Counts
from nomadp.reports.table import AnyReports

__all__ = ["decode", "groups_of", "learn_prior"]

LEVEL = 0.9


def decode(
    mechanism: Mechanism,
    reports: AnyReports,
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
    mechanism: Mechanism, reports: AnyReports, *, progress: Progress | None = None
) -> Prior:
    """Where people go, learned from all their reports of one mechanism together.

    Reports of several mechanisms or epsilons: `learn` with the `groups_of` each.
    """
    return learn(mechanism.locations, groups_of(mechanism, reports), progress=progress)


def groups_of(mechanism: Mechanism, reports: AnyReports) -> list[Group]:
    """The reports by their law, distinct ones counted; what cannot be one is left out."""
    return groups_from(mechanism, Counts.of(mechanism, reports))
