"""Limits on connections, so that slow, endless or excessive ones do not stop the service.

uvicorn waits for a request without a limit, and it reads headers of any size and number. This
protocol requires that a request arrives completely in time, is small enough and names one host.
If too many connections are open, it closes the one that has waited for its sender the longest.
The sender gets the reason, unless the collector has already begun to answer.
"""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from nomadp.collector.problems import PROBLEMS, Problem

__all__ = ["CONNECTIONS_MAX", "GuardedProtocol"]

ARRIVAL_S = 20.0
"""The time limit for headers and body together."""
ANSWER_S = 120.0
"""The time limit for producing the answer and for the recipient to read it."""
HEADER_BYTES = 16_384
HEADERS_MAX = 100
AROUND_BODY_BYTES = 2**20
"""The limit for chunk sizes and trailers, which the parser also buffers."""
CONNECTIONS_MAX = 4096
LINGER_S, LINGER_BYTES = 2.0, 2**18
"""How long, and how many bytes, the collector reads and discards after a refusal. Closing a
connection with unread bytes resets it, and the refusal could get lost (RFC 9112, 9.6)."""
NOSNIFF = (b"x-content-type-options", b"nosniff")


class _Refused(Exception):
    """Stops the parser."""


class GuardedProtocol(HttpToolsProtocol):
    waiting: ClassVar[dict["GuardedProtocol", None]] = {}
    """Connections that wait for their senders or are idle, the longest waiting first."""
    open_count: ClassVar[int] = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._other_bytes, self._is_head = 0, True
        self._piece_bytes, self._is_shared = 0, False
        self._head_bytes, self._is_body_due = 0, False
        self._drop_bytes: int | None = None  # bytes that may still be discarded after a refusal
        GuardedProtocol.open_count += 1
        self._expect(ARRIVAL_S)
        if GuardedProtocol.open_count > CONNECTIONS_MAX:
            longest = next(iter(self.waiting))
            longest._stop_waiting()
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        GuardedProtocol.open_count -= 1
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        # Bytes that arrived together with the previous message do not count for this one.
        self._other_bytes, self._is_head = -self._piece_bytes * self._is_shared, True
        self._head_bytes = 0
        self._expect(ARRIVAL_S)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called for headers and for trailers."""
        super().on_header(name, value)
        self._count_head(len(name) + len(value) + len(": \r\n"))

    def on_headers_complete(self) -> None:
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() != "1.0"):
            self._refuse("bad_request")
        self._is_head, self._is_body_due = False, True
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        if self._drop_bytes is not None:
            self._drop_bytes -= len(data)
            if self._drop_bytes < 0:
                self.transport.abort()
            return
        self._piece_bytes, self._is_shared = len(data), False
        super().data_received(data)
        # The parser itself buffers headers and trailers of any size.
        self._other_bytes += len(data)
        if self._other_bytes > (HEADER_BYTES if self._is_head else AROUND_BODY_BYTES):
            self._cut("headers_too_large")

    def on_body(self, body: bytes) -> None:
        self._other_bytes -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_shared, self._is_body_due = True, False
        super().on_message_complete()
        if not self.cycle.response_complete:
            self._expect(ANSWER_S, is_ours=True)
        else:
            self._idle()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.cycle.more_body:  # else the rest of a refused message is still to come
            self._idle()

    def send_400_response(self, msg: str) -> None:
        self._cut("bad_request")

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEADER_BYTES or len(self.headers) > HEADERS_MAX:
            self._refuse("headers_too_large")

    def _refuse(self, kind: str) -> None:
        self._cut(kind)
        raise _Refused

    @property
    def _may_answer(self) -> bool:
        """Whether the next bytes sent would be the reply to the message that is arriving."""
        cycle: Any = self.cycle  # None before the first request
        if self._is_body_due:
            return not (cycle.response_started or self.pipeline)
        return cycle is None or bool(cycle.response_complete)

    def _idle(self) -> None:
        """Wait for the next request; uvicorn limits how long."""
        self._stop_waiting()
        self.waiting[self] = None

    def _expect(self, seconds: float, *, is_ours: bool = False) -> None:
        self._stop_waiting()
        if not is_ours:
            self.waiting[self] = None
        self._timer = self.loop.call_later(seconds, self._too_slow)

    def _stop_waiting(self) -> None:
        self.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        if self._may_answer:
            self._cut("too_slow")
        else:
            self.transport.abort()

    def _cut(self, kind: str) -> None:
        """Send the problem, unless a reply has begun, and close the connection."""
        if self.transport.is_closing() or self._drop_bytes is not None:
            return
        if not self._may_answer:
            self.transport.close()
            return
        problem = Problem(kind)
        lines = [(b"content-length", str(len(problem.body)).encode())]
        lines += [*problem.headers, NOSNIFF, (b"connection", b"close")]
        head = b"".join(name + b": " + value + b"\r\n" for name, value in lines)
        status = STATUS_LINE[PROBLEMS[kind].status]
        self.transport.write(status + head + b"\r\n" + problem.body)
        self._linger()

    def _linger(self) -> None:
        """Send nothing more, and discard what arrives until the connection is closed."""
        if self._is_body_due:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._drop_bytes = LINGER_BYTES
        self._unset_keepalive_if_required()
        self._idle()
        self.flow.resume_reading()
        self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_S, self.transport.abort)
