"""A device's own client against a real collector: joined, reported, counted, asked again."""

from pathlib import Path

import pytest
from collecting import Address, bundle_of, today

import nomadp
from nomadp.collector.loaded_task import read_task, totals_of
from nomadp.collector.store import Store


@pytest.mark.parametrize("mechanism", ["atlas", "starts"])
def test_a_device_reports_and_the_operator_sees_it(
    address: Address, store: Store, tmp_path: Path, mechanism: str
) -> None:
    bundle = bundle_of(mechanism)
    places = bundle.locations
    journey = list(zip(places.lat[:4].tolist(), places.lng[:4].tolist(), strict=True))
    with nomadp.Client(tmp_path / "device") as client:
        client.join(f"http://127.0.0.1:{address.port}/tasks/{bundle.task.id}")
        receipt = client.report(journey, now=True)
        assert receipt.state == "accepted"
    assert address.counters(bundle, "accepted") == 1
    connection = store.connect()
    loaded = read_task(connection, bundle.task.id)
    assert loaded is not None
    assert totals_of(connection, loaded) == {today(): 1}
    connection.close()
