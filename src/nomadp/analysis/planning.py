"""Which mechanism serves a wish better, before anybody has sent anything.

Journeys are what ATLAS reports. Hotspots, density and flows may be asked for directly, or
estimated from ATLAS' journeys; which errs less depends on epsilon, on the map, on how fine its
areas are and on how many people answer. Both are simulated on a public crowd (`crowds.py`).
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.analysis.populations import Asked, Population
from nomadp.inference.empirical_bayes import Progress
from nomadp.inference.shares import BootstrapFit
from nomadp.mechanisms.atlas import Atlas
from nomadp.mechanisms.oracles import FrequencyOracle, Trips, Visits
from nomadp.zones import Zones, zones_of

__all__ = ["REACHED", "ORACLES", "Advice", "advise"]

ORACLES: dict[str, type[FrequencyOracle]] = {
    "hotspots": Visits,
    "density": Visits,
    "flows": Trips,
}
"""The question that asks for each."""
DRAWS = 10
"""How often the answers to a direct question are drawn; of ATLAS, once."""
REACHED = 0.5
"""A wish is in reach where an answer errs at most so many times as much as flat does."""


@dataclass(frozen=True)
class Advice:
    """What was found for a wish; an error is the part of people put in a wrong zone."""

    wish: str
    question: str
    zones: str
    labels: int
    people: int
    epsilon: Fraction | int
    errors: dict[str, float]
    """Of the direct question, smoothed and raw, of ATLAS estimated, and of what no privacy
    (sampling alone) and no information (flat) give."""
    deviation: float = 0.0
    """Of the share of a label, on average, asked directly and raw: by its exact variance."""
    enough: int = 0
    """So many people bring even the raw answers to a direct question into reach."""
    coarser: "Advice | None" = None
    """Where this is out of reach: the same for the finest of the coarser areas that are not."""

    @property
    def better(self) -> str:
        """The mechanism that errs less; a tie goes to the question, whose error is known."""
        return self.question if self.errors["direct"] <= self.errors["atlas"] else "atlas"

    @property
    def best(self) -> float:
        """The error of the better one."""
        return min(self.errors["direct"], self.errors["atlas"])

    @property
    def times(self) -> float:
        """How many times more the other errs."""
        low, high = sorted([self.errors["direct"], self.errors["atlas"]])
        return high / low if low else 1.0

    @property
    def tells(self) -> bool:
        """Whether the better one tells anything that nobody would say without reports."""
        return self.best < self.errors["flat"]

    @property
    def in_reach(self) -> bool:
        """Whether it tells enough to be asked for."""
        return self.best <= REACHED * self.errors["flat"]

    def as_dict(self) -> dict[str, Any]:
        said = {"better": self.better, "tells": self.tells, "in_reach": self.in_reach}
        coarser = None if self.coarser is None else self.coarser.as_dict()
        return {**asdict(self), **said, "coarser": coarser}


def advise(
    wish: str,
    atlas: Atlas,
    people: int,
    zones: str | Zones | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Compare a direct question with ATLAS, both at the same epsilon, on the same map.

    Where neither reaches the wish, ever coarser areas are tried until one does.
    """
    kind = ORACLES[wish]
    question = kind(locations=atlas.locations, epsilon=atlas.epsilon, zones=zones or kind.zones)
    crowd = Population(atlas.locations, people)
    bootstrap = crowd.surveyed(atlas, progress)
    found = _advised(wish, Asked(crowd, question), bootstrap)
    if found.in_reach:
        return found
    for larger in _coarser(question.partition):
        asked = Asked(crowd, question.with_params(zones=larger))
        tried = _advised(wish, asked, bootstrap)
        if tried.in_reach:
            return replace(found, coarser=tried)
    return found


def _advised(wish: str, asked: Asked, bootstrap: BootstrapFit) -> Advice:
    rng = np.random.default_rng(3)  # nothing private is drawn
    question, people, raw = asked.question, asked.crowd.people, asked.raw_error
    flat = asked.error(asked.flat)
    errors = {
        "direct": float(np.mean([asked.direct_error(rng) for _ in range(DRAWS)])),
        "raw": min(1.0, raw),
        "atlas": asked.estimated_error(bootstrap),
        "no privacy": asked.error(asked.counted(asked.crowd.walkers / people)),
        "flat": flat,
    }
    # A variance falls with the number of people, and an error with its root.
    enough = math.ceil(people * (raw / (REACHED * flat)) ** 2) if flat else people
    rule, labels = question.partition.rule, question.label_count
    named = (wish, question.name, rule, labels, people, question.epsilon, errors)
    return Advice(*named, float(asked.deviation.mean()), enough)


def _coarser(zones: Zones) -> Iterator[Zones]:
    """Grids of half as many rows, cells one resolution up; of polygons nobody can tell."""
    kind, _, number = zones.rule.partition(":")
    fine = int(number) if kind in ("grid", "h3") else 0
    steps = range(fine - 1, -1, -1) if kind == "h3" else _halves(fine)
    for each in steps:
        larger = zones_of(zones.locations, f"{kind}:{each}")
        if len(larger) == 1:  # holds everybody, and tells nothing
            return
        yield larger


def _halves(number: int) -> Iterator[int]:
    while number >= 4:
        number //= 2
        yield number
