"""Answers of each kind, small and made by hand."""

import numpy as np
import pytest

from nomadp.answers import Estimate, Shapes
from nomadp.answers.shapes import shapes_of
from nomadp.locations import LocationSet
from nomadp.zones import zones_of

ABOUT = {
    "query": "hotspots",
    "mechanism": "atlas",
    "mechanism_version": 2,
    "epsilon": "4",
    "reports": 5000,
    "refused": {},
    "level": 0.9,
    "location_set_sha256": "0" * 64,
}


@pytest.fixture(scope="session")
def places() -> LocationSet:
    rng = np.random.default_rng(5)
    lat, lng = 52.5 + rng.normal(0, 0.03, 60), 13.4 + rng.normal(0, 0.05, 60)
    return LocationSet.from_columns([f"p{k}" for k in range(60)], lat, lng)


def estimates(size: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(size, 0.4))
    std = np.full(size, 0.4 / size) + share * rng.uniform(0.05, 0.5, size)
    low, high = np.maximum(share - 1.645 * std, 0), np.minimum(share + 1.645 * std, 1)
    return {"share": share, "std_error": std, "ci_low": low, "ci_high": high}


@pytest.fixture(scope="session")
def hotspots(places: LocationSet) -> Estimate:
    found = estimates(len(places), 1)
    flat = 1 / len(places)
    column = {
        "location_id": places.ids,
        "lat": places.lat,
        "lng": places.lng,
        **found,
        "baseline": np.full(len(places), flat),
        "significant": (found["ci_low"] > flat) | (found["ci_high"] < flat),
        "rank": 1 + np.argsort(np.argsort(-found["share"])),
    }
    return Estimate("hotspots", column, ABOUT)


@pytest.fixture(scope="session")
def shapes(places: LocationSet) -> Shapes:
    return shapes_of(zones_of(places, "grid:4"))


@pytest.fixture(scope="session")
def density(shapes: Shapes) -> Estimate:
    names = list(shapes.places)
    lat, lng = zip(*shapes.places.values(), strict=True)
    found = estimates(len(names), 2)
    flat = np.full(len(names), 1 / len(names))
    told = (found["ci_low"] > flat) | (found["ci_high"] < flat)
    column = {
        "zone": names,
        "lat": lat,
        "lng": lng,
        **found,
        "baseline": flat,
        "significant": told,
    }
    return Estimate("density", column, ABOUT | {"query": "density", "zones": "grid:4"}, shapes)


@pytest.fixture(scope="session")
def flows(shapes: Shapes) -> Estimate:
    names = list(shapes.places)
    found = estimates(len(names) ** 2, 3)
    column = {
        "origin": [a for a in names for _ in names],
        "destination": names * len(names),
        "flow": found.pop("share"),
        **found,
    }
    column["baseline"] = np.full(len(names) ** 2, len(names) ** -2.0)
    column["significant"] = found["ci_low"] > column["baseline"]
    return Estimate("flows", column, ABOUT | {"query": "flows", "zones": "grid:4"}, shapes)


@pytest.fixture(scope="session")
def lengths() -> Estimate:
    found = estimates(4, 4)
    return Estimate("lengths", {"length": [2, 3, 4, 5], **found}, ABOUT | {"query": "lengths"})


KINDS = ("hotspots", "density", "flows", "lengths")


@pytest.fixture(params=KINDS)
def answer(request: pytest.FixtureRequest) -> Estimate:
    table: Estimate = request.getfixturevalue(request.param)
    return table
