"""The mechanisms by name. Registering one here is what gets it tested, audited and offered."""

import difflib
from typing import Any

from nomadp.errors import DomainError
from nomadp.locations import LocationSet
from nomadp.mechanisms.anchor import AnchoredPivotSampling
from nomadp.mechanisms.base import Mechanism, perturb_one
from nomadp.mechanisms.independent import IndependentPoints
from nomadp.mechanisms.pivot import PivotSampling
from nomadp.mechanisms.published import (
    PublishedAnchoredPivotSampling,
    PublishedPivotSampling,
)

__all__ = [
    "MECHANISMS",
    "PUBLISHED",
    "AnchoredPivotSampling",
    "IndependentPoints",
    "Mechanism",
    "PivotSampling",
    "make_mechanism",
    "perturb_one",
]

MECHANISMS: dict[str, type[Mechanism]] = {
    kind.name: kind for kind in (IndependentPoints, PivotSampling, AnchoredPivotSampling)
}
"""What may be used for people."""

PUBLISHED: dict[str, type[Mechanism]] = {
    kind.name: kind for kind in (PublishedPivotSampling, PublishedAnchoredPivotSampling)
}
"""What exists only to be measured; it has to be asked for by its full name."""


def make_mechanism(
    name: str, locations: LocationSet, epsilon: Any, **options: Any
) -> Mechanism:
    """The mechanism called ``name``; options it does not have are refused."""
    kinds = MECHANISMS | PUBLISHED
    if name not in kinds:
        close = difflib.get_close_matches(name.lower(), kinds, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise DomainError(
            f"unknown mechanism {name!r}; choose one of {', '.join(MECHANISMS)}{hint}"
        )
    known = kinds[name].__dataclass_fields__.keys() - {"locations", "epsilon"}
    if extra := options.keys() - known:
        raise DomainError(
            f"{name} takes the options {', '.join(sorted(known)) or 'none'}, "
            f"got {', '.join(sorted(extra))}"
        )
    return kinds[name](locations=locations, epsilon=epsilon, **options)
