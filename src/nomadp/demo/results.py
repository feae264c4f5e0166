"""Estimates from many reports, compared with the truth, which a real collector never sees.

The reports are simulated from a seed, so that the page is identical on every run. The module
`collection` draws fresh reports instead.
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

__all__ = ["SimulatedSurvey", "Pair", "simulate_survey"]

TOP = 10
SHOWN = 60
"""The number of true trajectories that are drawn."""


@dataclass(frozen=True)
class SimulatedSurvey:
    """The number of people, and how they report."""

    people: int = 20_000
    epsilon: str = "4"
    length: int = 3
    codewords: int = 256
    areas: str = "grid:16"


@dataclass(frozen=True)
class Pair:
    """The estimate and the truth of one query, and a sentence that compares them."""

    name: str
    mechanism: str
    estimate: Estimate
    true: Estimate
    comparison: str


def simulate_survey(survey: SimulatedSurvey, seed: int, places: int) -> list[Pair]:
    """Density, flows and trajectories from ATLAS, and hotspots from a frequency oracle."""
    city = synthetic_city(seed, places=places, trips=survey.people)
    resampled = _of_one_length(city.trajectories, survey.length)
    locations, epsilon = city.locations, as_epsilon(survey.epsilon)
    areas, districts = zones_of(locations, survey.areas), city_districts(locations, seed)
    pinned = build_pinned(locations, [survey.length], epsilon, survey.codewords)
    atlas = make_mechanism("atlas", locations, survey.epsilon, pinned=pinned)
    visits = make_mechanism("visits", locations, survey.epsilon, zones=survey.areas)
    queries: tuple[dict[str, Any], ...] = (
        {"kind": "density", "areas": survey.areas},
        {"kind": "flows", "areas": districts},
        {"kind": "trajectories"},
    )
    density, flows, journeys = _estimates(atlas, resampled, queries, seed)
    everybody = city.trajectories
    (hotspots,) = _estimates(visits, everybody, ({"kind": "hotspots"},), seed)
    return [
        Pair("density", "ATLAS", density, *_with_true_shares(density, resampled, areas)),
        Pair("flows", "ATLAS", flows, *_with_true_flows(flows, resampled, districts)),
        Pair("hotspots", "visits", hotspots, *_with_true_shares(hotspots, everybody, areas)),
        Pair("trajectories", "ATLAS", journeys, *_with_true_sample(journeys, resampled, city)),
    ]


def _of_one_length(trajectories: TrajectorySet, length: int) -> TrajectorySet:
    """Resample trajectories to one length, as devices do."""
    count = len(trajectories)
    rows = np.stack([resample(trajectories[k].tolist(), length) for k in range(count)])
    offsets = np.arange(count + 1) * length
    return TrajectorySet(offsets, rows.ravel(), tuple(map(str, range(count))))


def _estimates(
    mechanism: Mechanism,
    trajectories: TrajectorySet,
    queries: Sequence[Mapping[str, Any]],
    seed: int,
) -> list[Estimate]:
    randomness = SeededRandom(seed).bound_to(mechanism.identity)
    counts = counts_of(
        mechanism, perturb_set(mechanism, trajectories, randomness, keep_tids=True)
    )
    model = fit(mechanism, counts)
    tables = [run_query(mechanism, counts, query, model=model) for query in queries]
    return [with_shapes(table, mechanism.locations) for table in tables]


def _with_true_shares(
    estimate: Estimate, trajectories: TrajectorySet, areas: Zones
) -> tuple[Estimate, str]:
    """The true share of visits in each area."""
    visits = np.bincount(areas.of[trajectories.locations], minlength=len(areas)).astype(float)
    true = dict(zip(areas.names, visits / visits.sum(), strict=True))
    share = np.array([true[name] for name in estimate["zone"]])
    return _with_truth(estimate, "share", share), _comparison(estimate["share"], share, "areas")


def _with_true_flows(
    estimate: Estimate, trajectories: TrajectorySet, zones: Zones
) -> tuple[Estimate, str]:
    """The true share of trips for each origin-destination pair."""
    first, last = trajectories.offsets[:-1], trajectories.offsets[1:] - 1
    start, end = (zones.of[trajectories.locations[points]] for points in (first, last))
    count = np.bincount(start * len(zones) + end, minlength=len(zones) ** 2).astype(float)
    share = count / count.sum()
    # Most trips stay in their district, and maps do not show those.
    leaves = np.array(
        [a != b for a, b in zip(estimate["origin"], estimate["destination"], strict=True)]
    )
    comparison = _comparison(estimate["flow"][leaves], share[leaves], "flows between districts")
    return _with_truth(estimate, "flow", share), comparison


def _with_true_sample(
    estimate: Estimate, trajectories: TrajectorySet, city: City
) -> tuple[Estimate, str]:
    """Some true trajectories. They are not matched with decoded ones."""
    sample = trajectories.select(range(min(SHOWN, len(trajectories))))
    location = sample.locations
    column = {
        "tid": np.repeat(sample.tids, sample.lengths).tolist(),
        "seq": np.concatenate([np.arange(length) for length in sample.lengths]),
        "location_id": [city.locations.ids[k] for k in location],
        "lat": city.locations.lat[location],
        "lng": city.locations.lng[location],
    }
    middle_km = float(np.median(estimate["radius_km"]))
    comparison = (
        f"Half of the decoded points have a credible radius of {middle_km:.2g} km or less."
    )
    return Estimate("trajectories", column), comparison


def _with_truth(estimate: Estimate, value: str, share: Floats) -> Estimate:
    """The estimate's rows with the true shares, which have no uncertainty."""
    exact = {"ci_low": share, "ci_high": share, "significant": np.ones(len(share), bool)}
    return replace(estimate, columns={**estimate.columns, value: share, **exact})


def _comparison(estimate: Floats, true: Floats, noun: str) -> str:
    top = min(TOP, len(true))
    in_both = {*np.argsort(-estimate)[:top].tolist()} & {*np.argsort(-true)[:top].tolist()}
    # The total variation distance is half the L1 distance: the smallest share of the total
    # that has to move so that the estimate equals the truth.
    total_variation = float(np.abs(estimate - true).sum()) / 2
    return (
        f"{len(in_both)} of the {top} busiest {noun} are among the {top} with the highest "
        f"estimates. {100 * total_variation:.1f}\u00a0% of the total is in the wrong place."
    )
