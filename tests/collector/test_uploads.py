"""Uploads over real HTTP: what is taken, what is refused, and that the operator sees why."""

import asyncio
import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from collecting import (
    Address,
    Reply,
    bundle_of,
    collector,
    logged,
    new_id,
    prepared,
    report,
    today,
    value_of,
)
from refusals import refused

from nomadp.collector import disk_space, ingest
from nomadp.collector import writer as writing
from nomadp.collector.clock import Clock
from nomadp.collector.condition import Condition
from nomadp.collector.disk_space import DiskSpace
from nomadp.collector.loaded_task import (
    LoadedTask,
    counters_of,
    counts_of,
    read_task,
    totals_of,
)
from nomadp.collector.messages import UPLOAD_TYPE
from nomadp.collector.service import Service
from nomadp.collector.store import Connection, Store, StoreFull, StoreUnavailable
from nomadp.collector.writer import Writer
from nomadp.errors import DomainError
from nomadp.protocol.bundle import TaskBundle


def reports_in(store: Store, bundle: TaskBundle) -> dict[str, tuple[int, bytes | None]]:
    from nomadp.collector.messages import report_id_text

    connection = store.connect()
    rows = connection.rows(
        "SELECT r.id, r.epoch, r.value FROM report AS r JOIN task AS t ON r.task = t.number "
        "WHERE t.id = ?",
        bundle.task.id,
    )
    connection.close()
    return {report_id_text(bytes(name)): (epoch, value) for name, epoch, value in rows}


@contextmanager
def watched(store: Store, bundle: TaskBundle) -> Iterator[tuple[Address, Service, Connection]]:
    """A collector with its inside: what it writes by can be made to fail."""
    services: list[Service] = []
    with collector(store, bundle, started=services.append) as address:
        connection = services[0].writer._connection
        assert connection is not None
        yield address, services[0], connection


def failing(error: Exception) -> Any:
    def fails(*_: object) -> None:
        raise error

    return fails


def send_raw(
    address: Address, bundle: TaskBundle, body: bytes, kind: str = UPLOAD_TYPE
) -> Reply:
    path = f"/tasks/{bundle.task.id}/reports"
    return address.ask("POST", path, body, content_type=kind)


def test_what_is_acknowledged_is_stored(
    address: Address, store: Store, bundle: TaskBundle
) -> None:
    sent = report(bundle, 7)
    reply = address.send(bundle, sent)
    assert (reply.status, reply.body) == (200, b"")
    stored = {sent["report_id"]: (today(), bundle.code.raw((7,)))}
    assert reports_in(store, bundle) == stored
    assert address.counters(bundle, "accepted") == 1


def test_the_same_again_is_a_success_and_counts_once(
    address: Address, store: Store, bundle: TaskBundle
) -> None:
    sent = report(bundle, 7)
    assert [address.send(bundle, sent).body for _ in range(3)] == [b""] * 3
    assert address.send(bundle, sent, sent).body == b""
    assert address.counters(bundle, "accepted_again", 4) == 4
    connection = store.connect()
    loaded = read_task(connection, bundle.task.id)
    assert loaded is not None
    assert totals_of(connection, loaded) == {today(): 1}
    assert list(counts_of(connection, loaded).cells.values()) == [1]
    connection.close()


@pytest.mark.parametrize("other", [{"value": 8}, {"time": -1}])
def test_the_same_id_with_other_bytes_is_refused_and_the_first_kept(
    address: Address, store: Store, bundle: TaskBundle, other: dict[str, int]
) -> None:
    sent = report(bundle, 7)
    address.send(bundle, sent)
    changed = dict(sent)
    if "value" in other:
        changed["value"] = value_of(bundle, other["value"])
    else:
        changed["time"] += other["time"]
    reply = address.send(bundle, changed)
    assert (reply.status, reply.failures) == (200, ["report_replayed"])
    assert reports_in(store, bundle) == {sent["report_id"]: (today(), bundle.code.raw((7,)))}
    assert address.counters(bundle, "report_replayed") == 1


def test_of_two_under_one_id_in_one_upload_the_first_is_kept(
    address: Address, store: Store, bundle: TaskBundle
) -> None:
    one = report(bundle, 1)
    reply = address.send(bundle, one, dict(one, value=value_of(bundle, 2)))
    assert reply.json == {"failures": [{"id": one["report_id"], "error": "report_replayed"}]}
    assert reports_in(store, bundle)[one["report_id"]] == (today(), bundle.code.raw((1,)))


def test_one_id_in_two_tasks_is_two_reports(
    address: Address, store: Store, bundle: TaskBundle, question: TaskBundle
) -> None:
    name = new_id()
    assert address.send(bundle, report(bundle, report_id=name)).body == b""
    assert address.send(question, report(question, report_id=name)).body == b""
    assert len(reports_in(store, bundle)) == len(reports_in(store, question)) == 1


def test_failures_alone_are_told_in_the_order_of_the_request(
    address: Address, store: Store, bundle: TaskBundle
) -> None:
    sent = [
        report(bundle, 1, time=today() + 9),
        report(bundle, 2),
        report(bundle, 3, value="!"),
        report(bundle, 4, time=0),
        report(bundle, 5),
        report(bundle, 6, value=bundle.code.text((bundle.code.size,))),
    ]
    reply = address.send(bundle, *sent)
    wrong = ["report_too_early", "invalid_message", "task_not_started", "invalid_message"]
    names = [sent[k]["report_id"] for k in (0, 2, 3, 5)]
    told = [{"id": i, "error": e} for i, e in zip(names, wrong, strict=True)]
    assert (reply.status, reply.json) == (200, {"failures": told})
    assert set(reports_in(store, bundle)) == {sent[1]["report_id"], sent[4]["report_id"]}


@pytest.mark.parametrize(
    ("days", "told", "counted"),
    [
        (-6, "task_not_started", "task_not_started"),
        (20, "task_expired", "task_expired"),
        (2, "report_too_early", "report_too_early"),
    ],
)
def test_times_outside_the_task_are_refused(
    address: Address, bundle: TaskBundle, days: int, told: str, counted: str
) -> None:
    assert address.send(bundle, report(bundle, time=today() + days)).failures == [told]
    assert address.counters(bundle, counted) == 1


def test_a_clock_that_is_a_day_ahead_is_forgiven(address: Address, bundle: TaskBundle) -> None:
    assert address.send(bundle, report(bundle, time=today() + 1)).body == b""


def test_late_is_told_as_replayed_and_counted_as_late(store: Store) -> None:
    bundle = bundle_of(start=today() - 5, end=today() + 1, retention=6)
    in_a_day = lambda: time.time() + 2 * 86_400  # noqa: E731
    with collector(store, bundle, clock=in_a_day) as address:
        assert address.send(bundle, report(bundle, time=today() - 4)).failures == [
            "report_replayed"
        ]
        assert address.counters(bundle, "late") == 1
        assert address.send(bundle, report(bundle, time=today() - 3)).body == b""


def test_a_reason_that_is_on_no_list_is_told_to_nobody(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "time_refusal", lambda *_: "seen_before_at_noon")
    with collector(sqlite, bundle) as address:
        reply = address.send(bundle, report(bundle))
        assert (reply.status, reply.problem) == (503, "unavailable")  # so it is kept
        assert b"noon" not in reply.body
        assert address.counters(bundle, "seen_before_at_noon") == 1


def test_a_closed_task_drops_what_is_new_and_knows_what_it_has(
    address: Address, store: Store, bundle: TaskBundle
) -> None:
    sent, status = report(bundle), f"/tasks/{bundle.task.id}/status"
    address.send(bundle, sent)
    assert address.ask("GET", status).json == {"task_id": bundle.task.id, "closed": False}
    closed = address.ask("POST", f"/operator/tasks/{bundle.task.id}/close", role="operator")
    assert closed.json == {"task_id": bundle.task.id, "closed": True}
    told = address.ask("GET", status)
    assert (told.json, told.headers["cache-control"]) == (closed.json, "no-store")
    assert address.send(bundle, report(bundle)).failures == ["report_dropped"]
    assert address.send(bundle, sent).body == b""
    assert set(reports_in(store, bundle)) == {sent["report_id"]}
    assert address.counters(bundle, "report_dropped") == 1
    connection = store.connect()
    loaded = read_task(connection, bundle.task.id)
    assert loaded is not None
    assert totals_of(connection, loaded) == {today(): 1}
    connection.close()


@pytest.mark.parametrize("said", [True, False, None, "no"])
def test_what_says_anything_of_simulated_is_refused(
    address: Address, store: Store, bundle: TaskBundle, said: object
) -> None:
    marked = report(bundle, simulated=said)
    assert address.send(bundle, marked, report(bundle)).failures == ["invalid_message"]
    assert address.counters(bundle, "simulated") == 1
    assert address.send(bundle, report(bundle), simulated=said).failures == ["invalid_message"]
    assert address.counters(bundle, "simulated", 2) == 2
    assert len(reports_in(store, bundle)) == 1


def test_impossible_values_of_a_question_are_refused(
    address: Address, question: TaskBundle
) -> None:
    code = question.code
    for wrong in ("", "A", "A" * (code.characters + 1), "\u00e9" * code.characters):
        sent = report(question, value=wrong)
        assert address.send(question, sent).failures == ["invalid_message"]
    assert address.counters(question, "invalid_message", 4) == 4


BAD_BODIES = {
    "nothing": b"",
    "no object": b"[]",
    "no reports": b"{}",
    "none": b'{"reports":[]}',
    "no json": b"\xff\xfe",
    "deep": b'{"reports":' + b"[" * 5000,
    "unknown member": b'{"reports":[],"more":1}',
    "id of another length": json.dumps(
        {"reports": [{"report_id": "A" * 21, "time": 1, "value": "AA"}]}
    ).encode(),
    "id that is not canonical": json.dumps(
        {"reports": [{"report_id": "A" * 21 + "B", "time": 1, "value": "AA"}]}
    ).encode(),
    "a user agent": json.dumps(
        {"reports": [{"report_id": "A" * 22, "time": 1, "value": "AA", "agent": "x"}]}
    ).encode(),
    "reports twice": b'{"reports":[],"reports":[{"report_id":"%s","time":1,"value":"AA"}]}'
    % (b"A" * 22),
    "a value twice": b'{"reports":[{"report_id":"%s","time":1,"value":"AA",'
    b'"v\\u0061lue":"AA"}]}' % (b"A" * 22),
    "a huge time": json.dumps(
        {"reports": [{"report_id": "A" * 22, "time": 10**30, "value": "AA"}]}
    ).encode(),
    "101": json.dumps(
        {"reports": [{"report_id": "A" * 22, "time": 1, "value": "AA"}] * 101}
    ).encode(),
}


@pytest.fixture(scope="module")
def one_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    from nomadp.collector.connections import open_store

    place = tmp_path_factory.mktemp("collector") / "collector.sqlite"
    with collector(open_store(str(place)), bundle_of()) as running:
        yield running


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_that_is_no_upload_is_a_problem(one_address: Address, name: str) -> None:
    bundle = bundle_of()
    before = one_address.counters(bundle, "invalid_message", 0)
    reply = send_raw(one_address, bundle, BAD_BODIES[name])
    assert (reply.status, reply.problem) == (400, "invalid_message")
    assert reply.json["taskid"] == bundle.task.id
    assert one_address.counters(bundle, "invalid_message", before + 1) == before + 1


def test_another_media_type_is_refused(one_address: Address) -> None:
    bundle = bundle_of()
    body = json.dumps({"reports": [report(bundle)]}).encode()
    for kind in ("application/json", UPLOAD_TYPE[:-1] + "2", ""):
        reply = send_raw(one_address, bundle, body, kind)
        assert (reply.status, reply.problem) == (415, "unsupported_media_type")
    assert one_address.counters(bundle, "unsupported_media_type", 3) == 3
    assert send_raw(one_address, bundle, body, UPLOAD_TYPE.replace(";", "; ")).status == 200


def test_a_packed_body_is_refused(one_address: Address) -> None:
    bundle = bundle_of()
    path = f"/tasks/{bundle.task.id}/reports"
    headers = {"content_type": UPLOAD_TYPE, "content_encoding": "gzip"}
    assert one_address.ask("POST", path, b"x", **headers).problem == "unsupported_media_type"


def test_more_than_64_kib_is_refused(one_address: Address) -> None:
    bundle = bundle_of()
    reply = send_raw(one_address, bundle, b" " * 65_537)
    assert (reply.status, reply.problem) == (413, "too_large")
    assert one_address.counters(bundle, "too_large") == 1


def test_more_than_64_kib_in_pieces_are_refused_though_nobody_said_how_many(
    one_address: Address,
) -> None:
    bundle = bundle_of()
    path = f"/tasks/{bundle.task.id}/reports"
    connection = http.client.HTTPConnection("127.0.0.1", one_address.port, timeout=30)
    said = json.dumps({"reports": [report(bundle)]}).encode()
    pieces = [said, *[b" " * 10_000] * 7]
    connection.request("POST", path, pieces, {"content-type": UPLOAD_TYPE}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_of_a_sender_who_went_away_halfway_nothing_is_counted(
    sqlite: Store, bundle: TaskBundle
) -> None:
    with collector(sqlite, bundle) as address:
        with socket.create_connection(("127.0.0.1", address.port)) as gone:
            head = f"POST /tasks/{bundle.task.id}/reports HTTP/1.1\r\nhost: x\r\n"
            head += f"content-type: {UPLOAD_TYPE}\r\ncontent-length: 500\r\n\r\n"
            gone.sendall(head.encode() + b'{"reports":')
            time.sleep(0.2)
        time.sleep(0.2)
        assert address.send(bundle, report(bundle)).body == b""
    connection = sqlite.connect()
    assert counters_of(connection)[1] == {"accepted": 1}
    connection.close()


def test_an_unknown_task_is_refused_without_an_echo(one_address: Address) -> None:
    stranger = bundle_of(purpose="Somebody else's.")
    reply = one_address.send(stranger, report(stranger))
    assert (reply.status, reply.problem) == (404, "unrecognized_task")
    assert stranger.task.id.encode() not in reply.body
    assert one_address.counters(None, "unrecognized_task") == 1


def test_a_nearly_full_disk_takes_nothing_until_there_is_room(
    sqlite: Store, bundle: TaskBundle, capfd: pytest.CaptureFixture[str]
) -> None:
    free = [10**9]
    with collector(sqlite, bundle, space=DiskSpace(lambda: free[0], 10**8)) as address:
        assert address.send(bundle, report(bundle)).status == 200
        free[0] = 10**7
        time.sleep(0.6)
        reply = address.send(bundle, report(bundle))
        assert (reply.status, reply.problem) == (507, "storage_full")
        assert int(reply.headers["retry-after"]) > 0
        assert address.ask("GET", "/readyz").status == 507
        free[0] = 10**9
        time.sleep(0.6)
        assert address.send(bundle, report(bundle)).status == 200
        assert address.counters(bundle, "storage_full") == 1
    codes = [line["code"] for line in logged(capfd.readouterr().err)]
    assert codes == ["storage_full", "storage_free"]


def test_a_limit_that_is_no_number_is_refused_and_not_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NOMADP_KEEP_FREE_MIB", "lots")
    with refused(DomainError, "keep_free_malformed", variable="NOMADP_KEEP_FREE_MIB"):
        DiskSpace(lambda: 0)
    monkeypatch.setenv("NOMADP_KEEP_FREE_MIB", "1")
    assert not DiskSpace(lambda: 2**20).is_full


def test_a_store_that_said_it_is_full_is_believed_for_a_moment(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "LOOK_AGAIN_S", 600.0)
    with watched(sqlite, bundle) as (address, service, connection):
        write = connection.write

        def fails(*_: object) -> None:
            connection.write = write  # type: ignore[method-assign]
            raise StoreFull("full")

        connection.write = fails  # type: ignore[assignment, method-assign]
        sent = report(bundle)
        for _ in range(2):
            reply = address.send(bundle, sent)
            assert (reply.status, reply.problem) == (507, "storage_full")
        service.condition.space._refused_until_s = 0.0  # the moment is over
        assert address.send(bundle, sent).body == b""


def test_a_full_queue_turns_away_and_says_when_to_come_back(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "QUEUE_REPORTS", 5)
    with collector(sqlite, bundle) as address:
        reply = address.send(bundle, *[report(bundle) for _ in range(6)])
        assert (reply.status, reply.problem) == (429, "overloaded")
        assert int(reply.headers["retry-after"]) > 0
        assert address.send(bundle, *[report(bundle) for _ in range(5)]).body == b""
        assert address.counters(bundle, "overloaded") == 1


def test_what_was_refused_is_counted_though_the_commit_beside_it_failed(
    sqlite: Store, bundle: TaskBundle
) -> None:
    with watched(sqlite, bundle) as (address, _, connection):
        full = failing(StoreFull("full"))
        connection.write, write = full, connection.write  # type: ignore[method-assign]
        assert address.send(bundle, report(bundle, time=0), report(bundle)).status == 507
        connection.write = write  # type: ignore[method-assign]
        assert address.counters(bundle, "task_not_started") == 1


def test_a_commit_that_fails_at_its_very_end_acknowledges_nothing(
    sqlite: Store, bundle: TaskBundle
) -> None:
    with watched(sqlite, bundle) as (address, _, connection):
        connection.add_counters = failing(StoreUnavailable("away"))  # type: ignore[method-assign]
        assert address.send(bundle, report(bundle)).status == 503
        assert reports_in(sqlite, bundle) == {}
        sent = report(bundle)
        assert address.send(bundle, sent).body == b""  # on a connection of its own
    assert set(reports_in(sqlite, bundle)) == {sent["report_id"]}


def condition_of(store: Store) -> Condition:
    return Condition(Clock(), DiskSpace(store.free_bytes))


def test_what_is_queued_when_it_is_told_to_stop_is_written_and_answered(
    sqlite: Store, bundle: TaskBundle
) -> None:
    async def stopped() -> list[str]:
        writer = Writer(sqlite, asyncio.get_running_loop(), condition_of(sqlite))
        done = writer.submit(
            LoadedTask.of(1, bundle), [b"i" * 16], [today()], [bundle.code.raw((7,))]
        )
        writer._is_stopping = True  # as `stop` does, before the thread looks
        writer._queue.put(None)
        writer.start()
        outcomes = await asyncio.wait_for(done, 20)
        await asyncio.to_thread(writer._thread.join, 20)
        assert not writer._thread.is_alive()
        return outcomes

    prepared(sqlite, bundle)
    assert asyncio.run(stopped()) == ["accepted"]
    assert len(reports_in(sqlite, bundle)) == 1


def test_a_sender_who_is_gone_leaves_no_trace_in_the_queue(
    sqlite: Store, bundle: TaskBundle
) -> None:
    async def answered() -> int:
        writer = Writer(sqlite, asyncio.get_running_loop(), condition_of(sqlite))
        loaded = LoadedTask.of(1, bundle)
        gone = writer.submit(loaded, [b"i" * 16], [today()], [bundle.code.raw((7,))])
        gone.cancel()
        pending = writer._queue.get()
        assert pending is not None
        writer._answer([pending])
        return writer.waiting

    assert asyncio.run(answered()) == 0


def test_a_store_that_is_away_is_told_and_the_next_try_succeeds(
    sqlite: Store, bundle: TaskBundle
) -> None:
    with watched(sqlite, bundle) as (address, _, connection):
        connection.write = failing(StoreUnavailable("away"))  # type: ignore[method-assign]
        sent = report(bundle)
        reply = address.send(bundle, sent)
        assert (reply.status, reply.problem) == (503, "unavailable")
        assert int(reply.headers["retry-after"]) > 0
        assert address.send(bundle, sent).body == b""
        assert address.counters(bundle, "unavailable") == 1
