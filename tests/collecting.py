"""Real collectors, in a thread or as processes, and requests that tests send to them."""

import asyncio
import base64
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from worlds import scattered

from nomadp.collector.clock import Clock
from nomadp.collector.connections import open_store
from nomadp.collector.disk_space import DiskSpace
from nomadp.collector.loaded_task import add_task
from nomadp.collector.messages import UPLOAD_TYPE
from nomadp.collector.server import Listeners, listen_on, serve
from nomadp.collector.service import Service
from nomadp.collector.store import Store
from nomadp.collector.tokens import first_tokens
from nomadp.mechanisms import kind_of
from nomadp.mechanisms.atlas import build_pinned
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.task import Task
from nomadp.zones import zones_of

TOKENS = {"analyst": "analyst-token-of-the-tests", "operator": "operator-token-of-the-tests"}
DAY_S = 86_400
BEFORE_MIDNIGHT_S = 60  # longer than any test that compares the day
SALT = base64.urlsafe_b64encode(bytes(16)).decode().rstrip("=")


def today() -> int:
    """The day in UTC. Waits if midnight is near, so that a test never sees two days."""
    left_s = DAY_S - time.time() % DAY_S
    if left_s < BEFORE_MIDNIGHT_S:
        time.sleep(left_s + 0.01)
    return int(time.time() // DAY_S)


@cache
def _book(asks: bool) -> Any:
    places = scattered(40)
    return zones_of(places, "grid:3") if asks else build_pinned(places, [3], Fraction(4), 24)


def bundle_of(mechanism: str = "atlas", salt: str = SALT, **fields: Any) -> TaskBundle:
    """A small task that runs today, with epochs of a day; the same one until midnight."""
    return _same_bundle(today(), mechanism, salt, **fields)


def new_bundle(day: int, mechanism: str, salt: str = SALT, **fields: Any) -> TaskBundle:
    """The same for fields that cannot be hashed."""
    asks = mechanism != "atlas"
    book: Any = _book(asks)
    said = {
        "purpose": "To see whether it works.",
        "mechanism": mechanism,
        "version": kind_of(mechanism).version,
        "params": {"zones": "grid:3"} if asks else {},
        "epsilon": Fraction(4),
        "length": None if asks else 3,
        "locations_sha256": scattered(40).sha256,
        "domain_sha256": book.sha256,
        "start": day - 5,
        "end": day + 20,
        "min_batch_size": 3,
        "retention": 40,
        "salt": salt,
    }
    return TaskBundle(Task(**{**said, **fields}), scattered(40), book)


_same_bundle = cache(new_bundle)


def new_id() -> str:
    return base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")


def value_of(bundle: TaskBundle, number: int = 0) -> str:
    """A value that the task's mechanism can release."""
    if not bundle.task.is_oracle:
        return bundle.code.text((number % bundle.code.size,))
    rng = np.random.default_rng(number)
    while True:
        numbers = tuple(
            np.sort(rng.permutation(bundle.code.size)[: bundle.code.entries]).tolist()
        )
        found, good = bundle.code.numbers([bundle.code.raw(numbers)])
        if good[0]:
            return bundle.code.text(tuple(found[0].tolist()))


def report(bundle: TaskBundle, number: int = 0, **other: Any) -> dict[str, Any]:
    said = {"report_id": new_id(), "time": today(), "value": value_of(bundle, number)}
    return {**said, **other}


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The type of a problem; checks that the reply has the form of a problem."""
        assert self.headers["content-type"] == "application/problem+json"
        said = self.json
        assert said["status"] == self.status
        assert set(said) <= {"type", "title", "status", "detail", "taskid"}
        return str(said["type"]).removeprefix("urn:nomadp:error:")

    @property
    def failures(self) -> list[str]:
        return [each["error"] for each in self.json["failures"]]


class Address(NamedTuple):
    """The address of a collector, with methods to send requests."""

    port: int
    operator_port: int

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        role: str | None = None,
        **headers: str,
    ) -> Reply:
        port = self.operator_port if path.startswith(("/operator", "/metrics")) else self.port
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if role:
            named["authorization"] = f"Bearer {TOKENS[role]}"
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            connection.request(method, path, body, named)
            reply = connection.getresponse()
            found = {name.lower(): value for name, value in reply.getheaders()}
            return Reply(reply.status, found, reply.read())
        finally:
            connection.close()

    def send(self, bundle: TaskBundle, *reports: dict[str, Any], **more: Any) -> Reply:
        body = json.dumps({"reports": reports, **more}).encode()
        path = f"/tasks/{bundle.task.id}/reports"
        return self.ask("POST", path, body, content_type=UPLOAD_TYPE)

    def post(self, path: str, content: Any, role: str) -> Reply:
        body = json.dumps(content).encode()
        return self.ask("POST", path, body, role=role, content_type="application/json")

    def counters(self, bundle: TaskBundle | None, reason: str, at_least: int = 1) -> int:
        """A counter that the operator sees; waits a while until it is ``at_least`` this."""
        deadline_s = time.monotonic() + 120
        while True:
            seen = self.ask("GET", "/operator/tasks", role="operator").json
            of = (
                seen["collector"]
                if bundle is None
                else next(
                    each["counters"]
                    for each in seen["tasks"]
                    if each["task_id"] == bundle.task.id
                )
            )
            if of.get(reason, 0) >= at_least or time.monotonic() > deadline_s:
                return int(of.get(reason, 0))
            time.sleep(0.05)


@contextmanager
def collector(
    store: Store,
    *bundles: TaskBundle,
    clock: Callable[[], float] | Clock = time.time,
    space: DiskSpace | None = None,
    started: Callable[[Service], None] = lambda service: None,
) -> Iterator[Address]:
    """Run a collector in a thread of this process, on its own loopback ports.

    A ``clock`` that is not a `Clock` also serves as the steady clock, so it never jumps.
    """
    believed = clock if isinstance(clock, Clock) else Clock(clock, steady=clock)
    prepared(store, *bundles)
    listeners = Listeners(listen_on("127.0.0.1", 0), listen_on("127.0.0.1", 0))
    address = Address(*(each.getsockname()[1] for each in listeners))
    ready, failed = threading.Event(), []
    stop: list[Callable[[], None]] = []

    async def main() -> None:
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        stop.append(lambda: loop.call_soon_threadsafe(event.set))
        service = Service(store, clock=believed, space=space)
        started(service)
        await serve(service, listeners, event, ready=ready.set)

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(300)
    try:
        yield address
    finally:
        if stop and not failed:
            stop[0]()
        thread.join(300)
        listeners.close()
        assert not failed, failed
        assert not thread.is_alive()


def logged(text: str) -> list[dict[str, Any]]:
    """The lines of a collector's log; lines that are not JSON are ignored."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def prepared(store: Store, *bundles: TaskBundle) -> None:
    connection = store.connect()
    for bundle in bundles:
        add_task(connection, bundle)
    first_tokens(connection, {f"NOMADP_{role.upper()}_TOKEN": t for role, t in TOKENS.items()})
    connection.close()


_given: set[int] = set()


def free_port() -> int:
    """A port that no other test process and no outgoing connection can take meanwhile.

    If a program asks for any port, or connects to another host, it gets one from 32768 on.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 12_000 + worker % 20 * 1000
    for port in random.SystemRandom().sample(range(first, first + 1000), 1000):
        if port not in _given and _is_free(port):
            _given.add(port)
            return port
    raise AssertionError("there must be a free port on loopback")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Process:
    """``nomadp serve`` as a process, which can be killed and started again."""

    def __init__(
        self,
        store: str,
        folder: Path,
        arguments: Sequence[str] = (),
        program: Sequence[str] = (sys.executable, "-m", "nomadp"),
    ) -> None:
        self.address = Address(free_port(), free_port())
        self.log = folder / "collector.log"
        self._command = [*program, "serve", "--store", store]
        self._command += ["--port", str(self.address.port)]
        self._command += ["--operator-port", str(self.address.operator_port), *arguments]
        self._folder, self._store = folder, store
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Returns how many seconds it took to be ready."""
        began_s = time.monotonic()
        env = os.environ | {f"NOMADP_{k.upper()}_TOKEN": t for k, t in TOKENS.items()}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=self._folder, stdout=log, stderr=log, env=env
            )
        while not self.is_ready():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() - began_s < 300, self.log.read_text()
            time.sleep(0.02)
        return time.monotonic() - began_s

    def is_ready(self) -> bool:
        try:
            return self.address.ask("GET", "/readyz").status == 200
        except (OSError, http.client.HTTPException):
            return False

    def add(self, bundle: TaskBundle) -> TaskBundle:
        """A task, while it runs; known to it at the end."""
        prepared(open_store(self._store), bundle)
        deadline_s = time.monotonic() + 120
        while self.address.ask("GET", f"/tasks/{bundle.task.id}").status != 200:
            assert time.monotonic() < deadline_s, self.log.read_text()
            time.sleep(0.05)
        return bundle

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def end(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(300)

    def __enter__(self) -> "Process":
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()
