"""A collection in the synthetic city: its tasks, and the reports of thousands of devices."""

from fractions import Fraction
from functools import cache
from typing import Any

from collecting import SALT, Address, new_id, today

import nomadp
from nomadp.client.private_trajectory import PrivateTrajectory
from nomadp.mechanisms import kind_of
from nomadp.mechanisms.atlas import build_pinned
from nomadp.protocol import Task, TaskBundle
from nomadp.zones import zones_of

PLACES, LENGTH = 150, 3
ZONES = "grid:4"


@cache
def city(trips: int) -> Any:
    return nomadp.synthetic_city(seed=1, places=PLACES, trips=trips)


@cache
def city_bundle(mechanism: str, purpose: str, **fields: Any) -> TaskBundle:
    """A task in the synthetic city that runs today, with epochs of a day."""
    asks = mechanism != "atlas"
    places, epsilon = city(1).locations, Fraction(6)
    book: Any = (
        zones_of(places, ZONES) if asks else build_pinned(places, [LENGTH], epsilon, 256)
    )
    said = {
        "purpose": purpose,
        "mechanism": mechanism,
        "version": kind_of(mechanism).version,
        "params": {"zones": ZONES} if asks else {},
        "epsilon": epsilon,
        "length": None if asks else LENGTH,
        "locations_sha256": places.sha256,
        "domain_sha256": book.sha256,
        "start": today() - 5,
        "end": today() + 20,
        "min_batch_size": 100,
        "retention": 40,
        "salt": SALT,
    }
    return TaskBundle(Task(**{**said, **fields}), places, book)


def send_city(address: Address, bundle: TaskBundle, trips: int) -> None:
    """Send one report for each trip over HTTP, in batches of 100; some are days old."""
    said = []
    for k, trip in enumerate(city(trips).trajectories):
        private = PrivateTrajectory.of(trip, bundle, None)
        # Seeded, so that the map is the same on every run.
        report = bundle.mechanism.simulate(private.locations, seed=k)
        value = bundle.code.text(report.values if report.number is None else (report.number,))
        said.append({"report_id": new_id(), "time": today() - k % 5, "value": value})
    for start in range(0, len(said), 100):
        assert address.send(bundle, *said[start : start + 100]).status == 200
