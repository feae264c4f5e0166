"""The data for the page's scripts: the findings as plain numbers, and the budget splits.

Coordinates are kilometres east and north of the city's middle, and errors are kilometres, so
that the page needs no geographic projection.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nomadp.datasets.city import City
from nomadp.datasets.city_ground import city_ground
from nomadp.datasets.city_layout import BLOCK_KM
from nomadp.demo.experiment import Findings, Run
from nomadp.demo.projection import FlatProjection
from nomadp.geometry import Floats
from nomadp.mechanisms import make_mechanism

__all__ = ["LABELS", "TITLES", "payload"]

LABELS = {"exp": "EXP", "tp": "TP", "atp": "ATP", "atlas": "ATLAS"}
TITLES = {
    "exp": "each point on its own",
    "tp": "some points as pivots, then directions from them",
    "atp": "like TP, inside a noisy disc around the journey",
    "atlas": "the whole journey at once, from a public codebook",
}


def payload(findings: Findings) -> dict[str, Any]:
    """All data that the page draws, as JSON values."""
    plan, city = findings.study.plan, findings.study.city
    projection = FlatProjection.of(city.locations)
    x_km, y_km = projection.km(np.stack([city.locations.lng, city.locations.lat], axis=-1)).T
    return {
        "places": {
            "id": list(city.locations.ids),
            "x": _rounded(x_km, 3),
            "y": _rounded(y_km, 3),
        },
        "ground": _ground(plan.seed, projection),
        "mechanisms": [
            {"name": name, "label": LABELS[name], "title": TITLES[name]}
            for name in plan.mechanisms
        ],
        "views": [{"name": view.name, "label": view.label} for view in findings.views],
        "epsilons": list(plan.epsilons),
        "draws": plan.draws,
        "journeys": [_journey(city, k) for k in findings.study.shown],
        "central_km": [_central_km(city, k) for k in findings.study.shown],
        "reports": {
            name: {epsilon: _reports(findings, name, epsilon) for epsilon in plan.epsilons}
            for name in plan.mechanisms
        },
        "curves": _curves(findings),
        "budget": {name: _splits(city, name) for name in plan.mechanisms},
    }


def _ground(seed: int, projection: FlatProjection) -> dict[str, Any]:
    """Streets, avenues and the river in kilometres, rounded to ten metres."""
    ground = city_ground(seed)

    def lines(paths: Sequence[Floats]) -> list[list[float]]:
        return [_rounded(projection.km(line).ravel(), 2) for line in paths]

    return {
        "streets": lines(ground.streets),
        "avenues": lines(ground.avenues),
        "river": _rounded(projection.km(ground.river).ravel(), 2),
        "block_km": BLOCK_KM,
    }


def _journey(city: City, k: int) -> dict[str, Any]:
    path = city.trajectories[k]
    legs_km = city.locations.distances_between_km(path[:-1], path[1:])
    return {"places": path.tolist(), "km": round(float(legs_km.sum()), 2)}


def _central_km(city: City, k: int) -> list[float]:
    """The error of the constant baseline at each point."""
    locations = city.locations
    return _rounded(locations.distances_km(locations.medoid)[city.trajectories[k]], 3)


def _reports(findings: Findings, name: str, epsilon: str) -> list[list[list[list[float]]]]:
    """The reported locations and their errors in km, by trajectory and draw."""
    draws = findings.runs[name, epsilon].draws
    study = findings.study
    count, locations = study.plan.draws, study.city.locations
    table = []
    for position, journey in enumerate(study.shown):
        true = study.city.trajectories[journey]
        reports = [draws[position * count + k] for k in range(count)]
        table.append(
            [
                [report.tolist(), _rounded(locations.distances_between_km(true, report), 3)]
                for report in reports
            ]
        )
    return table


def _curves(findings: Findings) -> dict[str, Any]:
    plan, runs, baselines = findings.study.plan, findings.runs, findings.baselines

    def by_mechanism(score: Callable[[Run], float], digits: int) -> dict[str, list[float]]:
        return {
            name: _rounded([score(runs[name, epsilon]) for epsilon in plan.epsilons], digits)
            for name in plan.mechanisms
        }

    def by_radius(score: Callable[[Run], Sequence[float]]) -> dict[str, list[list[float]]]:
        by_epsilon = {
            name: [score(runs[name, epsilon]) for epsilon in plan.epsilons]
            for name in plan.mechanisms
        }
        return {
            name: [_rounded(values, 3) for values in zip(*rows, strict=True)]
            for name, rows in by_epsilon.items()
        }

    by_baseline = {"constant": baselines.constant, "uniform": baselines.uniform}
    return {
        "radii_km": list(plan.radii_km),
        "error": by_mechanism(lambda run: run.evaluation.measured.normalised_error, 5),
        "error_half_width": by_mechanism(lambda run: run.error_half_width, 5),
        "range": by_radius(lambda run: run.evaluation.measured.range_query),
        "range_half_width": by_radius(lambda run: run.range_half_width),
        "floors": {
            "error": {name: round(s.normalised_error, 5) for name, s in by_baseline.items()},
            "range": {name: _rounded(s.range_query, 3) for name, s in by_baseline.items()},
        },
    }


def _splits(city: City, name: str) -> dict[str, list[dict[str, Any]]]:
    """The steps for each length, with exact shares of epsilon as [numerator, denominator]."""
    mechanism = make_mechanism(name, city.locations, 1)
    longest = int(city.trajectories.lengths.max())
    return {
        str(length): [
            {
                "name": step.name,
                "copy": step.copy,
                "count": step.count,
                "share": [step.share.numerator, step.share.denominator],
            }
            for step in mechanism.split(length).steps
        ]
        for length in range(1, longest + 1)
    }


def _rounded(values: Sequence[float] | Floats, digits: int) -> list[float]:
    return [round(float(value), digits) for value in values]
