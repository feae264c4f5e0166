"""How well reports tell where people go: visits, density and trips, estimated and counted."""

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
    """Scores of counting reports, and of estimates where the law allows them."""
    truth = Truth(subject)
    found = {
        "flat": truth.scores(*_flat(subject.locations)),
        "other half": truth.scores(*_counts(subject.locations, subject.others)),
        "other half, 1 km": truth.scores(_smoothed(subject), None, None),
        f"{mechanism.name} counted": truth.scores(*_counts(subject.locations, reports)),
    }
    if mechanism.name in ("atlas", "brr", "l-srr", "exp"):
        found[f"{mechanism.name} estimated"] = _estimated(truth, mechanism, reports)
    return found


class Truth:
    """The true shares, and how far others are from them."""

    def __init__(self, subject: Any) -> None:
        self.visits, self.density, self.trips = _counts(subject.locations, subject.true)
        self.points = len(subject.true.locations)
        kept = int(np.ceil(POPULAR.get(subject.name, 0.75) * len(self.visits)))
        order = np.argsort(-self.visits, kind="stable")
        self.popular = order[:kept]
        self.hot = np.flatnonzero(self.visits >= self.visits[order[HOTSPOTS - 1]])

    def scores(self, visits: Any, density: Any, trips: Any) -> dict[str, float]:
        away = np.abs(visits - self.visits)
        hottest = np.argsort(-visits, kind="stable")[:HOTSPOTS]  # of equal ones the first
        found = {
            "acd": float(self.points * away[self.popular].mean()),
            "squared": float(1e4 * (away**2).sum()),
            "recall": float(np.isin(hottest, self.hot).mean()),
        }
        if np.ptp(visits) == 0:  # every choice of hotspots is as good
            found["recall"] = len(self.hot) / len(visits)
        if density is not None:
            found["density"] = jensen_shannon(self.density, density)
        if trips is not None:
            found["trips"] = float(np.abs(trips - self.trips).sum())
        return found


def _estimated(truth: Truth, mechanism: Mechanism, reports: AnyReports) -> dict[str, float]:
    groups, rng = groups_of(mechanism, reports), np.random.default_rng(1)
    asked = bootstrap_fit(mechanism.locations, groups, rng)
    visits, density = location_shares(asked), cell_shares(asked, DENSITY_GRID)
    trips = trip_shares(asked, FLOW_GRID) if mechanism.name == "atlas" else None
    found = truth.scores(visits.values, density.values, trips.values if trips else None)
    found["kept"] = density.shrinkage_weight
    found["cover"] = _covered(density, truth.density)
    return found


def _covered(shares: Shares, true: Any) -> float:
    """Of the cells that have locations, those whose 90 % interval holds the truth."""
    held = np.abs(shares.values - true) <= NORMAL_90 * shares.std_error
    return float(held[shares.baseline > 0].mean())


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


def _flat(locations: LocationSet) -> tuple[Any, Any, Any]:
    size = len(locations)
    density = np.bincount(UnitSquare(locations).cells(DENSITY_GRID), minlength=DENSITY_GRID**2)
    area = np.bincount(UnitSquare(locations).cells(FLOW_GRID), minlength=FLOW_GRID**2) / size
    return np.full(size, 1 / size), density / size, np.outer(area, area).reshape(-1)


def _smoothed(subject: Any) -> Any:
    """The other half's true visits, without noise, spread over the places within 1 km."""
    locations = subject.locations
    count = visit_counts(locations, subject.others).astype(float)
    around = [count[locations.within(i, 1.0)].mean() for i in range(len(locations))]
    return np.array(around) / np.sum(around)
