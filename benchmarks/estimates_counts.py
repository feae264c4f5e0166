"""The error of visits, density and trips, as estimated or counted from reports."""

from typing import Any

import numpy as np

from nomadp.analysis.hotspots import jensen_shannon, visit_counts
from nomadp.inference import groups_of
from nomadp.inference.hotspots import cell_shares, location_shares, trip_shares
from nomadp.inference.shares import Shares, bootstrap_fit
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.reports import AnyReports
from nomadp.trajectory import TrajectorySet
from nomadp.unit_square import UnitSquare

DENSITY_GRID, FLOW_GRID = 16, 4
POPULAR = {"nyc": 0.5}
HOTSPOTS = 50
NORMAL_90 = 1.645


def counted(
    subject: Any, mechanism: Mechanism, reports: TrajectorySet
) -> dict[str, dict[str, float]]:
    """Scores of counted reports, and of estimates for mechanisms that support them."""
    truth = Truth(subject)
    results = {
        "flat": truth.scores(*_baseline(subject.locations)),
        "other half": truth.scores(*_counts(subject.locations, subject.others)),
        "other half, 1 km": truth.scores(_smoothed(subject), None, None),
        f"{mechanism.name} counted": truth.scores(*_counts(subject.locations, reports)),
    }
    if mechanism.name in ("atlas", "brr", "l-srr", "exp"):
        results[f"{mechanism.name} estimated"] = _estimated(truth, mechanism, reports)
    return results


class Truth:
    """The true shares, and scores of other shares against them."""

    def __init__(self, subject: Any) -> None:
        self.visits, self.density, self.trips = _counts(subject.locations, subject.true)
        self.points = len(subject.true.locations)
        kept = int(np.ceil(POPULAR.get(subject.name, 0.75) * len(self.visits)))
        order = np.argsort(-self.visits, kind="stable")
        self.popular = order[:kept]
        self.hot = np.flatnonzero(self.visits >= self.visits[order[HOTSPOTS - 1]])

    def scores(self, visits: Any, density: Any, trips: Any) -> dict[str, float]:
        error = np.abs(visits - self.visits)
        hottest = np.argsort(-visits, kind="stable")[:HOTSPOTS]  # ties by index
        result = {
            "acd": float(self.points * error[self.popular].mean()),
            "squared": float(1e4 * (error**2).sum()),
            "recall": float(np.isin(hottest, self.hot).mean()),
        }
        if np.ptp(visits) == 0:  # all ties: the expected recall
            result["recall"] = len(self.hot) / len(visits)
        if density is not None:
            result["density"] = jensen_shannon(self.density, density)
        if trips is not None:
            result["trips"] = float(np.abs(trips - self.trips).sum())
        return result


def _estimated(truth: Truth, mechanism: Mechanism, reports: AnyReports) -> dict[str, float]:
    groups, rng = groups_of(mechanism, reports), np.random.default_rng(1)
    model = bootstrap_fit(mechanism.locations, groups, rng)
    visits, density = location_shares(model), cell_shares(model, DENSITY_GRID)
    trips = trip_shares(model, FLOW_GRID) if mechanism.name == "atlas" else None
    scores = truth.scores(visits.values, density.values, trips.values if trips else None)
    scores["kept"] = density.shrinkage_weight
    scores["cover"] = _covered(density, truth.density)
    return scores


def _covered(shares: Shares, true: Any) -> float:
    """The coverage of 90 % intervals, over the cells with locations."""
    is_covered = np.abs(shares.values - true) <= NORMAL_90 * shares.std_error
    return float(is_covered[shares.baseline > 0].mean())


def _counts(locations: LocationSet, trajectories: TrajectorySet) -> tuple[Any, Any, Any]:
    count = visit_counts(locations, trajectories)
    cell = UnitSquare(locations).cells(DENSITY_GRID)
    density = np.bincount(cell[trajectories.locations], minlength=DENSITY_GRID**2)
    area, cells = UnitSquare(locations).cells(FLOW_GRID), FLOW_GRID**2
    moving = trajectories.lengths > 1
    first = area[trajectories.locations[trajectories.offsets[:-1][moving]]]
    last = area[trajectories.locations[trajectories.offsets[1:][moving] - 1]]
    trips = np.bincount(first * cells + last, minlength=cells**2)
    return count / count.sum(), density / density.sum(), trips / trips.sum()


def _baseline(locations: LocationSet) -> tuple[Any, Any, Any]:
    size = len(locations)
    density = np.bincount(UnitSquare(locations).cells(DENSITY_GRID), minlength=DENSITY_GRID**2)
    area = np.bincount(UnitSquare(locations).cells(FLOW_GRID), minlength=FLOW_GRID**2) / size
    return np.full(size, 1 / size), density / size, np.outer(area, area).reshape(-1)


def _smoothed(subject: Any) -> Any:
    """The true visits of the other half, smoothed over the locations within 1 km."""
    locations = subject.locations
    count = visit_counts(locations, subject.others).astype(float)
    around = [count[locations.within(i, 1.0)].mean() for i in range(len(locations))]
    return np.array(around) / np.sum(around)
