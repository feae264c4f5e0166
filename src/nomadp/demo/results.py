"""What a collector learns from the reports of many, beside what it never sees: the truth.

Simulated from a seed like all of the page, so that the page is the same on every run; the
collection that is held beside it (see `collection`) draws anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nomadp.answers import run_query
from nomadp.answers.estimate import Estimate
from nomadp.answers.picture import with_shapes
from nomadp.budget import as_epsilon
from nomadp.datasets.city import City, synthetic_city
from nomadp.datasets.city_districts import city_districts
from nomadp.engine.local import perturb_set
from nomadp.geometry import Floats
from nomadp.inference.model import fit
from nomadp.mechanisms import Mechanism, make_mechanism
from nomadp.mechanisms.atlas import build_pinned
from nomadp.protocol import resample
from nomadp.randomness import SeededRandom
from nomadp.reports.counts import counts_of
from nomadp.trajectory import TrajectorySet
from nomadp.zones import Zones, zones_of

__all__ = ["Gathering", "Pair", "gathered"]

TOP = 10
SHOWN = 60
"""True journeys that are drawn."""


@dataclass(frozen=True)
class Gathering:
    """How many people report, and how."""

    people: int = 20_000
    epsilon: str = "4"
    length: int = 3
    journeys: int = 256
    areas: str = "grid:16"


@dataclass(frozen=True)
class Pair:
    """One question: its answer, the truth in the same form, and how near the one is."""

    name: str
    asked: str
    learned: Estimate
    true: Estimate
    nearness: str


def gathered(how: Gathering, seed: int, places: int) -> list[Pair]:
    """Density, flows, hotspots and journeys; hotspots are asked directly, the rest of ATLAS."""
    city = synthetic_city(seed, places=places, trips=how.people)
    moved = _of_one_length(city.trajectories, how.length)
    locations, epsilon = city.locations, as_epsilon(how.epsilon)
    areas, between = zones_of(locations, how.areas), city_districts(locations, seed)
    pinned = build_pinned(locations, [how.length], epsilon, how.journeys)
    atlas = make_mechanism("atlas", locations, how.epsilon, pinned=pinned)
    visits = make_mechanism("visits", locations, how.epsilon, zones=how.areas)
    asked: tuple[dict[str, Any], ...] = (
        {"kind": "density", "areas": how.areas},
        {"kind": "flows", "areas": between},
        {"kind": "trajectories"},
    )
    density, flows, journeys = _answers(atlas, moved, asked, seed)
    (hotspots,) = _answers(visits, city.trajectories, ({"kind": "hotspots"},), seed)
    return [
        Pair("density", "ATLAS", density, *_placed(density, moved, areas)),
        Pair("flows", "ATLAS", flows, *_between(flows, moved, between)),
        Pair("hotspots", "visits", hotspots, *_placed(hotspots, city.trajectories, areas)),
        Pair("trajectories", "ATLAS", journeys, *_sample(journeys, moved, city)),
    ]


def _of_one_length(journeys: TrajectorySet, length: int) -> TrajectorySet:
    """As devices bring them to the length of their task."""
    count = len(journeys)
    rows = np.stack([resample(journeys[k].tolist(), length) for k in range(count)])
    offsets = np.arange(count + 1) * length
    return TrajectorySet(offsets, rows.ravel(), tuple(map(str, range(count))))


def _answers(
    mechanism: Mechanism,
    journeys: TrajectorySet,
    asked: Sequence[Mapping[str, Any]],
    seed: int,
) -> list[Estimate]:
    randomness = SeededRandom(seed).bound_to(mechanism.identity)
    counts = counts_of(mechanism, perturb_set(mechanism, journeys, randomness, keep_tids=True))
    learned = fit(mechanism, counts)
    found = [run_query(mechanism, counts, question, model=learned) for question in asked]
    return [with_shapes(each, mechanism.locations) for each in found]


def _placed(answer: Estimate, journeys: TrajectorySet, areas: Zones) -> tuple[Estimate, str]:
    """The true share of visits in each area."""
    visits = np.bincount(areas.of[journeys.locations], minlength=len(areas)).astype(float)
    true = dict(zip(areas.names, visits / visits.sum(), strict=True))
    share = np.array([true[name] for name in answer["zone"]])
    return _known(answer, "share", share), _nearness(answer["share"], share, "areas")


def _between(answer: Estimate, journeys: TrajectorySet, zones: Zones) -> tuple[Estimate, str]:
    """The true share of trips from each area to each."""
    first, last = journeys.offsets[:-1], journeys.offsets[1:] - 1
    start, end = (zones.of[journeys.locations[at]] for at in (first, last))
    count = np.bincount(start * len(zones) + end, minlength=len(zones) ** 2).astype(float)
    share = count / count.sum()
    # Most stay where they are, which no map shows.
    leave = np.array(
        [a != b for a, b in zip(answer["origin"], answer["destination"], strict=True)]
    )
    words = _nearness(answer["flow"][leave], share[leave], "flows between districts")
    return _known(answer, "flow", share), words


def _sample(answer: Estimate, journeys: TrajectorySet, city: City) -> tuple[Estimate, str]:
    """Some true journeys: a report is decoded alone, so none of them has a counterpart."""
    some = journeys.select(range(min(SHOWN, len(journeys))))
    place = some.locations
    column = {
        "tid": np.repeat(some.tids, some.lengths).tolist(),
        "seq": np.concatenate([np.arange(length) for length in some.lengths]),
        "location_id": [city.locations.ids[k] for k in place],
        "lat": city.locations.lat[place],
        "lng": city.locations.lng[place],
    }
    middle_km = float(np.median(answer["radius_km"]))
    words = f"Half of the decoded points have a credible radius of {middle_km:.2g} km or less."
    return Estimate("trajectories", column), words


def _known(answer: Estimate, value: str, share: Floats) -> Estimate:
    """The answer's rows, with the truth in them and no doubt about it."""
    sure = {"ci_low": share, "ci_high": share, "significant": np.ones(len(share), bool)}
    return replace(answer, columns={**answer.columns, value: share, **sure})


def _nearness(learned: Floats, true: Floats, of: str) -> str:
    top = min(TOP, len(true))
    found = {*np.argsort(-learned)[:top].tolist()} & {*np.argsort(-true)[:top].tolist()}
    apart = float(np.abs(learned - true).sum()) / 2
    return (
        f"{len(found)} of the {top} busiest {of} are among the {top} with the highest "
        f"estimates. {100 * apart:.1f}\u00a0% of the total is in the wrong place."
    )
