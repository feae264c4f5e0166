"""What retention deletes, and that it does not when the clock cannot be believed."""

import json
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from click.testing import CliRunner
from collecting import DAY_S, Address, bundle_of, collector, logged, report, today
from processes import wait_until

from nomadp.cli import main
from nomadp.collector import retention, service
from nomadp.collector.clock import BOUND_S, STEP_S, Clock
from nomadp.collector.connections import open_store
from nomadp.collector.loaded_task import counts_of, read_task, totals_of
from nomadp.collector.retention import deletions
from nomadp.collector.store import Store
from nomadp.protocol.bundle import TaskBundle


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "WATCH_S", 0.05)
    monkeypatch.setattr(service, "SWEEP_S", 0.1)


class Moved:
    """The clock of the system, set ahead by so many days while all else goes on."""

    def __init__(self, days: float = 0) -> None:
        self.days = days

    def __call__(self) -> float:
        return time.time() + self.days * DAY_S


def kept(place: str) -> int:
    with closing(open_store(place).connect()) as connection:
        ((count,),) = connection.rows("SELECT COUNT(*) FROM report WHERE value IS NOT NULL")
    return int(count)


def filled(place: str, bundle: TaskBundle, count: int = 30) -> None:
    with collector(open_store(place), bundle, clock=Clock()) as address:
        assert address.send(bundle, *[report(bundle, k) for k in range(count)]).body == b""


def metric(address: Address, name: str) -> float:
    said = address.ask("GET", "/metrics").body.decode()
    (value,) = [
        line.split()[-1] for line in said.splitlines() if line.startswith(f"nomadp_{name} ")
    ]
    return float(value)


def is_soon(condition: Callable[[], bool]) -> bool:
    return wait_until(condition, 60)


def confirmed(place: str, *more: str) -> Any:
    said = CliRunner().invoke(main, ["collector", "clock", "--store", place, *more, "--json"])
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout)  # the collector logs beside it


def test_a_collector_that_starts_with_the_clock_ahead_deletes_nothing(
    place: str, bundle: TaskBundle, capfd: pytest.CaptureFixture[str]
) -> None:
    filled(place, bundle)
    with collector(open_store(place), clock=Clock(Moved(400))) as address:
        time.sleep(0.5)  # several times as long as between two sweeps
        refused = address.ask("GET", "/readyz")
        assert (refused.status, refused.problem) == (503, "clock_suspect")
        assert metric(address, "clock_suspect") == 1
        assert metric(address, "ready") == 0
        assert metric(address, "deleted_reports_total") == 0
        # Else it would be "late" by this clock, which devices take for an end.
        late = address.send(bundle, report(bundle))
        assert (late.status, late.problem) == (503, "clock_suspect")
        assert int(late.headers["retry-after"]) > 0
    assert kept(place) == 30
    lines = logged(capfd.readouterr().err)
    (said,) = [each for each in lines if each["code"] == "clock_suspect"]
    assert said["days_off"] == pytest.approx(400, abs=0.2)
    assert "values_deleted" not in [each["code"] for each in lines]


def test_a_clock_that_jumps_while_the_collector_runs_stops_deletion_at_once(
    place: str, bundle: TaskBundle
) -> None:
    moved = Moved()
    with collector(open_store(place), bundle, clock=Clock(moved)) as address:
        assert address.send(bundle, report(bundle)).body == b""
        moved.days = 400
        assert address.send(bundle, report(bundle)).problem == "clock_suspect"
        assert address.ask("GET", "/readyz").status == 503
        time.sleep(0.5)
        assert kept(place) == 1
        moved.days = 0  # somebody set it right again
        assert address.ask("GET", "/readyz").status == 200
        assert address.send(bundle, report(bundle)).body == b""
    with closing(open_store(place).connect()) as connection:
        newest = connection.newest_time()
    assert newest is not None
    assert abs(newest - time.time()) <= STEP_S + 1


def test_a_jump_that_the_operator_confirms_lets_retention_go_on(
    place: str, bundle: TaskBundle
) -> None:
    filled(place, bundle)
    moved = Moved()
    with collector(open_store(place), clock=Clock(moved)) as address:
        with closing(
            open_store(place).connect()
        ) as connection:  # as if it had been off so long
            connection.confirm_time(int(time.time()) - 400 * DAY_S)
        assert is_soon(lambda: address.ask("GET", "/readyz").status == 503)
        assert confirmed(place)["is_suspect"]
        assert metric(address, "clock_suspect") == 1
        said = confirmed(place, "--confirm")
        assert abs(said["newest_time"] - time.time()) <= STEP_S + 1
        assert is_soon(lambda: address.ask("GET", "/readyz").status == 200)
        assert metric(address, "clock_suspect") == 0
        assert not confirmed(place)["is_suspect"]


def test_after_a_confirmed_jump_what_is_over_is_deleted_and_counted(
    place: str,
    bundle: TaskBundle,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    filled(place, bundle)
    monkeypatch.setattr(retention, "AT_ONCE", 7)
    with collector(open_store(place), clock=Clock(Moved(400))) as address:
        assert address.ask("GET", "/readyz").status == 503
        with closing(open_store(place).connect()) as connection:
            connection.confirm_time(int(time.time()) + 400 * DAY_S)
        assert is_soon(lambda: metric(address, "deleted_reports_total") == 30)
    assert kept(place) == 0
    lines = logged(capfd.readouterr().err)
    steps = [each["reports"] for each in lines if each["code"] == "values_deleted"]
    assert steps == [7, 7, 7, 7, 2]


def test_a_clock_that_went_back_is_suspect_until_it_is_confirmed(
    place: str, bundle: TaskBundle
) -> None:
    with closing(open_store(place).connect()) as connection:  # confirmed by mistake
        connection.confirm_time(int(time.time()) + 400 * DAY_S)
    with collector(open_store(place), bundle, clock=Clock()) as address:
        assert address.send(bundle, report(bundle)).problem == "clock_suspect"
        confirmed(place, "--confirm")
        assert is_soon(lambda: address.ask("GET", "/readyz").status == 200)
        assert address.send(bundle, report(bundle)).body == b""


def test_what_confirming_would_delete_is_said_before(place: str) -> None:
    bundle = bundle_of(start=today() - 9, end=today() + 1, retention=11)
    filled(place, bundle)
    with closing(open_store(place).connect()) as connection:
        assert confirmed(place)["would_delete"] == 0
        connection.run("UPDATE report SET epoch = epoch - 9")
        connection.run("UPDATE cell SET epoch = epoch - 9")
        assert confirmed(place)["would_delete"] == 0
        connection.run("UPDATE cell SET epoch = epoch - 3")
        assert confirmed(place)["would_delete"] == 30


@pytest.mark.parametrize(("off_s", "is_suspect"), [(-60, False), (60, True)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_clock_may_be_off_by_its_bound_and_by_what_has_passed(
    off_s: int, sign: int, is_suspect: bool
) -> None:
    steady = [50.0]
    clock = Clock(lambda: 1e9, lambda: steady[0])
    clock.set_newest(int(1e9 - 1000 - sign * (BOUND_S + off_s)))
    steady[0] += 1000
    assert clock.is_suspect is is_suspect
    if is_suspect:
        assert clock.time_to_store() is None


def test_a_newest_time_is_only_replaced_by_a_newer_one(store: Store) -> None:
    with closing(store.connect()) as connection:
        assert connection.newest_time() is None
        for seconds, newest in ((7200, 7200), (3600, 7200), (10800, 10800)):
            connection.keep_time(seconds)
            assert connection.newest_time() == newest
        connection.confirm_time(3600)
        assert connection.newest_time() == 3600


def test_a_commit_keeps_the_hour_and_never_a_finer_time(
    store: Store, bundle: TaskBundle
) -> None:
    now_s = [1e9]
    with collector(store, clock=lambda: now_s[0]):
        pass
    with closing(store.connect()) as connection:
        assert connection.newest_time() == int(1e9) // STEP_S * STEP_S


@pytest.mark.parametrize("deletes", [False, True])
def test_counts_outlive_their_reports_unless_the_task_says_otherwise(
    store: Store, deletes: bool
) -> None:
    bundle = bundle_of(
        "starts", start=today() - 2, end=today() + 1, retention=4, **said(deletes)
    )
    with collector(store, bundle) as address:
        assert address.send(bundle, *[report(bundle, k) for k in range(30)]).body == b""
        with closing(store.connect()) as connection:
            loaded = read_task(connection, bundle.task.id)
            assert loaded is not None
            before = counts_of(connection, loaded)
            assert sum(deletions(store, loaded, time.time() + 50 * DAY_S)) == 30
            assert sum(deletions(store, loaded, time.time() + 60 * DAY_S)) == 0
            assert totals_of(connection, loaded) == ({} if deletes else {today(): 30})
            after = counts_of(connection, loaded)
        path = f"/tasks/{bundle.task.id}/counts"
        found = address.ask("GET", path, role="analyst").json
    assert after.cells == ({} if deletes else before.cells)
    assert found.get("reports") == (None if deletes else 30)


@pytest.mark.parametrize("deletes", [False, True])
def test_what_comes_in_after_a_wrong_clock_was_set_right_is_deleted_in_its_time(
    place: str, deletes: bool
) -> None:
    bundle = bundle_of(
        "starts", start=today() - 2, end=today() + 1, retention=4, **said(deletes)
    )
    store, over_s = open_store(place), time.time() + 50 * DAY_S
    with collector(store, bundle) as address:
        assert address.send(bundle, *[report(bundle, k) for k in range(5)]).body == b""
        with closing(store.connect()) as connection:
            loaded = read_task(connection, bundle.task.id)
        assert loaded is not None
        assert sum(deletions(store, loaded, over_s)) == 5  # confirmed by mistake
        assert address.send(bundle, *[report(bundle, k) for k in range(3)]).body == b""
        checked = CliRunner().invoke(main, ["collector", "check", "--store", place])
        assert checked.exit_code == 0, checked.output
    assert kept(place) == 3
    assert sum(deletions(store, loaded, time.time())) == 0
    assert sum(deletions(store, loaded, over_s)) == 3
    assert kept(place) == 0


def said(deletes: bool) -> dict[str, Any]:
    return {"delete_counts": True} if deletes else {}
