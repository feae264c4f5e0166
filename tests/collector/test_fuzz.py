"""Whatever is sent: no answer of 500 or above, and the collector goes on."""

import json
import random
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from collecting import TOKENS, Address, Process, bundle_of, logged, prepared, report
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed

from nomadp.collector.connections import open_store
from nomadp.collector.messages import UPLOAD_TYPE

DOCUMENT = Path(__file__).parents[2] / "src" / "nomadp" / "collector" / "openapi.json"
HOST = b"host: localhost\r\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("collector")
    place = str(folder / "collector.sqlite")
    prepared(open_store(place), bundle_of(), bundle_of("starts"))
    with Process(place, folder) as process:
        yield process
        assert process.process is not None
        assert process.process.poll() is None
        assert process.address.send(bundle_of(), report(bundle_of())).body == b""
        codes = {line["code"] for line in logged(process.log.read_text())}
        assert not any(code.endswith("_failed") for code in codes)


def resident_kib(process: Process) -> int:
    assert process.process is not None
    said = Path(f"/proc/{process.process.pid}/status").read_text()
    return int(said.partition("VmRSS:")[2].split()[0])


def asked_by_schema(address: Address, examples: int) -> int:
    """Requests that the document leads to, half of them of a real task; how many."""
    schema = schemathesis.openapi.from_path(str(DOCUMENT))
    count = 0
    with requests.Session() as session:
        for each in schema.get_all_operations():
            operation = each.ok()
            is_operators = operation.path.startswith(("/operator", "/metrics"))
            role = "operator" if is_operators else "analyst"
            port = address.operator_port if is_operators else address.port

            def ask(case: Any, role: str = role, port: int = port) -> None:
                nonlocal count
                count += 1
                if count % 2 and "task" in (case.path_parameters or {}):
                    case.path_parameters["task"] = bundle_of("starts").task.id  # it gets closed
                token = {"authorization": f"Bearer {TOKENS[role]}"}
                case.headers = {**(case.headers or {}), **token}
                base = f"http://127.0.0.1:{port}"
                reply = case.call(base_url=base, session=session, timeout=120)
                assert reply.status_code < 500

            _fuzzed(operation.as_strategy(), ask, examples)
    return count


def _fuzzed(strategy: Any, ask: Callable[[Any], None], examples: int) -> None:
    @hypothesis_seed(1)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def asked(case: Any) -> None:
        ask(case)

    asked()


def raw_requests(count: int) -> Iterator[bytes]:
    """Uploads with bytes changed, cut off, or made up."""
    chance, bundle = random.Random(7), bundle_of()
    for _ in range(count):
        body = json.dumps({"reports": [report(bundle, k) for k in range(3)]}).encode()
        head = f"POST /tasks/{bundle.task.id}/reports HTTP/1.1\r\n".encode() + HOST
        head += f"content-type: {UPLOAD_TYPE}\r\n".encode()
        spoiled = bytearray(body)
        for _ in range(chance.choice((0, 1, 4, 30))):
            spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
        kind = chance.randrange(6)
        if kind == 0:
            spoiled = bytearray(chance.randbytes(chance.randrange(2000)))
        whole = head + b"content-length: %d\r\n\r\n" % len(spoiled) + bytes(spoiled)
        if kind == 1:
            changed = bytearray(whole)
            for _ in range(3):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            whole = bytes(changed)
        if kind == 2:
            whole = whole[: chance.randrange(1, len(whole))]
        if kind == 3:
            whole = chance.randbytes(chance.randrange(1, 3000))
        if kind == 4:
            chunk = b"transfer-encoding: chunked\r\n\r\n%x\r\n" % chance.randrange(70_000)
            whole = head + chunk + bytes(spoiled) + b"\r\n0\r\n\r\n"
        yield whole


def sent_raw(address: Address, count: int) -> int:
    """The largest status of all answers."""
    worst = 0
    for whole in raw_requests(count):
        with socket.create_connection(("127.0.0.1", address.port), timeout=120) as connection:
            try:
                connection.sendall(whole)
                connection.shutdown(socket.SHUT_WR)
                said = connection.recv(65_536)
            except (ConnectionResetError, BrokenPipeError, TimeoutError):
                continue
        if said:
            assert said.startswith(b"HTTP/1.1 "), said[:40]
            worst = max(worst, int(said[9:12]))
    return worst


@pytest.mark.slow
def test_no_request_that_the_schema_leads_to_is_answered_with_500(running: Process) -> None:
    assert asked_by_schema(running.address, 5) > 40


def test_no_bytes_are_answered_with_500(running: Process) -> None:
    assert 0 < sent_raw(running.address, 200) < 500


@pytest.mark.slow
def test_7000_requests_leave_it_well_and_no_larger(running: Process) -> None:
    sent_raw(running.address, 500)
    before = resident_kib(running)
    assert 0 < sent_raw(running.address, 4500) < 500
    assert asked_by_schema(running.address, 220) > 2500
    assert resident_kib(running) < before + 65_536
