"""Tasks from the few things that an operator says."""

import time
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest
from refusals import refused

from nomadp.errors import DomainError, NomadpError, TaskRefused
from nomadp.protocol.create import create_task
from nomadp.zones import polygon_zones
from tests.protocol.conftest import NINE

SAID = {"epsilon": "4.0", "purpose": "Where buses should go."}
DAY = date(2026, 11, 16)


def made(mechanism="atlas", end=DAY + timedelta(days=9), **more):
    asked = SAID | ({"length": 3} if mechanism == "atlas" else {}) | {"start": DAY} | more
    return create_task(NINE, mechanism, end=end, **asked)


def test_the_defaults_are_sensible():
    task = made().task
    assert (task.start, task.end) == (20_773, 20_783)
    assert task.time_precision == 86_400
    assert task.retention == 40
    assert task.epsilon == Fraction(4)
    assert (task.reports_per_contributor, task.min_batch_size, task.send_within) == (
        1,
        100,
        3600,
    )


def test_it_starts_today_unless_told():
    today = int(time.time() // 86_400)
    end = datetime.now(UTC).date() + timedelta(days=3)
    task = create_task(NINE, length=2, end=end, **SAID).task
    assert task.start in (today, today + 1)
    assert task.end == (end - date(1970, 1, 1)).days + 1


def test_two_tasks_that_are_alike_have_two_ids():
    assert made().task.id != made().task.id
    assert made(salt=bytes(16)).task.id == made(salt=bytes(16)).task.id


def test_times_are_counted_in_the_precision():
    task = made(time_precision=3600).task
    assert (task.start, task.end, task.retention) == (20_773 * 24, 20_783 * 24, 40 * 24)
    week = made(time_precision=7 * 86_400, end=DAY + timedelta(days=20)).task
    assert week.start * 7 <= 20_773 < (week.start + 1) * 7
    assert (week.end - 1) * 7 < 20_794 <= week.end * 7


def test_a_long_task_is_kept_as_long_as_the_ceiling_allows():
    assert made(end=DAY + timedelta(days=731)).task.retention == 762
    assert made(retention_days=1830).task.retention == 1830


@pytest.mark.parametrize("name", ["trips", "starts", "ends", "visits"])
def test_a_question_has_the_zones_of_its_mechanism_unless_told(name):
    assert made(name).task.params == {"zones": "grid:4" if name == "trips" else "grid:16"}
    asked = made(name, zones="grid:2", when="weekday").task
    assert asked.params == {"zones": "grid:2", "when": "weekday"}
    assert asked.length is None


def test_a_question_may_be_about_polygons():
    square = [[-75, 39], [-73.99, 39], [-73.99, 41], [-75, 41]]
    bundle = made("starts", zones=polygon_zones(NINE, [[square]], ["west"]))
    assert bundle.task.params["zones"] == f"polygons:{bundle.task.domain_sha256}"


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 11},
        {"epsilon": 0},
        {"length": 9},
        {"length": 0},
        {"length": None},
        {"zones": "grid:3"},
        {"when": "weekday"},
        {"end": DAY - timedelta(days=1)},
        {"end": DAY + timedelta(days=800)},
        {"retention_days": 3},
        {"purpose": ""},
        {"mechanism": "tp"},
        {"mechanism": "trips", "length": 3},
        {"mechanism": "trips", "when": "hour"},
        {"mechanism": "trips", "zones": "nothing"},
        {"time_precision": 60},
        {"time_precision": 0},
        {"send_within": 10**6},
        {"reports_per_contributor": 26},
        {"min_batch_size": 0},
        {"colour": "red"},
    ],
)
def test_what_no_device_would_join_is_not_made(asked):
    with pytest.raises(NomadpError):
        made(**asked)


def test_the_reason_is_said():
    with refused(TaskRefused, "retention_shorter_than_task", retention_s=3 * 86_400):
        made(retention_days=3)
    with refused(DomainError, "unknown_options", options=["colour"]):
        made(colour="red")
