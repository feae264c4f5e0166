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

    Bayes with the exact law: it is post-processing and costs nothing. ``mechanism`` is the one
    that made the ``reports``; without a ``prior`` anything is as likely. ``level`` is the
    probability with which the truth lies within the radius that comes with an estimate, if the
    prior is right. ``progress`` is told how many more reports are done. Raises `DomainError`
    for mechanisms whose reports do not tell what was released (TP, ATP, NGRAM).

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=4)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SimulatedWords(1))
    >>> estimate = nomadp.decode(brr, reports, level=0.5)
    >>> len(estimate) == len(reports.locations)
    True
    """
    return Decoders(mechanism, prior, level).decode(reports, progress)


def learn_prior(
    mechanism: Mechanism, reports: AnyReports, *, progress: Progress | None = None
) -> Prior:
    """Where people go, learned from all their reports of one mechanism together.

    ``reports`` of several mechanisms or epsilons: `nomadp.inference.learn` with the `groups_of`
    each. ``progress`` is told of every piece of learning that is done. Raises `ValueError` if
    there is no report, and `DomainError` as `decode` does.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SimulatedWords(1))
    >>> nomadp.learn_prior(brr, reports).location_weights().shape
    (50,)
    """
    return learn(mechanism.locations, groups_of(mechanism, reports), progress=progress)


def groups_of(mechanism: Mechanism, reports: AnyReports) -> list[Group]:
    """The reports by their law, distinct ones counted; what cannot be one is left out."""
    return groups_from(mechanism, Counts.of(mechanism, reports))
