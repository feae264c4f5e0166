"""Outlines of zones: published with a task, kept, served, and drawn in answers."""

import json
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from collecting import Address as Served
from collecting import collector, report, today
from worlds import scattered

from nomadp.client.bundles import fetched_from
from nomadp.collector.connections import open_store
from nomadp.collector.copying import copy_store
from nomadp.collector.loaded_task import add_task, read_task
from nomadp.collector.store import Store
from nomadp.protocol.address import Address
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.canonical import base64url
from nomadp.protocol.create import create_task
from nomadp.protocol.fetch import with_fetched_outlines
from nomadp.protocol.outlines import outlines_bytes, with_outlines
from nomadp.protocol.public_files import locations_bytes, zones_bytes
from nomadp.zones import polygon_zones


@pytest.fixture
def drawn() -> TaskBundle:
    """Of a west and an east."""
    places = scattered(40)
    middle = float(sorted(places.lng)[20]) - 1e-6
    west, east = [middle - 5, middle], [middle, middle + 5]
    rings = [
        [[[left, 30.0], [right, 30.0], [right, 50.0], [left, 50.0], [left, 30.0]]]
        for left, right in (west, east)
    ]
    zones = polygon_zones(places, rings, ["West", "East"])
    said = {"epsilon": 4, "end": date.today() + timedelta(days=3), "min_batch_size": 3}
    bundle = create_task(places, "starts", purpose="To see.", zones=zones, **said)
    return with_outlines(bundle, outlines_bytes(bundle) or b"")


@pytest.fixture
def plain(drawn: TaskBundle) -> TaskBundle:
    """The same task as somebody has it who has no outlines."""
    files = {"locations": locations_bytes(drawn.locations), "zones": zones_bytes(drawn.domain)}
    return TaskBundle.from_files(drawn.task, files)


def answered(address: Served, bundle: TaskBundle, question: dict[str, Any]) -> Any:
    path = f"/tasks/{bundle.task.id}/collection_jobs"
    name = address.post(path, {"query": question}, "analyst").json["job"]
    for _ in range(300):
        reply = address.ask("GET", f"{path}/{name}", role="analyst")
        if reply.status == 200:
            return reply.json["answer"]["drawn"]
        time.sleep(0.1)
    raise AssertionError("no answer came")


def test_outlines_are_served_and_answers_are_drawn_with_them(
    store: Store, drawn: TaskBundle
) -> None:
    with collector(store, drawn) as address:
        reply = address.ask("GET", f"/tasks/{drawn.task.id}/outlines")
        assert reply.status == 200
        assert reply.body == outlines_bytes(drawn)
        assert reply.headers["content-type"] == "application/geo+json"
        address.send(drawn, *(report(drawn, time=today()) for _ in range(4)))
        found = answered(address, drawn, {"kind": "hotspots"})
        assert [each["row"] for each in found["areas"]] == [0, 1]
        assert found["dots"] == []
        url = f"http://127.0.0.1:{address.port}"
        fetched = fetched_from(url, drawn.task.id)
        assert not fetched.domain.polygons  # what a device takes
        assert set(with_fetched_outlines(Address.parse(url), fetched).domain.polygons) == {
            "West",
            "East",
        }


def test_a_task_without_outlines_has_none_to_serve(
    sqlite: Store, plain: TaskBundle, bundle: TaskBundle, question: TaskBundle
) -> None:
    with collector(sqlite, plain, bundle, question) as address:
        for each in (plain, bundle, question):
            assert address.ask("GET", f"/tasks/{each.task.id}/outlines").problem == "not_found"
        url = f"http://127.0.0.1:{address.port}"
        assert with_fetched_outlines(Address.parse(url), plain) is plain


def test_outlines_are_kept_where_a_task_was_without(
    sqlite: Store, plain: TaskBundle, drawn: TaskBundle, tmp_path: Path
) -> None:
    connection = sqlite.connect()
    assert add_task(connection, plain)
    assert not add_task(connection, drawn)
    loaded = read_task(connection, drawn.task.id)
    assert loaded is not None
    assert set(loaded.bundle.domain.polygons) == {"West", "East"}
    connection.close()
    other = open_store(str(tmp_path / "copy.sqlite"))
    copy_store(sqlite, other)
    again = read_task(other.connect(), drawn.task.id)
    assert again is not None
    assert again.files["outlines"] == loaded.files["outlines"]


def test_an_operator_publishes_them_and_wrong_ones_are_refused(
    sqlite: Store, drawn: TaskBundle
) -> None:
    right = outlines_bytes(drawn) or b""
    said = json.loads(right)
    said["features"][0]["properties"]["name"] = "Elsewhere"
    with collector(sqlite) as address:
        for outlines, status in ((json.dumps(said).encode(), 400), (right, 201)):
            files = {**drawn.files, "outlines": outlines}
            sent = {name: base64url(content) for name, content in files.items()}
            content = {"task": base64url(drawn.task.content), "files": sent}
            reply = address.post("/operator/tasks", content, "operator")
            assert reply.status == status
        assert address.ask("GET", f"/tasks/{drawn.task.id}/outlines").body == right
