"""The error of the collector's estimates, by mechanism.

python benchmarks/estimates.py RESULTS [--data DIR] [--sets chi,city] [--again atlas] [--quick]
        [--only atlas]      the other mechanisms keep their rows in docs/measured.json
python benchmarks/estimates_tables.py RESULTS     write docs/measured.json
python docs/generate.py                           update the documents

The parameters of ATLAS were chosen on one half of each data set. This uses the held-out half,
with seeds that are used for nothing else. The new city, the new scatter and the new tracks were
only generated for this measurement. The tracks are long, and only ATLAS reports long tracks, so
only ATLAS is measured on them. RESULTS keeps finished work, which is not repeated except for
the mechanisms in --again.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from long_tracks import gps_tracks

from nomadp.analysis.metrics import error_km_each, within_percent_each
from nomadp.datasets.built import read_built
from nomadp.datasets.city import synthetic_city
from nomadp.engine import perturb_set
from nomadp.inference import Prior, decode, fit_prior
from nomadp.inference.pivots import decode_released
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism, make_mechanism
from nomadp.randomness import SeededRandom
from nomadp.reports import AnyReports
from nomadp.trajectory import TrajectorySet

EPSILONS = ("1", "2", "4", "6", "8", "10")
COUNTED_AT = ("4", "8")
DECODED = ("atlas", "brr", "l-srr", "exp")
"""Mechanisms whose reports are decoded one by one, with a uniform and a fitted prior."""
PIVOTS = ("tp", "atp")
"""Mechanisms whose transcripts are decoded for fewer trips, because each takes 0.1 s."""
RAW = ("ngram",)
MECHANISMS = (*DECODED, *PIVOTS, *RAW)
PAPER_SETS = ("nyc", "chi", "cle", "cps")
NEW_SETS = ("new-city", "new-scatter")
NEW_TRACKS = "new-tracks"
TRACKS, TRACK_LENGTHS = 1000, (50, 101, 200, 348, 500)
SEED, HALVES = 20261115, 5
LINKED = {"jobs": 2, "keep_tids": True}  # reports in the order of their trips
TRIPS_OF_PIVOTS = 200
RATIO_DRAWS = 5


@dataclass(frozen=True, eq=False)
class Subject:
    """A data set: trajectories that are reported, and the other half for comparison."""

    name: str
    locations: LocationSet
    true: TrajectorySet
    others: TrajectorySet

    @cached_property
    def sample(self) -> TrajectorySet:
        count = min(TRIPS_OF_PIVOTS, len(self.true))
        chosen = np.random.default_rng(SEED).choice(len(self.true), count, replace=False)
        return self.true.select(np.sort(chosen))

    @property
    def near_km(self) -> float:
        return 0.25 if self.locations.diameter_km < 10 else 1.0

    def scores(self, answers: Any, true: TrajectorySet | None = None) -> dict[str, float]:
        """The normalised error, and the percentage of points near the true ones."""
        true = self.true if true is None else true
        reported = TrajectorySet(true.offsets, answers, true.tids)
        error = error_km_each(self.locations, true, reported) / self.locations.diameter_km
        prq = within_percent_each(self.locations, true, reported, self.near_km)
        return {"ne": float(error.mean()), "prq": float(prq.mean())}


def subject(name: str, folder: Path | None, *, quick: bool) -> Subject:
    if name in PAPER_SETS:
        locations, true = _paper_set(folder, name)
    elif name == "new-city":
        city = synthetic_city(SEED, places=900, trips=4000)
        locations, true = city.locations, city.trajectories
    elif name == NEW_TRACKS:
        locations, true = _tracks(quick=quick)
    else:
        locations, true = _scatter()
    order = np.random.default_rng(HALVES).permutation(len(true))
    if quick:
        order = order[:400]
    half = len(order) // 2
    chosen, reporting = np.sort(order[:half]), np.sort(order[half:])
    return Subject(name, locations, true.select(reporting), true.select(chosen))


def _paper_set(folder: Path | None, name: str) -> tuple[LocationSet, TrajectorySet]:
    if folder is None:
        raise SystemExit("the paper's sets need --data DIR")
    return read_built(folder / name)[:2]


def _scatter() -> tuple[LocationSet, TrajectorySet]:
    """Towns of unequal size, and trips that mostly stay near a town."""
    rng = np.random.default_rng(SEED)
    towns = rng.uniform((46.0, 8.0), (46.6, 8.9), (12, 2))
    size = rng.dirichlet(np.full(12, 0.8))
    home = rng.choice(12, 700, p=size)
    lat, lng = (towns[home] + rng.normal(0, 0.015, (700, 2))).T
    locations = LocationSet.from_columns([f"p{k}" for k in range(700)], lat, lng)
    appeal = rng.pareto(1.5, 700) + 0.1
    trips = []
    for length in rng.integers(2, 7, 3000).tolist():
        trip = [int(rng.choice(700, p=appeal / appeal.sum()))]
        while len(trip) < length:
            pull = appeal * np.exp(-locations.distances_km(trip[-1]) / 6)
            trip.append(int(rng.choice(700, p=pull / pull.sum())))
        trips.append(trip)
    return locations, TrajectorySet.from_lists(trips, size=700)


def _tracks(*, quick: bool) -> tuple[LocationSet, TrajectorySet]:
    """Noisy GPS tracks of people who walk and ride through a city."""
    rows: list[Any] = []
    for k, length in enumerate(TRACK_LENGTHS):
        count = (100 if quick else TRACKS) // len(TRACK_LENGTHS)
        locations, tracks = gps_tracks(1000, count, length, SEED + k, SEED + 1)
        rows += list(tracks)
    return locations, TrajectorySet.from_lists(rows, size=len(locations))


def measure(
    subject: Subject, epsilon: str, known: dict[str, Any], names: tuple[str, ...]
) -> dict[str, Any]:
    """Scores by estimate; decoding transcripts uses only a sample of trips."""
    results = {part: dict(known.get(part, {})) for part in ("all", "sample", "counts", "cover")}
    medoid = subject.locations.medoid
    results["all"]["constant"] = subject.scores(np.full(len(subject.true.locations), medoid))
    constant = np.full(len(subject.sample.locations), medoid)
    results["sample"]["constant"] = subject.scores(constant, subject.sample)
    for name in names:
        mechanism = make_mechanism(name, subject.locations, epsilon)
        reports = perturb_set(mechanism, subject.true, SeededRandom(SEED), **LINKED)
        results["all"][f"{name} reported"] = subject.scores(reports.locations)
        if name in DECODED:
            _decoded(subject, mechanism, reports, results)
        if name in PIVOTS:
            arguments = mechanism, subject.sample, SeededRandom(SEED)
            released = perturb_set(*arguments, transcripts=True, keep_tids=True)
            answers = decode_released(mechanism, released)[1].locations
            results["sample"][f"{name} decoded"] = subject.scores(answers, subject.sample)
        if epsilon in COUNTED_AT and subject.name != NEW_TRACKS:
            from estimates_counts import counted

            results["counts"].update(counted(subject, mechanism, reports))
    return results


def ratios(name: str, folder: Path | None) -> dict[str, Any]:
    """Errors of strict ATP and decoded ATLAS over all trips, with `RATIO_DRAWS` draws each."""
    locations, true = _paper_set(folder, name)
    repeated = true.select(np.tile(np.arange(len(true)), RATIO_DRAWS))
    repeated = TrajectorySet(
        repeated.offsets, repeated.locations, tuple(map(str, range(len(repeated))))
    )
    everything, errors = Subject(name, locations, repeated, repeated), {}
    for epsilon in ("4", "10"):
        atp = make_mechanism("atp", locations, epsilon)
        theirs = perturb_set(atp, repeated, SeededRandom(SEED + 1), **LINKED)
        atlas = make_mechanism("atlas", locations, epsilon)
        answers = decode(atlas, perturb_set(atlas, repeated, SeededRandom(SEED + 1), **LINKED))
        ours = everything.scores(answers.locations)
        errors[epsilon] = [everything.scores(theirs.locations)["ne"], ours["ne"], ours["prq"]]
    return errors


def _decoded(
    subject: Subject, mechanism: Mechanism, reports: AnyReports, results: dict[str, Any]
) -> None:
    priors: dict[str, Prior | None] = {
        "decoded": None,
        "learned": fit_prior(mechanism, reports),
    }
    for kind, prior in priors.items():
        estimate = decode(mechanism, reports, prior)
        results["all"][f"{mechanism.name} {kind}"] = subject.scores(estimate.locations)
        distance_km = subject.locations.distances_between_km(
            subject.true.locations, estimate.locations
        )
        results["cover"][f"{mechanism.name} {kind}"] = float(
            (distance_km <= estimate.radius_km).mean()
        )
        if mechanism.name == "atlas":
            same = perturb_set(mechanism, subject.sample, SeededRandom(SEED), **LINKED)
            answers = decode(mechanism, same, prior).locations
            results["sample"][f"atlas {kind}"] = subject.scores(answers, subject.sample)


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets")
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--again", default="", help="mechanisms to measure again")
    parser.add_argument(
        "--only", default=",".join(MECHANISMS), help="mechanisms, comma-separated"
    )
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(args)
    names = (
        options.sets.split(",")
        if options.sets
        else ((PAPER_SETS if options.data else ()) + (*NEW_SETS, NEW_TRACKS))
    )
    options.results.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = options.results / f"{name}-ratios.json"
        if name in PAPER_SETS and not options.quick and not path.exists():
            path.write_text(json.dumps(ratios(name, options.data)))
        loaded = None
        for epsilon in options.epsilons.split(","):
            path = options.results / f"{name}-{epsilon}.json"
            known = json.loads(path.read_text()) if path.exists() else {}
            todo = tuple(filter(None, (options.again if known else options.only).split(",")))
            if name == NEW_TRACKS:
                todo = tuple(mechanism for mechanism in todo if mechanism == "atlas")
            if not todo:
                continue
            loaded = loaded or subject(name, options.data, quick=options.quick)
            print(f"{name}, epsilon {epsilon} ...", file=sys.stderr, flush=True)
            path.write_text(
                json.dumps(measure(loaded, epsilon, known, todo), indent=1, sort_keys=True)
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
