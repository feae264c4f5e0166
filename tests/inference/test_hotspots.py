"""Hotspots and flows in one call are those that a survey of the reports gives."""

import numpy as np
import pytest
from refusals import refused
from worlds import scattered

from nomadp.engine import perturb_set
from nomadp.errors import DomainError
from nomadp.inference import groups_of
from nomadp.inference.hotspots import (
    cell_shares,
    flow_shares,
    location_shares,
    trip_shares,
    visit_shares,
)
from nomadp.inference.model import fit
from nomadp.inference.shares import bootstrap_fit
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

LOCATIONS = scattered(30)
TRIPS = TrajectorySet.from_lists(np.arange(80).reshape(40, 2) % 30, size=30)


def reported(name, **options):
    mechanism = make_mechanism(name, LOCATIONS, 8, **options)
    return mechanism, perturb_set(mechanism, TRIPS, SeededRandom(1))


def surveyed(mechanism, reports):
    return bootstrap_fit(LOCATIONS, groups_of(mechanism, reports), np.random.default_rng(1))


def hotspots(mechanism, reports, zones=None, *, at=None):
    return visit_shares(fit(mechanism, reports), zones, at)


def flows(mechanism, reports, zones=None):
    return flow_shares(fit(mechanism, reports), zones)


@pytest.mark.parametrize("zones", [None, "grid:3"])
def test_hotspots(zones):
    asked = reported("brr")
    found, learned = hotspots(*asked, zones), surveyed(*asked)
    wanted = location_shares(learned) if zones is None else cell_shares(learned, 3)
    assert np.array_equal(found.values, wanted.values)
    assert np.array_equal(found.std_error, wanted.std_error)
    assert len(found.values) == (30 if zones is None else 9)


def test_starts_and_ends_are_the_margins_of_trips():
    asked = reported("atlas", size=100)
    pairs = flows(*asked, "grid:2").values.reshape(4, 4)
    for at, axis in (("starts", 1), ("ends", 0)):
        found = hotspots(*asked, "grid:2", at=at)
        assert found.values == pytest.approx(pairs.sum(axis=axis))


def test_other_points_are_not_known():
    with refused(DomainError, "unknown_point_kind", at="noon"):
        hotspots(*reported("brr"), at="noon")
    with refused(DomainError, "reports_of_points"):
        hotspots(*reported("brr"), at="starts")


def test_flows():
    asked = reported("atlas", size=100)
    wanted = trip_shares(surveyed(*asked), 2)
    assert np.array_equal(flows(*asked, "grid:2").values, wanted.values)


def test_flows_need_reports_of_whole_journeys():
    with refused(DomainError, "reports_of_points"):
        flows(*reported("brr"), "grid:2")


def test_progress_is_told():
    told = []
    fit(*reported("brr"), progress=told.append)
    assert sum(told) > 0
