"""From reports to estimates, whatever mechanism they came from.

Reports are trajectories of reported locations, as `perturb_set` returns them; what they stand
for is read back from the mechanism, which must be the one that made them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.estimate import Estimate, check_level
from nomadp.inference.evidence import JourneyEvidence
from nomadp.inference.journeys import AtlasDecoder, possible_journeys, reported_indices
from nomadp.inference.learning import Group, learn
from nomadp.inference.points import PointDecoder, point_evidence
from nomadp.inference.prior import Prior
from nomadp.laws import Ints
from nomadp.mechanisms.atlas import WholeJourney
from nomadp.mechanisms.atlas.rows import by_length
from nomadp.mechanisms.base import Mechanism
from nomadp.mechanisms.independent import PointByPoint
from nomadp.trajectory import TrajectorySet

__all__ = ["decode", "groups_of", "learn_prior"]

LEVEL = 0.9


def decode(
    mechanism: Mechanism,
    reports: TrajectorySet,
    prior: Prior | None = None,
    *,
    level: float = LEVEL,
) -> Estimate:
    """The location with the smallest expected error for every reported point, in order."""
    check_level(level)
    reports.check_size(len(mechanism.locations))
    locations = np.empty(len(reports.locations), dtype=np.int64)
    radius = np.empty(len(locations))
    for length, where in _rows(reports):
        seen = reports.locations[where]
        if isinstance(mechanism, WholeJourney):
            decoder = AtlasDecoder(mechanism, length, prior, level)
            found = decoder.decode(reported_indices(mechanism, seen))
        elif isinstance(mechanism, PointByPoint):
            share = mechanism.split(length).shares()["point"]
            found = PointDecoder(mechanism, share, prior, level).decode(seen)
        else:
            raise _unknown(mechanism)
        locations[where], radius[where] = found.locations, found.radius_km
    return Estimate(locations, radius, level)


def learn_prior(mechanism: Mechanism, reports: TrajectorySet) -> Prior:
    """Where people go, learned from all their reports of one mechanism together.

    Reports of several mechanisms or epsilons: `learn` with the `groups_of` each.
    """
    return learn(mechanism.locations, groups_of(mechanism, reports))


def groups_of(mechanism: Mechanism, reports: TrajectorySet) -> list[Group]:
    """The reports by their law, distinct ones counted."""
    reports.check_size(len(mechanism.locations))
    return [
        _group(mechanism, length, reports.locations[where]) for length, where in _rows(reports)
    ]


def _group(mechanism: Mechanism, length: int, seen: Ints) -> Group:
    evidence: Any
    if isinstance(mechanism, WholeJourney):
        indices, counts = np.unique(reported_indices(mechanism, seen), return_counts=True)
        channel = mechanism.channel(length)
        evidence = JourneyEvidence(channel, possible_journeys(channel), indices)
    elif isinstance(mechanism, PointByPoint):
        points, counts = np.unique(seen, return_counts=True)
        evidence = point_evidence(mechanism, mechanism.split(length).shares()["point"], points)
    else:
        raise _unknown(mechanism)
    return Group(evidence, counts.astype(np.float64))


def _rows(reports: TrajectorySet) -> Iterator[tuple[int, Ints]]:
    """Each length that occurs, and where the points of its reports stand, one row each."""
    for length, these in by_length(reports):
        yield length, reports.offsets[these][:, None] + np.arange(length)


def _unknown(mechanism: Mechanism) -> DomainError:
    return DomainError(
        "reports can be decoded for atlas and for mechanisms that perturb each point on its "
        f"own, got {mechanism.name}, whose reported points do not tell what was released"
    )
