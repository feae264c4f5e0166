"""A small estimate of each kind, made by hand."""

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
    std_error = np.full(size, 0.4 / size) + share * rng.uniform(0.05, 0.5, size)
    low, high = (
        np.maximum(share - 1.645 * std_error, 0),
        np.minimum(share + 1.645 * std_error, 1),
    )
    return {"share": share, "std_error": std_error, "ci_low": low, "ci_high": high}


@pytest.fixture(scope="session")
def hotspots(places: LocationSet) -> Estimate:
    shares = estimates(len(places), 1)
    baseline = 1 / len(places)
    column = {
        "location_id": places.ids,
        "lat": places.lat,
        "lng": places.lng,
        **shares,
        "baseline": np.full(len(places), baseline),
        "significant": (shares["ci_low"] > baseline) | (shares["ci_high"] < baseline),
        "rank": 1 + np.argsort(np.argsort(-shares["share"])),
    }
    return Estimate("hotspots", column, ABOUT)


@pytest.fixture(scope="session")
def shapes(places: LocationSet) -> Shapes:
    return shapes_of(zones_of(places, "grid:4"))


@pytest.fixture(scope="session")
def density(shapes: Shapes) -> Estimate:
    names = list(shapes.places)
    lat, lng = zip(*shapes.places.values(), strict=True)
    shares = estimates(len(names), 2)
    baseline = np.full(len(names), 1 / len(names))
    significant = (shares["ci_low"] > baseline) | (shares["ci_high"] < baseline)
    column = {
        "zone": names,
        "lat": lat,
        "lng": lng,
        **shares,
        "baseline": baseline,
        "significant": significant,
    }
    return Estimate("density", column, ABOUT | {"query": "density", "zones": "grid:4"}, shapes)


@pytest.fixture(scope="session")
def flows(shapes: Shapes) -> Estimate:
    names = list(shapes.places)
    shares = estimates(len(names) ** 2, 3)
    column = {
        "origin": [a for a in names for _ in names],
        "destination": names * len(names),
        "flow": shares.pop("share"),
        **shares,
    }
    column["baseline"] = np.full(len(names) ** 2, len(names) ** -2.0)
    column["significant"] = shares["ci_low"] > column["baseline"]
    return Estimate("flows", column, ABOUT | {"query": "flows", "zones": "grid:4"}, shapes)


@pytest.fixture(scope="session")
def lengths() -> Estimate:
    shares = estimates(4, 4)
    return Estimate("lengths", {"length": [2, 3, 4, 5], **shares}, ABOUT | {"query": "lengths"})


KINDS = ("hotspots", "density", "flows", "lengths")


@pytest.fixture(params=KINDS)
def answer(request: pytest.FixtureRequest) -> Estimate:
    table: Estimate = request.getfixturevalue(request.param)
    return table
