"""Small tasks that tests share."""

from fractions import Fraction

import pytest

from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas import build_pinned
from nomadp.protocol import Task, TaskBundle
from nomadp.zones import zones_of

NINE = LocationSet.from_columns(
    [f"place-{chr(97 + k)}" for k in range(9)],
    [40 + k // 3 / 50 for k in range(9)],
    [-74 + k % 3 / 50 for k in range(9)],
)
ATLAS = build_pinned(NINE, [3], Fraction(4))
ZONES = zones_of(NINE, "grid:3")


def fields(**changes):
    """The fields of a valid task over nine places."""
    good = {
        "purpose": "Where buses should go.",
        "mechanism": "atlas",
        "version": 3,
        "epsilon": Fraction(4),
        "length": 3,
        "locations_sha256": NINE.sha256,
        "domain_sha256": ATLAS.sha256,
        "start": 20_000,
        "end": 20_100,
        "retention": 180,
        "salt": "AAECAwQFBgcICQoLDA0ODw",
    }
    return good | changes


def question(name="trips", **changes):
    asked = {"mechanism": name, "version": 1, "length": None, "domain_sha256": ZONES.sha256}
    return fields(**asked, **({"params": {"zones": "grid:3"}} | changes))


@pytest.fixture(scope="session")
def atlas_bundle() -> TaskBundle:
    return TaskBundle(Task(**fields()), NINE, ATLAS)


@pytest.fixture(scope="session")
def zones_bundle() -> TaskBundle:
    return TaskBundle(Task(**question()), NINE, ZONES)
