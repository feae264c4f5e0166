"""Planning: which mechanism has the smaller error for a query, before anybody has reported.

Only ATLAS reports trajectories. Hotspots, density and flows can be estimated with a frequency
oracle or from ATLAS reports. Which error is smaller depends on epsilon, the map, the number of
areas and the number of people. Both are simulated on a public population (`populations.py`).
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.analysis.populations import Population, SimulatedQuery
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
"""The frequency oracle for each kind of query."""
DRAWS = 10
"""Simulations of the frequency oracle, whose errors are averaged; ATLAS is simulated once."""
REACHED = 0.5
"""A query is feasible if the error is at most this part of the uniform baseline's error."""


@dataclass(frozen=True)
class Advice:
    """The simulated errors for a query. An error is the part of people in a wrong area."""

    wish: str
    question: str
    zones: str
    labels: int
    people: int
    epsilon: Fraction | int
    errors: dict[str, float]
    """The errors of the frequency oracle (direct: smoothed; raw), of ATLAS, of a sample without
    privacy (no privacy), and of the uniform baseline (flat)."""
    deviation: float = 0.0
    """The mean standard error of the frequency oracle's raw shares, from its exact variance."""
    enough: int = 0
    """The number of people with which even the oracle's raw shares are feasible."""
    coarser: "Advice | None" = None
    """If this is not feasible: the advice for the finest coarser areas that are."""

    @property
    def better(self) -> str:
        """The mechanism with the smaller error; in a tie the oracle, whose error is known."""
        return self.question if self.errors["direct"] <= self.errors["atlas"] else "atlas"

    @property
    def best(self) -> float:
        """The smaller of the two errors."""
        return min(self.errors["direct"], self.errors["atlas"])

    @property
    def times(self) -> float:
        """The ratio of the larger to the smaller error."""
        low, high = sorted([self.errors["direct"], self.errors["atlas"]])
        return high / low if low else 1.0

    @property
    def tells(self) -> bool:
        """Whether the smaller error is below that of the uniform baseline."""
        return self.best < self.errors["flat"]

    @property
    def in_reach(self) -> bool:
        """Whether the query is feasible: see `REACHED`."""
        return self.best <= REACHED * self.errors["flat"]

    def as_dict(self) -> dict[str, Any]:
        verdict = {"better": self.better, "tells": self.tells, "in_reach": self.in_reach}
        coarser = None if self.coarser is None else self.coarser.as_dict()
        return {**asdict(self), **verdict, "coarser": coarser}


def advise(
    wish: str,
    atlas: Atlas,
    people: int,
    zones: str | Zones | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Compare the frequency oracle with ATLAS for a query, at the same epsilon and areas.

    If neither is feasible, coarser areas are tried until one is.
    """
    kind = ORACLES[wish]
    oracle = kind(locations=atlas.locations, epsilon=atlas.epsilon, zones=zones or kind.zones)
    population = Population(atlas.locations, people)
    bootstrap = population.fit(atlas, progress)
    advice = _advised(wish, SimulatedQuery(population, oracle), bootstrap)
    if advice.in_reach:
        return advice
    for larger in _coarser(oracle.partition):
        query = SimulatedQuery(population, oracle.with_params(zones=larger))
        coarser = _advised(wish, query, bootstrap)
        if coarser.in_reach:
            return replace(advice, coarser=coarser)
    return advice


def _advised(wish: str, query: SimulatedQuery, bootstrap: BootstrapFit) -> Advice:
    rng = np.random.default_rng(3)  # nothing private is drawn
    oracle, people, raw = query.oracle, query.population.people, query.raw_error
    baseline = query.error(query.baseline)
    errors = {
        "direct": float(np.mean([query.oracle_error(rng) for _ in range(DRAWS)])),
        "raw": min(1.0, raw),
        "atlas": query.model_error(bootstrap),
        "no privacy": query.error(query.shares_of(query.population.walkers / people)),
        "flat": baseline,
    }
    # A variance is inversely proportional to the number of people, an error to its root.
    enough = math.ceil(people * (raw / (REACHED * baseline)) ** 2) if baseline else people
    rule, labels = oracle.partition.rule, oracle.label_count
    facts = (wish, oracle.name, rule, labels, people, oracle.epsilon, errors)
    return Advice(*facts, float(query.std_error.mean()), enough)


def _coarser(zones: Zones) -> Iterator[Zones]:
    """Coarser areas: grids with half the rows, or larger H3 cells; none for polygons."""
    kind, _, number = zones.rule.partition(":")
    resolution = int(number) if kind in ("grid", "h3") else 0
    coarser = range(resolution - 1, -1, -1) if kind == "h3" else _halves(resolution)
    for level in coarser:
        larger = zones_of(zones.locations, f"{kind}:{level}")
        if len(larger) == 1:  # contains everybody, so its share is known
            return
        yield larger


def _halves(number: int) -> Iterator[int]:
    while number >= 4:
        number //= 2
        yield number
