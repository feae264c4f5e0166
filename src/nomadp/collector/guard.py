"""Connections that are slow, endless or too many: cut off, so that honest ones are served.

uvicorn waits for a request as long as its sender likes and reads headers of any size. Here a
request must arrive whole in time and within bounds, and where too many connections are open
those go that have been waiting for their sender longest.
"""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from nomadp.collector.problems import PROBLEMS, Problem

__all__ = ["CONNECTIONS_MAX", "GuardedProtocol"]

ARRIVAL_S = 20.0
"""For headers and body together."""
ANSWER_S = 120.0
"""For the answer, and its recipient to read it."""
HEADER_BYTES = 16_384
AROUND_BODY_BYTES = 2**20
"""Chunk sizes and trailers, which the parser gathers, too."""
CONNECTIONS_MAX = 4096


class GuardedProtocol(HttpToolsProtocol):
    waiting: ClassVar[dict["GuardedProtocol", None]] = {}
    """Connections that wait for their senders, the longest waiting first; idle ones, too."""
    open_count: ClassVar[int] = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._other_bytes, self._is_head = 0, True
        self._piece_bytes, self._is_shared = 0, False
        GuardedProtocol.open_count += 1
        self._expect(ARRIVAL_S)
        if GuardedProtocol.open_count > CONNECTIONS_MAX:
            longest = next(iter(self.waiting))
            longest._settled()
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._settled()
        GuardedProtocol.open_count -= 1
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        # What came in one piece with the message before is not counted for this one.
        self._other_bytes, self._is_head = -self._piece_bytes * self._is_shared, True
        self._expect(ARRIVAL_S)

    def on_headers_complete(self) -> None:
        self._is_head = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        self._piece_bytes, self._is_shared = len(data), False
        super().data_received(data)
        # The parser itself gathers headers and trailers of any size.
        self._other_bytes += len(data)
        if self._other_bytes > (HEADER_BYTES if self._is_head else AROUND_BODY_BYTES):
            self._cut("headers_too_large")

    def on_body(self, body: bytes) -> None:
        self._other_bytes -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_shared = True
        super().on_message_complete()
        if not self._is_idle:
            self._expect(ANSWER_S, is_ours=True)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.cycle.more_body:  # else the rest of a message that was refused is due
            self._settled()
            self.waiting[self] = None  # for its next request, as long as uvicorn allows

    def send_400_response(self, msg: str) -> None:
        self._cut("bad_request")

    @property
    def _is_idle(self) -> bool:
        """Whether nothing is being answered."""
        cycle: Any = self.cycle  # None before the first request
        return cycle is None or bool(cycle.response_complete)

    def _expect(self, seconds: float, *, is_ours: bool = False) -> None:
        self._settled()
        if not is_ours:
            self.waiting[self] = None
        self._timer = self.loop.call_later(seconds, self._too_slow)

    def _settled(self) -> None:
        self.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        if self._is_idle:
            self._cut("too_slow")
        else:
            self.transport.abort()

    def _cut(self, kind: str) -> None:
        """Say why, if nothing was said yet, and close."""
        if self.transport.is_closing():
            return
        if self._is_idle:
            problem = Problem(kind)
            lines = [(b"content-length", str(len(problem.body)).encode())]
            lines += [*problem.headers, (b"connection", b"close")]
            head = b"".join(name + b": " + value + b"\r\n" for name, value in lines)
            status = STATUS_LINE[PROBLEMS[kind].status]
            self.transport.write(status + head + b"\r\n" + problem.body)
        self.transport.close()
