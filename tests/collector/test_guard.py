"""Slow, endless and too many connections: cut off, and honest clients are served meanwhile."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from collecting import Address, bundle_of, collector, report

from nomadp.collector import limits
from nomadp.collector.connections import open_store
from nomadp.collector.messages import UPLOAD_TYPE
from nomadp.collector.store import Store
from nomadp.protocol.bundle import TaskBundle


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    place = tmp_path_factory.mktemp("collector") / "collector.sqlite"
    with collector(open_store(str(place)), bundle_of()) as address:
        yield address


def connected(address: Address) -> socket.socket:
    return socket.create_connection(("127.0.0.1", address.port), timeout=60)


def answer(connection: socket.socket) -> bytes:
    """All that is said until the other side closes."""
    found = b""
    try:
        while piece := connection.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def test_headers_of_any_size_are_not_read(running: Address) -> None:
    with connected(running) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nx: " + b"y" * 20_000 + b"\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 431 ")


def test_a_url_of_any_size_is_not_read(running: Address) -> None:
    with connected(running) as connection:
        connection.sendall(b"GET /" + b"y" * 20_000)
        assert b" 431 " in answer(connection)[:16]


@pytest.mark.parametrize(
    "said", [b"\x00\xff" * 50, b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\nx y"]
)
def test_what_is_no_http_is_a_problem(running: Address, said: bytes) -> None:
    with connected(running) as connection:
        connection.sendall(said)
        found = answer(connection)
    assert found.startswith(b"HTTP/1.1 400 ")
    assert b"urn:nomadp:error:bad_request" in found


def upload_head(bundle: TaskBundle, *lines: str) -> bytes:
    about = ["host: x", f"content-type: {UPLOAD_TYPE}", *lines]
    return "\r\n".join(
        [f"POST /tasks/{bundle.task.id}/reports HTTP/1.1", *about, "", ""]
    ).encode()


@pytest.mark.parametrize(
    "hosts", ["", "host: a\r\nHost: a\r\n", "host: a\r\nhost: b\r\nhost: c\r\n"]
)
def test_a_request_names_one_host(running: Address, hosts: str) -> None:
    with connected(running) as connection:
        connection.sendall(f"GET /healthz HTTP/1.1\r\n{hosts}\r\n".encode())
        found = answer(connection)
    assert found.startswith(b"HTTP/1.1 400 ")
    assert found.count(b"HTTP/1.1") == 1
    assert b"urn:nomadp:error:bad_request" in found


def test_a_check_of_health_by_the_old_protocol_needs_none(running: Address) -> None:
    with connected(running) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert b" 200 " in answer(connection)[:16]


@pytest.mark.parametrize("count", [101, 5000, 20_000])
def test_headers_of_any_number_are_not_read(running: Address, count: int) -> None:
    head = b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + b"a:b\r\n" * count + b"\r\n"
    with connected(running) as connection:
        connection.sendall(head)
        found = answer(connection)
    assert found.startswith(b"HTTP/1.1 431 ")
    assert found.count(b"HTTP/1.1") == 1
    assert b"urn:nomadp:error:headers_too_large" in found


@pytest.mark.parametrize("pieces", [1, 50])
@pytest.mark.parametrize(("size", "status"), [(174, b" 200 "), (180, b" 431 ")])
def test_headers_have_one_limit_however_they_arrive(
    running: Address, pieces: int, size: int, status: bytes
) -> None:
    head = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    head += b"".join(b"%02d: %s\r\n" % (k, b"y" * size) for k in range(90)) + b"\r\n"
    with connected(running) as connection:
        step = len(head) // pieces + 1
        for k in range(0, len(head), step):
            with suppress(ConnectionError):  # what is refused need not be sent to its end
                connection.sendall(head[k : k + step])
        assert status in answer(connection)[:16]


def test_as_many_headers_as_programs_send_are_read(running: Address) -> None:
    with connected(running) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + b"a:b\r\n" * 98 + b"host: x\r\n")
        connection.sendall(b"connection: close\r\n\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("lines", [["content-length: 10"], ["transfer-encoding: chunked"]])
@pytest.mark.parametrize("body", [b"", b"1\r\n{\r\n"])
def test_a_body_that_does_not_arrive_is_told_so(
    sqlite: Store,
    bundle: TaskBundle,
    monkeypatch: pytest.MonkeyPatch,
    lines: list[str],
    body: bytes,
) -> None:
    monkeypatch.setattr(limits, "ARRIVAL_S", 0.5)
    with collector(sqlite, bundle) as address:
        with connected(address) as connection:
            began_s = time.monotonic()
            connection.sendall(upload_head(bundle, *lines) + body)
            found = answer(connection)
            assert time.monotonic() - began_s > 0.3
        assert found.startswith(b"HTTP/1.1 408 ")
        assert found.count(b"HTTP/1.1") == 1
        assert b"urn:nomadp:error:too_slow" in found
        assert address.send(bundle, report(bundle)).body == b""


def test_a_head_that_does_not_arrive_is_told_so(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ARRIVAL_S", 0.5)
    with collector(sqlite, bundle) as address:
        for said in (b"", b"GET /healthz HTTP/1.1\r\nx: "):
            with connected(address) as connection:
                connection.sendall(said)
                assert answer(connection).startswith(b"HTTP/1.1 408 ")


def test_a_request_is_answered_once_though_its_body_stops(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ARRIVAL_S", 0.5)
    with collector(sqlite, bundle) as address, connected(address) as connection:
        head = upload_head(bundle, "content-encoding: gzip", "content-length: 10")
        connection.sendall(head + b"{")
        found = answer(connection)
    assert found.startswith(b"HTTP/1.1 415 ")
    assert found.count(b"HTTP/1.1") == 1


def test_an_answered_connection_is_not_hurried(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ARRIVAL_S", 0.5)
    with collector(sqlite, bundle) as address, connected(address) as connection:
        head = upload_head(bundle, "content-encoding: gzip", "content-length: 1")
        connection.sendall(head)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 415 ")
        connection.sendall(b"{")
        time.sleep(1)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        found = answer(connection)
    assert b" 200 " in found
    assert b" 408 " not in found


def test_no_reply_is_taken_for_another_type(running: Address) -> None:
    for method, path in [
        ("GET", "/healthz"),
        ("GET", f"/tasks/{bundle_of().task.id}"),
        ("GET", f"/tasks/{bundle_of().task.id}/counts"),
        ("POST", f"/tasks/{bundle_of().task.id}/reports"),
        ("GET", "/metrics"),
        ("GET", "/nowhere"),
    ]:
        assert running.ask(method, path).headers["x-content-type-options"] == "nosniff"
    assert running.send(bundle_of(), report(bundle_of())).headers["x-content-type-options"]
    with connected(running) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
        assert b"x-content-type-options: nosniff" in answer(connection)


def test_of_too_many_connections_the_longest_waiting_goes(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CONNECTIONS_MAX", 20)
    with collector(sqlite, bundle) as address:
        idle = [connected(address) for _ in range(30)]
        try:
            assert address.send(bundle, report(bundle)).body == b""
            assert answer(idle[0]) == b""
        finally:
            for each in idle:
                each.close()


def test_connections_that_idle_after_an_answer_make_room_for_new_ones(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CONNECTIONS_MAX", 10)
    with collector(sqlite, bundle) as address:
        idle = [connected(address) for _ in range(12)]
        try:
            for each in idle[2:]:
                each.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
                assert each.recv(9) == b"HTTP/1.1 "
            for _ in range(20):
                assert address.send(bundle, report(bundle)).body == b""
        finally:
            for each in idle:
                each.close()


def test_honest_clients_are_served_beside_hundreds_of_slow_ones(
    sqlite: Store, bundle: TaskBundle
) -> None:
    with collector(sqlite, bundle) as address:
        slow = [connected(address) for _ in range(300)]
        try:
            for each in slow:
                each.sendall(b"POST /tasks/x/reports HTTP/1.1\r\nx-slow: ")
            spent_s = []
            for _ in range(20):
                began_s = time.monotonic()
                assert address.send(bundle, report(bundle)).body == b""
                spent_s.append(time.monotonic() - began_s)
            assert sorted(spent_s)[10] < 10  # nobody waits for them to be cut off
        finally:
            for each in slow:
                each.close()


def test_trailers_of_any_size_are_not_read(running: Address) -> None:
    path = f"/tasks/{bundle_of().task.id}/reports".encode()
    head = (
        b"host: x\r\ncontent-type: " + UPLOAD_TYPE.encode() + b"\r\ntransfer-encoding: chunked"
    )
    with connected(running) as connection:
        connection.sendall(b"POST " + path + b" HTTP/1.1\r\n" + head + b"\r\n\r\n0\r\nx: ")
        with pytest.raises((ConnectionError, TimeoutError)):  # cut off long before
            connection.sendall(b"y" * 2**26)


def test_a_message_may_begin_where_a_large_one_ends(running: Address) -> None:
    body = json.dumps({"reports": [report(bundle_of(), k) for k in range(100)]}).encode()
    body += b" " * 20_000
    head = f"POST /tasks/{bundle_of().task.id}/reports HTTP/1.1\r\nhost: x\r\n"
    head += f"content-type: {UPLOAD_TYPE}\r\ncontent-length: {len(body)}\r\n\r\n"
    with connected(running) as connection:
        connection.sendall(head.encode() + body + b"GET /healthz HTTP/1.1\r\nhost: x\r\n")
        time.sleep(0.2)
        connection.sendall(b"connection: close\r\n\r\n")
        assert answer(connection).count(b"HTTP/1.1 200 ") == 2


def test_idle_connections_leave_room_for_others(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CONNECTIONS_MAX", 20)
    with collector(sqlite, bundle) as address, ExitStack() as many:
        for _ in range(20):
            idle = many.enter_context(connected(address))
            idle.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert idle.recv(1000).startswith(b"HTTP/1.1 200 ")
        assert address.send(bundle, report(bundle)).body == b""
