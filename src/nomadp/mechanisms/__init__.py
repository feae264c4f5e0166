"""The registry of mechanisms. A registered mechanism is tested, audited and offered.

Our mechanisms are registered here, those of other packages by an entry point (`plugins.py`).
"""

import difflib
from dataclasses import fields
from typing import Any

from nomadp.errors import DomainError, WrongType
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas import Atlas
from nomadp.mechanisms.base import Mechanism, Report, SimulatedReport, perturb_one
from nomadp.mechanisms.continuous.base import ContinuousMechanism
from nomadp.mechanisms.continuous.cgm import CorrelatedGaussian
from nomadp.mechanisms.continuous.tracs import CoordinateTracs, DirectionTracs
from nomadp.mechanisms.ngram.mechanism import Ngram
from nomadp.mechanisms.oracles import Ends, FrequencyOracle, Starts, Trips, Visits
from nomadp.mechanisms.pivot.atp import AnchoredPivotSampling
from nomadp.mechanisms.pivot.published import (
    PublishedAnchoredPivotSampling,
    PublishedPivotSampling,
)
from nomadp.mechanisms.pivot.tp import PivotSampling
from nomadp.mechanisms.plugins import load_plugins
from nomadp.mechanisms.points.brr import BipartiteResponse
from nomadp.mechanisms.points.exp import IndependentPoints, PointByPoint
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
    "PointByPoint",
    "FrequencyOracle",
    "Report",
    "SimulatedReport",
    "StaircaseResponse",
    "Atlas",
    "kind_of",
    "make_mechanism",
    "mechanism_names",
    "perturb_one",
    "plugin_problems",
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
        Atlas,
        Trips,
        Starts,
        Ends,
        Visits,
    )
}
"""Private mechanisms, which may be used for people."""

PUBLISHED: dict[str, type[Mechanism]] = {
    kind.name: kind for kind in (PublishedPivotSampling, PublishedAnchoredPivotSampling)
}
"""Published mechanisms that are not private: for comparison only, by their full name."""

EXPERIMENTAL: dict[str, type[ContinuousMechanism]] = {
    kind.name: kind for kind in (CorrelatedGaussian, CoordinateTracs, DirectionTracs)
}
"""Continuous mechanisms for comparison only: drawn with floats, without a proven guarantee."""


_OURS: dict[str, type[Mechanism]] = {**MECHANISMS, **PUBLISHED, **EXPERIMENTAL}


def make_mechanism(
    name: str, locations: LocationSet, epsilon: Any, **options: Any
) -> Mechanism:
    """Make a mechanism over a location set.

    Args:
        name: One of `mechanism_names`, or a mechanism for experiments only.
        locations: The public location set.
        epsilon: The budget of one trajectory, as `as_epsilon` reads it.
        options: The fields of the mechanism, with units in their names (``radius_km``).

    Returns:
        The mechanism, a frozen value without randomness and data.

    Raises:
        DomainError: The name or an option is unknown, or an option is out of range.
        BudgetError: Epsilon is out of range.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> nomadp.make_mechanism("brr", city.locations, "0.5", near_count=5).get_params()
    {'epsilon': '1/2', 'near_count': 5}
    """
    kind = kind_of(name)
    names = {field.name for field in fields(kind)} - {"locations", "epsilon"}
    if extra := options.keys() - names:
        takes = f"only the options {', '.join(sorted(names))}" if names else "no options"
        raise DomainError(
            f"{name} takes {takes}, got {', '.join(sorted(extra))}",
            code="unknown_options",
            mechanism=name,
            options=tuple(sorted(extra)),
        )
    value: Any = locations
    if not isinstance(value, LocationSet):  # a path also has a length
        raise WrongType(
            f"locations must be a LocationSet, got {type(value).__name__}; use read_locations "
            "to read a file or a frame",
            code="location_set_required",
            type=type(value).__name__,
        )
    return kind(locations=locations, epsilon=epsilon, **options)


def kind_of(name: str) -> type[Mechanism]:
    """The mechanism class with this name, ours or another package's."""
    if name in _OURS:
        return _OURS[name]
    others = load_plugins(_OURS)
    if name in others.kinds:
        return others.kinds[name]
    if name in others.problems:
        raise others.problems[name]
    close = difflib.get_close_matches(name.lower(), [*_OURS, *others.kinds], n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise DomainError(
        f"unknown mechanism {name!r}; choose one of {', '.join(mechanism_names())}{hint}",
        code="unknown_mechanism",
        mechanism=name,
    )


def mechanism_names() -> tuple[str, ...]:
    """Names of all private mechanisms: ours, then those of other packages.

    Returns:
        The names. Mechanisms of other packages that cannot be loaded are left out.

    >>> import nomadp
    >>> nomadp.mechanism_names()[:3]
    ('exp', 'tp', 'atp')
    """
    others = load_plugins(_OURS).kinds
    return (*MECHANISMS, *(name for name, kind in others.items() if kind.private))


def plugin_problems() -> tuple[str, ...]:
    """Reasons why mechanisms of other packages cannot be used, a sentence for each."""
    return tuple(map(str, load_plugins(_OURS).problems.values()))
