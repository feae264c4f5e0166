"""Tasks, and a small collector on loopback that keeps every byte that it receives."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas import build_pinned
from nomadp.protocol import Task, TaskBundle
from nomadp.zones import zones_of

__all__ = ["Asked", "Collector", "Said", "atlas_bundle", "collecting", "question_bundle"]

DAY_S = 86_400


@cache
def town() -> LocationSet:
    """Twelve places on a grid."""
    k = np.arange(12)
    return LocationSet.from_columns([f"p{i}" for i in k], 40 + k // 4 / 50, -74 + k % 4 / 50)


def _terms(salt: str, more: dict[str, Any]) -> dict[str, Any]:
    today = int(time.time() // DAY_S)
    said = {
        "purpose": "To learn which ways people take.",
        "locations_sha256": town().sha256,
        "start": today - 1,
        "end": today + 30,
        "retention": 60,
        "salt": (salt + "A" * 22)[:21] + "A",
    }
    return said | more


@cache
def _pinned(epsilon: Fraction, length: int) -> Any:
    return build_pinned(town(), [length], epsilon)


def atlas_bundle(
    salt: str = "a", *, epsilon: Any = 1, length: int = 3, **more: Any
) -> TaskBundle:
    epsilon = Fraction(epsilon)
    book = _pinned(epsilon, length)
    law = {"mechanism": "atlas", "version": 3, "epsilon": epsilon, "length": length}
    return TaskBundle(
        Task(**_terms(salt, {"domain_sha256": book.sha256} | law | more)), town(), book
    )


def question_bundle(
    name: str = "trips",
    salt: str = "q",
    *,
    epsilon: Any = 1,
    when: str | None = None,
    **more: Any,
) -> TaskBundle:
    book = zones_of(town(), "grid:2")
    params = {"zones": "grid:2"} | ({} if when is None else {"when": when})
    law = {"mechanism": name, "version": 1, "epsilon": Fraction(epsilon), "params": params}
    return TaskBundle(
        Task(**_terms(salt, {"domain_sha256": book.sha256} | law | more)), town(), book
    )


@dataclass(frozen=True)
class Asked:
    """One request, as received."""

    raw_head: bytes
    body: bytes

    @property
    def line(self) -> str:
        return self.raw_head.split(b"\r\n")[0].decode()

    @property
    def headers(self) -> dict[str, str]:
        lines = self.raw_head.decode().split("\r\n")[1:]
        return dict(line.split(": ", 1) for line in lines if line)


@dataclass(frozen=True)
class Said:
    """A reply."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None
    """Raw bytes to send instead of all that; then the connection closes."""


@dataclass
class Collector:
    """Serves bundles; answers uploads with ``replies`` in turn, then accepts everything."""

    bundles: list[TaskBundle] = field(default_factory=list)
    replies: list[Said | Callable[[Asked], Said]] = field(default_factory=list)
    files: dict[str, Said] = field(default_factory=dict)
    """Replies by path, instead of the right ones."""
    seen: list[Asked] = field(default_factory=list)
    url: str = ""
    connections: int = 0

    @property
    def uploads(self) -> list[Asked]:
        return [each for each in self.seen if each.line.startswith("POST")]

    def answer(self, asked: Asked) -> Said:
        method, path, _ = asked.line.split(" ")
        if path in self.files:
            return self.files[path]
        if method == "POST":
            said = self.replies.pop(0) if self.replies else Said()
            return said if isinstance(said, Said) else said(asked)
        for bundle in self.bundles:
            base = f"/tasks/{bundle.task.id}"
            served = {base: bundle.task.content}
            served |= {f"{base}/{name}": content for name, content in bundle.files.items()}
            if path in served:
                return Said(body=served[path])
        return Said(404)


@contextmanager
def collecting(*bundles: TaskBundle) -> Iterator[Collector]:
    """Run a collector on a free loopback port for the duration of the context."""
    collector = Collector(list(bundles))

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            self.close_connection = True
            collector.connections += 1
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = self.rfile.readline()
                if not line:
                    return
                head += line
            lengths = [
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            ]
            asked = Asked(head, self.rfile.read(lengths[0]) if lengths else b"")
            if lengths and len(asked.body) < lengths[0]:
                return  # killed before the whole body was sent: a collector ignores it
            collector.seen.append(asked)
            said = collector.answer(asked)
            try:
                self.wfile.write(_reply(said))
            except OSError:
                return  # the client closed the connection

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _reply(said: Said) -> bytes:
    if said.raw is not None:
        return said.raw
    headers = [*said.headers, ("Content-Length", str(len(said.body)))]
    lines = [f"HTTP/1.1 {said.status} Said", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode() + said.body
