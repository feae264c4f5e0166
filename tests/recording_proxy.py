"""A proxy on loopback that records every request of a browser, as a network sees it."""

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

from collecting import Address


class Seen(NamedTuple):
    """A recorded request; each has its own connection."""

    method: str
    path: str
    head_bytes: int
    body_bytes: int


class RecordingProxy(ThreadingHTTPServer):
    """A recording proxy in front of a collector."""

    daemon_threads = True

    def __init__(self, behind: Address) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = behind
        self.seen: list[Seen] = []

    @property
    def address(self) -> Address:
        """The address of the collector through this proxy."""
        return self.behind._replace(port=self.server_port)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # one request to a connection
    server: RecordingProxy

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        seen = Seen(self.command, self.path, len(bytes(self.headers)), len(body))
        self.server.seen.append(seen)
        behind = http.client.HTTPConnection("127.0.0.1", self.server.behind.port, timeout=60)
        try:
            behind.request(self.command, self.path, body or None, dict(self.headers.items()))
            reply = behind.getresponse()
            content = reply.read()
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        finally:
            behind.close()

    do_GET = do_POST = _pass_on

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing: requests are in `seen`."""


@contextmanager
def recording(behind: Address) -> Iterator[RecordingProxy]:
    with RecordingProxy(behind) as proxy:
        thread = Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
