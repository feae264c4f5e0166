"""The mechanisms by name. Registering one here is what gets it tested, audited and offered."""

import difflib
from dataclasses import fields
from typing import Any

from nomadp.errors import DomainError
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas import WholeJourney
from nomadp.mechanisms.base import Mechanism, perturb_one
from nomadp.mechanisms.continuous.base import ContinuousMechanism
from nomadp.mechanisms.continuous.cgm import CorrelatedGaussian
from nomadp.mechanisms.continuous.tracs import CoordinateTracs, DirectionTracs
from nomadp.mechanisms.ngram.mechanism import Ngram
from nomadp.mechanisms.pivot.atp import AnchoredPivotSampling
from nomadp.mechanisms.pivot.published import (
    PublishedAnchoredPivotSampling,
    PublishedPivotSampling,
)
from nomadp.mechanisms.pivot.tp import PivotSampling
from nomadp.mechanisms.points.brr import BipartiteResponse
from nomadp.mechanisms.points.exp import IndependentPoints
from nomadp.mechanisms.points.l_srr import StaircaseResponse

__all__ = [
    "EXPERIMENTAL",
    "MECHANISMS",
    "PUBLISHED",
    "AnchoredPivotSampling",
    "BipartiteResponse",
    "IndependentPoints",
    "Mechanism",
    "Ngram",
    "PivotSampling",
    "StaircaseResponse",
    "WholeJourney",
    "make_mechanism",
    "perturb_one",
]

MECHANISMS: dict[str, type[Mechanism]] = {
    kind.name: kind
    for kind in (
        IndependentPoints,
        PivotSampling,
        AnchoredPivotSampling,
        BipartiteResponse,
        StaircaseResponse,
        Ngram,
        WholeJourney,
    )
}
"""What may be used for people."""

PUBLISHED: dict[str, type[Mechanism]] = {
    kind.name: kind for kind in (PublishedPivotSampling, PublishedAnchoredPivotSampling)
}
"""What exists only to be measured; it has to be asked for by its full name."""

EXPERIMENTAL: dict[str, type[ContinuousMechanism]] = {
    kind.name: kind for kind in (CorrelatedGaussian, CoordinateTracs, DirectionTracs)
}
"""What is only compared with: drawn from floats, so that nothing is guaranteed for it."""


def make_mechanism(
    name: str, locations: LocationSet, epsilon: Any, **options: Any
) -> Mechanism:
    """The mechanism called ``name``; options it does not have are refused."""
    kinds = {**MECHANISMS, **PUBLISHED, **EXPERIMENTAL}
    if name not in kinds:
        close = difflib.get_close_matches(name.lower(), kinds, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise DomainError(
            f"unknown mechanism {name!r}; choose one of {', '.join(MECHANISMS)}{hint}"
        )
    known = {field.name for field in fields(kinds[name])} - {"locations", "epsilon"}
    if extra := options.keys() - known:
        takes = f"only the options {', '.join(sorted(known))}" if known else "no options"
        raise DomainError(f"{name} takes {takes}, got {', '.join(sorted(extra))}")
    return kinds[name](locations=locations, epsilon=epsilon, **options)
