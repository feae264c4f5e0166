"""A device takes part: joins, pays, makes, keeps and sends, in this order."""

import json
import math
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from collecting import today
from devices import Asked, Collector, Said, atlas_bundle, collecting, question_bundle, town
from refusals import refused

import nomadp
from nomadp.client import Client, private_trajectory, sending
from nomadp.client.ledger_file import LEDGER
from nomadp.client.private_trajectory import PrivatePoints, PrivateTrajectory
from nomadp.errors import (
    DomainError,
    LedgerRefused,
    RandomnessUnavailable,
    ReportRefused,
    TaskRefused,
)
from nomadp.mechanisms.atlas import Atlas
from nomadp.protocol import TaskBundle
from nomadp.protocol.folder import write_task_folder

BUNDLE = atlas_bundle(reports_per_contributor=5)


def rows(client: Client, question: str) -> list[tuple[object, ...]]:
    """What somebody else reads in the ledger's file at this moment."""
    other = sqlite3.connect(client.home / LEDGER)
    try:
        return other.execute(question).fetchall()
    finally:
        other.close()


def folder_of(bundle: TaskBundle, path: Path) -> Path:
    write_task_folder(path, bundle)
    return path


def test_a_charge_is_on_disk_before_anything_is_perturbed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    plain = Atlas.report

    def report(self: Atlas, *journey: object) -> object:
        seen.append(rows(client, "SELECT state, body FROM charges"))
        return plain(self, *journey)  # type: ignore[arg-type]

    monkeypatch.setattr(Atlas, "report", report)
    client.report([0, 1, 2])
    assert seen == [[("charged", None)]]


def test_the_bytes_are_on_disk_before_they_are_sent(
    client: Client, collector: Collector
) -> None:
    seen = []

    def look(asked: Asked) -> Said:
        seen.append(rows(client, "SELECT state, body FROM charges"))
        return Said()

    collector.replies = [look]
    client.report([0, 1, 2])
    assert seen == [[("waiting", collector.uploads[0].body)]]


def test_an_accepted_report_leaves_only_its_receipt(client: Client) -> None:
    receipt = client.report([0, 1, 2])
    (row,) = rows(client, "SELECT report_id, task, time, body, not_before FROM charges")
    assert row == (receipt.report_id, BUNDLE.task.id, receipt.time, None, None)


def test_a_failing_source_means_no_report_and_the_charge_stays(
    client: Client, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Atlas, *journey: object) -> None:
        monkeypatch.setattr(os, "urandom", lambda count: b"")
        Atlas.__mro__[1].report(self, *journey)  # type: ignore[attr-defined]

    monkeypatch.setattr(Atlas, "report", fail, raising=False)
    with pytest.raises(RandomnessUnavailable):
        client.report([0, 1, 2])
    assert client.budget().used == BUNDLE.task.epsilon
    assert client.budget().tasks[0].states["charged"] == 1
    assert client.send(now=True, again=True) == []
    assert collector.uploads == []


def test_a_source_that_fails_at_once_costs_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(count: int) -> bytes:
        raise OSError("no randomness")

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(RandomnessUnavailable):
        client.report([0, 1, 2])
    assert client.budget().used == 0


def test_a_simulated_report_cannot_be_sent(
    client: Client, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Atlas, "report", lambda self, journey, hour: self.simulate(journey, 1))
    with refused(ReportRefused, "report_not_drawn"):
        client.report([0, 1, 2])
    assert client.send(now=True) == []
    assert collector.uploads == []


def test_an_unexpected_failure_says_nothing_of_the_journey(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Atlas, journey: object, hour: object) -> None:
        raise ValueError(f"cannot go to {journey}")

    monkeypatch.setattr(Atlas, "report", fail)
    with refused(ReportRefused, "report_failed") as caught:
        client.report([7, 7, 7])
    assert caught.value.__context__ is None
    assert "7" not in str(caught.value) + repr(vars(caught.value))


def test_a_queued_report_is_sent_later_by_another_process(
    client: Client, collector: Collector
) -> None:
    receipt = client.report([0, 1, 2], queue=True)
    assert (receipt.state, collector.uploads) == ("waiting", [])
    with Client(client.home) as later:
        (sent,) = later.send()
    assert (sent.report_id, sent.accepted) == (receipt.report_id, True)


def test_a_report_is_due_at_a_random_time_that_the_task_bounds(tmp_path: Path) -> None:
    bundle = atlas_bundle("slow", send_within=7200, reports_per_contributor=20, epsilon="1/8")
    with collecting(bundle) as collector, Client(tmp_path) as client:
        client.join(collector.url, bundle.task.id)
        now = int(time.time())
        due = [(client.report([1, 2, 3]).not_before or 0) - now for _ in range(20)]
        took_s = time.time() - now
        assert all(0 <= each <= 7201 + took_s for each in due)
        assert len(set(due)) > 15
        assert collector.uploads == []
        assert client.next_due() == now + min(due)


def test_who_asks_for_now_does_not_wait(tmp_path: Path) -> None:
    bundle = atlas_bundle("slow", send_within=7200)
    with collecting(bundle) as collector, Client(tmp_path) as client:
        client.join(collector.url, bundle.task.id)
        assert client.report([1, 2, 3], now=True).accepted


def test_a_delay_never_leads_past_the_end(tmp_path: Path) -> None:
    now, hour_s = time.time(), 3600
    soon = int(now // hour_s) + 2
    bundle = atlas_bundle(
        "end",
        time_precision=hour_s,
        start=soon - 4,
        end=soon,
        send_within=7 * 86_400,
        retention=400,
        reports_per_contributor=20,
        epsilon="1/8",
    )
    with collecting(bundle) as collector, Client(tmp_path) as client:
        client.join(collector.url, bundle.task.id)
        due = [client.report([1, 2, 3], queue=True).not_before or 0 for _ in range(20)]
    assert max(due) < soon * hour_s


@pytest.mark.parametrize(("start", "end"), [(-40, -10), (-40, 0), (1, 40), (10, 40)])
def test_a_task_that_does_not_run_is_not_charged(tmp_path: Path, start: int, end: int) -> None:
    bundle = atlas_bundle("t", start=today() + start, end=today() + end)
    with collecting(bundle) as collector, Client(tmp_path) as client:
        client.join(collector.url, bundle.task.id)
        with refused(ReportRefused, "task_not_started" if start > 0 else "task_expired"):
            client.report([1, 2, 3])
        assert client.budget().used == 0


def test_a_task_is_joined_once_and_then_needs_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "RETRY_FIRST_S", 100.0)
    with collecting(BUNDLE) as collector, Client(tmp_path) as client:
        client.join(collector.url, BUNDLE.task.id)
        url = collector.url
    with Client(tmp_path) as client:
        client.join(url, BUNDLE.task.id)
        receipt = client.report([0, 1, 2])
    assert receipt.state == "waiting"
    assert receipt.reason == "unreachable (ConnectionRefusedError)"


def test_a_kept_task_that_was_changed_is_refused(client: Client) -> None:
    path = client.home / "tasks" / BUNDLE.task.id / "locations.csv"
    path.write_text(path.read_text().replace("-74.0", "-75.0"))
    with Client(client.home) as again, refused(TaskRefused, "task_file_hash_mismatch"):
        again.bundle(BUNDLE.task.id)


def test_a_kept_task_that_became_another_is_refused_when_it_is_joined_again(
    client: Client, collector: Collector
) -> None:
    folder_of(atlas_bundle("other"), client.home / "tasks" / BUNDLE.task.id)
    with (
        Client(client.home) as again,
        refused(TaskRefused, "task_id_mismatch", expected=BUNDLE.task.id),
    ):
        again.join(collector.url, BUNDLE.task.id)


def test_a_task_in_a_folder_is_reported_to_the_collector_that_is_named(
    tmp_path: Path, collector: Collector
) -> None:
    folder = folder_of(BUNDLE, tmp_path / "task")
    with Client(tmp_path / "home") as client:
        client.join(folder, BUNDLE.task.id, send_to=collector.url)
        assert client.report([0, 1, 2]).accepted
    base = f"/tasks/{BUNDLE.task.id}"
    asked = [each.line.removesuffix(" HTTP/1.1") for each in collector.seen]
    assert asked == [f"GET {base}/status", f"POST {base}/reports"]


def test_a_task_in_a_folder_of_another_id_is_refused(tmp_path: Path) -> None:
    folder = folder_of(BUNDLE, tmp_path / "task")
    with (
        Client(tmp_path / "home") as client,
        refused(TaskRefused, "task_id_mismatch", task_id=BUNDLE.task.id),
    ):
        client.join(folder, atlas_bundle("other").task.id)


def test_a_report_without_an_address_waits_for_one(
    tmp_path: Path, collector: Collector
) -> None:
    with Client(tmp_path / "home") as client:
        client.join(folder_of(BUNDLE, tmp_path / "task"))
        receipt = client.report([0, 1, 2])
        assert receipt.state == "waiting"
        assert receipt.reason == sending.NO_ADDRESS
        client.join(collector.url, BUNDLE.task.id)
        assert [each.accepted for each in client.send(now=True)] == [True]


def test_a_folder_without_a_file_is_refused(tmp_path: Path) -> None:
    folder = folder_of(BUNDLE, tmp_path / "task")
    (folder / "atlas.json").unlink()
    with (
        Client(tmp_path / "home") as client,
        refused(TaskRefused, "task_file_missing", files=["atlas.json"]),
    ):
        client.join(folder)


def test_nothing_is_reported_before_a_task_is_joined(tmp_path: Path) -> None:
    with Client(tmp_path) as client, refused(TaskRefused, "no_task_joined"):
        client.report([1, 2, 3])


def test_reports_too_large_to_be_sent_are_refused_before_any_is_paid(
    client: Client, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nomadp.client import client as module

    monkeypatch.setattr(module, "UPLOAD_BYTES_MAX", 257)
    with refused(TaskRefused, "report_too_large", limit=257):
        client.join(collector.url, BUNDLE.task.id)


def test_the_ledger_is_the_devices_and_not_the_tasks(tmp_path: Path) -> None:
    bundles = [atlas_bundle(f"k{k}", epsilon=4) for k in range(3)]
    with collecting(*bundles) as collector, Client(tmp_path, lifetime=10) as client:
        for bundle in bundles[:2]:
            client.join(collector.url, bundle.task.id)
            client.report([1, 2, 3])
        client.join(collector.url, bundles[2].task.id)
        with refused(LedgerRefused, "budget_exhausted", lifetime=10, used=8, more=4):
            client.report([1, 2, 3])
        assert len(collector.uploads) == 2


def test_a_check_refuses_what_reports_would_be_refused_for(client: Client) -> None:
    client.check(count=5)
    with refused(LedgerRefused, "reports_exhausted", limit=5, reports=0, more=6):
        client.check(count=6)
    assert client.budget().used == 0


def test_a_check_refuses_reports_that_the_budget_covers_one_by_one_only(tmp_path: Path) -> None:
    with Client(tmp_path / "home", lifetime=2) as client:
        client.join(folder_of(BUNDLE, tmp_path / "task"))
        client.check(count=2)
        with refused(LedgerRefused, "budget_exhausted", lifetime=2, more=3):
            client.check(count=3)


# Journeys.

NOT_JOURNEYS = [
    "somewhere",
    None,
    7,
    [(1.0,)],
    [(1.0, 2.0, 3.0)],
    [0.5, 1.5],
    [True],
    [[[1, 2]]],
    [(1, 2), (3,)],
    ["p1", "p2"],
    {"a": 2},
]


@pytest.mark.parametrize("journey", NOT_JOURNEYS, ids=range(len(NOT_JOURNEYS)))
def test_what_is_no_journey_is_refused_before_the_charge(
    client: Client, collector: Collector, journey: object
) -> None:
    with refused(DomainError, "trajectory_malformed"):
        client.report(journey)
    assert client.budget().used == 0
    assert collector.uploads == []


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("journey", "expected"),
    [
        ([], [0, 0, 0]),
        ([(NAN, 0.0)], [0, 0, 0]),
        ([(91.0, -74.0), (40.0, INFINITE)], [0, 0, 0]),
        ([(NAN, 0.0), (40.0, -73.94), (91.0, 0.0)], [3, 3, 3]),
        ([(40.0, -73.94 + 360)], [3, 3, 3]),
        ([(40.0, -73.94 - 3600)], [3, 3, 3]),
        ([12, 5, -1], [0, 5, 0]),
        (np.array([2**63], dtype=np.uint64), [0, 0, 0]),
        (
            PrivatePoints.placed(np.full(3, NAN), np.full(3, NAN), ["p3", "elsewhere", ""]),
            [3, 0, 0],
        ),
        (PrivatePoints.placed(np.array([40.0]), np.array([-73.94]), ["elsewhere"]), [3, 3, 3]),
        (PrivatePoints.placed(np.array([40.0]), np.array([-73.94]), ["p7"]), [7, 7, 7]),
    ],
)
def test_a_journey_of_any_values_is_one(journey: object, expected: list[int]) -> None:
    assert PrivateTrajectory.of(journey, BUNDLE, None).locations.tolist() == expected


@pytest.mark.parametrize(
    ("lng", "expected"),
    [(180.0, -180.0), (-180.0, -180.0), (190.5, -169.5), (-181.25, 178.75), (1e6, -80.0)],
)
def test_longitudes_wrap_to_the_same_bits_everywhere(lng: float, expected: float) -> None:
    assert PrivatePoints.of([(0.0, lng)]).lng.tolist() == [expected]


@pytest.mark.parametrize("name", ["trips", "visits", "atlas"])
def test_a_journey_takes_as_many_operations_whatever_it_is(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = BUNDLE if name == "atlas" else question_bundle(name)
    counted: list[int] = []
    plain = private_trajectory.distance_km

    def counting(one: Any, other: Any) -> Any:
        found = plain(one, other)
        counted.append(found.size)
        return found

    monkeypatch.setattr(private_trajectory, "distance_km", counting)
    sizes = set()
    for steps in [[], [1], [5] * 9000, [(40.0, -74.0)] * 9000, [(NAN, 0.0)], [(-33.9, 151.2)]]:
        counted.clear()
        PrivateTrajectory.of(steps, bundle, None)
        sizes.add(sum(counted))
    assert len(sizes) == 1


def test_points_go_to_the_nearest_location_as_everywhere_else() -> None:
    random = np.random.default_rng(3)
    lat = np.concatenate([random.uniform(-90, 90, 200), random.uniform(39.9, 40.1, 200)])
    lng = np.concatenate([random.uniform(-180, 180, 200), random.uniform(-74.1, -73.9, 200)])
    bundle = question_bundle("visits")
    found = PrivateTrajectory.of(np.stack([lat, lng], axis=1), bundle, None).locations
    assert np.array_equal(found, town().nearest(lat, lng))


def test_a_long_journey_is_brought_to_the_tasks_length() -> None:
    journey = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert PrivateTrajectory.of(journey, BUNDLE, None).locations.tolist() == [0, 4, 8]
    assert PrivateTrajectory.of([4, 9], BUNDLE, None).locations.tolist() == [4, 9, 9]


def test_a_question_reads_the_whole_journey_up_to_a_bound() -> None:
    bundle = question_bundle("visits")
    assert PrivateTrajectory.of([1, 2] * 50, bundle, None).locations.tolist() == [1, 2] * 50
    long = PrivateTrajectory.of([3, *[5] * 10_000, 7], bundle, None).locations
    assert (len(long), long[0], long[-1]) == (4096, 3, 7)


@pytest.mark.parametrize("hour", [True, "7", [7]])
def test_an_hour_is_a_whole_number(tmp_path: Path, hour: object) -> None:
    bundle = question_bundle("starts", when="weekday")
    with collecting(bundle) as collector, Client(tmp_path) as client:
        client.join(collector.url, bundle.task.id)
        with refused(DomainError, "hour_malformed"):
            client.report([1, 2], hour=hour)  # type: ignore[arg-type]
        assert client.budget().used == 0
        assert client.report([1, 2], hour=167).accepted


@pytest.mark.parametrize("hour", [None, -1, 168, 3.5, math.nan, np.float64("nan"), -math.inf])
def test_an_hour_that_nobody_knows_is_the_public_one(hour: float | None) -> None:
    bundle = question_bundle("starts", when="weekday")
    assert PrivateTrajectory.of([1], bundle, hour).hour == 0  # type: ignore[arg-type]
    assert PrivateTrajectory.of([1], bundle, 7.0).hour == 7  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["trips", "starts", "ends", "visits"])
def test_reports_of_a_question_are_drawn_by_its_law(tmp_path: Path, name: str) -> None:
    """At a high epsilon nearly every report supports the truth."""
    bundle = question_bundle(name, epsilon=10, reports_per_contributor=10)
    with collecting(bundle) as collector, Client(tmp_path, lifetime=100) as client:
        client.join(collector.url, bundle.task.id)
        for _ in range(10):
            client.report([(40.0, -74.0)] * 3)
        values = [json.loads(each.body)["reports"][0]["value"] for each in collector.uploads]
    question: Any = bundle.mechanism
    truth = int(question.labels_at(question.partition.of[[0]], None))
    told = [bundle.mechanism.labels_of(bundle.code.parse(value)) for value in values]
    assert sum(question.label_name(truth) in labels for labels in told) >= 8


def test_a_home_may_be_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOMADP_HOME", str(tmp_path / "there"))
    with nomadp.Client() as client:
        assert client.home == tmp_path / "there"
    assert (tmp_path / "there" / LEDGER).exists()
