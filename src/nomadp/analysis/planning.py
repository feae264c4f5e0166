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

__all__ = ["FEASIBLE", "ORACLES", "Advice", "advise"]

ORACLES: dict[str, type[FrequencyOracle]] = {
    "hotspots": Visits,
    "density": Visits,
    "flows": Trips,
}
"""The frequency oracle for each kind of query."""
DRAWS = 10
"""Simulations of the frequency oracle, whose errors are averaged; ATLAS is simulated once."""
FEASIBLE = 0.5
"""A query is feasible if the error is at most this part of the uniform baseline's error."""


@dataclass(frozen=True)
class Advice:
    """The simulated errors for a query. An error is the part of people in a wrong area."""

    query: str
    oracle: str
    zones: str
    labels: int
    people: int
    epsilon: Fraction | int
    errors: dict[str, float]
    """The errors of the frequency oracle (oracle: with shrinkage; raw: without), of ATLAS, of a
    sample without privacy (sampling), and of the uniform baseline."""
    std_error: float = 0.0
    """The mean standard error of the frequency oracle's raw shares, from its exact variance."""
    people_needed: int = 0
    """The number of people with which even the oracle's raw shares are feasible."""
    coarser: "Advice | None" = None
    """If this is not feasible: the advice for the finest coarser areas that are."""

    @property
    def better(self) -> str:
        """The mechanism with the smaller error; in a tie the oracle, whose error is known."""
        return self.oracle if self.errors["oracle"] <= self.errors["atlas"] else "atlas"

    @property
    def best(self) -> float:
        """The smaller of the two errors."""
        return min(self.errors["oracle"], self.errors["atlas"])

    @property
    def error_ratio(self) -> float:
        """The ratio of the larger to the smaller error."""
        low, high = sorted([self.errors["oracle"], self.errors["atlas"]])
        return high / low if low else 1.0

    @property
    def informative(self) -> bool:
        """Whether the smaller error is below that of the uniform baseline."""
        return self.best < self.errors["baseline"]

    @property
    def feasible(self) -> bool:
        """Whether the query is feasible: see `FEASIBLE`."""
        return self.best <= FEASIBLE * self.errors["baseline"]

    def as_dict(self) -> dict[str, Any]:
        verdict = {
            "better": self.better,
            "informative": self.informative,
            "feasible": self.feasible,
        }
        coarser = None if self.coarser is None else self.coarser.as_dict()
        return {**asdict(self), **verdict, "coarser": coarser}


def advise(
    query: str,
    atlas: Atlas,
    people: int,
    zones: str | Zones | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Compare the frequency oracle with ATLAS for a query, at the same epsilon and areas.

    If neither is feasible, coarser areas are tried until one is.
    """
    kind = ORACLES[query]
    oracle = kind(locations=atlas.locations, epsilon=atlas.epsilon, zones=zones or kind.zones)
    population = Population(atlas.locations, people)
    bootstrap = population.fit(atlas, progress)
    advice = _advised(query, SimulatedQuery(population, oracle), bootstrap)
    if advice.feasible:
        return advice
    for larger in _coarser(oracle.partition):
        simulated = SimulatedQuery(population, oracle.with_params(zones=larger))
        coarser = _advised(query, simulated, bootstrap)
        if coarser.feasible:
            return replace(advice, coarser=coarser)
    return advice


def _advised(query: str, simulated: SimulatedQuery, bootstrap: BootstrapFit) -> Advice:
    rng = np.random.default_rng(3)  # nothing private is drawn
    oracle, people, raw = simulated.oracle, simulated.population.people, simulated.raw_error
    baseline = simulated.error(simulated.baseline)
    sampled = simulated.population.walkers / people  # the error that remains without privacy
    errors = {
        "oracle": float(np.mean([simulated.oracle_error(rng) for _ in range(DRAWS)])),
        "raw": min(1.0, raw),
        "atlas": simulated.model_error(bootstrap),
        "sampling": simulated.error(simulated.shares_of(sampled)),
        "baseline": baseline,
    }
    # The error of raw shares falls with the square root of the number of people.
    people_needed = (
        math.ceil(people * (raw / (FEASIBLE * baseline)) ** 2) if baseline else people
    )
    rule, labels = oracle.partition.rule, oracle.label_count
    facts = (query, oracle.name, rule, labels, people, oracle.epsilon, errors)
    return Advice(*facts, float(simulated.std_error.mean()), people_needed)


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
