"""Device and collector together: what one sends the other keeps; refusals are understood."""

import time
from pathlib import Path

import pytest
from collecting import DAY_S, bundle_of, collector
from refusals import refused

from nomadp.client import Client, sending
from nomadp.collector.sqlite_store import SqliteStore
from nomadp.errors import ReportRefused
from nomadp.protocol.folder import write_task_folder

JOURNEY = [(41.2, -87.9), (41.5, -87.4), (41.9, -87.1)]


@pytest.mark.parametrize("mechanism", ["atlas", "trips", "starts", "ends", "visits"])
def test_a_report_is_accepted_and_counted(tmp_path: Path, mechanism: str) -> None:
    bundle = bundle_of(mechanism)
    store = SqliteStore(tmp_path / "store.sqlite")
    with collector(store, bundle) as address, Client(tmp_path / "home") as client:
        client.join(f"http://127.0.0.1:{address.port}/tasks/{bundle.task.id}")
        assert client.report(JOURNEY).accepted
        assert address.counters(bundle, "accepted") == 1


def test_bytes_that_were_accepted_are_accepted_again_and_counted_once(tmp_path: Path) -> None:
    bundle = bundle_of()
    store = SqliteStore(tmp_path / "store.sqlite")
    with collector(store, bundle) as address, Client(tmp_path / "home") as client:
        client.join(f"http://127.0.0.1:{address.port}", bundle.task.id)
        receipt = client.report(JOURNEY, queue=True)
        (waiting,) = client._outbox.waiting(None)
        for _ in range(2):
            assert sending._tried(waiting).state == "accepted"
        assert client.send()[0].report_id == receipt.report_id
        assert address.counters(bundle, "accepted") == 1


def test_a_report_that_comes_after_all_were_deleted_is_stopped_with_its_reason(
    tmp_path: Path,
) -> None:
    bundle = bundle_of()
    store = SqliteStore(tmp_path / "store.sqlite")
    later = time.time() + 60 * DAY_S
    with (
        collector(store, bundle, clock=lambda: later) as address,
        Client(tmp_path / "home") as client,
    ):
        client.join(f"http://127.0.0.1:{address.port}", bundle.task.id)
        receipt = client.report(JOURNEY)
        # Late and replayed are not told apart on the wire.
        assert (receipt.state, receipt.reason) == ("stopped", "report_replayed")


def test_a_report_to_a_closed_task_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    bundle = bundle_of()
    store = SqliteStore(tmp_path / "store.sqlite")
    with collector(store, bundle) as address, Client(tmp_path / "home") as client:
        client.join(f"http://127.0.0.1:{address.port}", bundle.task.id)
        address.ask("POST", f"/operator/tasks/{bundle.task.id}/close", role="operator")
        with refused(ReportRefused, "task_closed"):
            client.report(JOURNEY, now=True)
        assert (client.budget().used, client.receipts()) == (0, [])


def test_a_report_to_an_unknown_task_is_stopped_with_its_type(tmp_path: Path) -> None:
    bundle = bundle_of()
    store = SqliteStore(tmp_path / "store.sqlite")
    folder = write_task_folder(tmp_path / "task", bundle)
    with collector(store) as address, Client(tmp_path / "home") as client:
        client.join(folder, send_to=f"http://127.0.0.1:{address.port}")
        receipt = client.report(JOURNEY)
        assert receipt.state == "stopped"
        assert str(receipt.reason).startswith("refused (urn:nomadp:error:")
