"""One request and one reply: over TLS, without cookies, user agent, redirects or proxies.

Replies are limited in size and time, and nothing in them is followed, stored or executed. Every
request uses a new connection, so that a connection does not link two reports.
"""

import http.client
import io
import re
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from nomadp.errors import TaskRefused, UploadFailed
from nomadp.protocol.address import Address
from nomadp.protocol.ceilings import REPLY_BYTES_MAX

__all__ = ["REQUEST_MAX_S", "Reply", "get", "post"]

REQUEST_MAX_S = 30.0
"""The time limit for one request and its complete reply."""
_READ_BYTES = 2048


@dataclass(frozen=True)
class Reply:
    """The parts of a reply that are read."""

    status: int
    content: bytes
    retry_after_s: int | None
    is_whole: bool
    """False if the reply was cut off or larger than the limit."""


def get(address: Address, path: str, most: int) -> bytes:
    """A public file of at most ``most`` bytes; refused if larger, moved or missing."""
    try:
        reply = _request(address, ("GET", path, None, None), most)
    except (OSError, http.client.HTTPException) as error:
        raise UploadFailed(
            f"{address} must be reachable to join its task, but is not "
            f"({type(error).__name__}); try again later, or join from a folder",
            code="collector_unreachable",
            reason=type(error).__name__,
        ) from None
    if reply.status != 200:
        raise UploadFailed(
            f"{address} must return the task and its files, got status {reply.status}; "
            "redirects are not followed",
            code="unexpected_status",
            status=reply.status,
        )
    if not reply.is_whole:
        raise TaskRefused(
            f"a file of a task must have at most {most} bytes, but one is larger",
            code="task_file_too_large",
            limit=most,
        )
    return reply.content


def post(address: Address, path: str, body: bytes, media_type: str) -> Reply:
    """Send a report; raises `OSError` or `HTTPException` without a usable reply."""
    return _request(address, ("POST", path, body, media_type), 0)


def _request(
    address: Address, request: tuple[str, str, bytes | None, str | None], most: int
) -> Reply:
    method, path, body, media_type = request
    deadline_s = time.monotonic() + REQUEST_MAX_S
    connection = _connection(address)
    # The limit includes the headers: 4 KiB in total for a reply to a report.
    connection.response_class = partial(_bounded, most + REPLY_BYTES_MAX, deadline_s)  # type: ignore[assignment]
    try:
        connection.putrequest(method, address.prefix + path, skip_accept_encoding=True)
        if body is not None:
            connection.putheader("Content-Type", str(media_type))
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        with connection.getresponse() as response:
            content = response.read((most or REPLY_BYTES_MAX) + 1)
        length = response.getheader("Content-Length", "")
        after = response.getheader("Retry-After", "")
    finally:
        connection.close()
    # A connection that breaks within the headers must not look like an empty reply.
    is_cut = not (length or response.chunked or response.status == 204)
    announced = int(length) if _is_number(length) else len(content)
    is_whole = not is_cut and announced == len(content) <= (most or REPLY_BYTES_MAX)
    return Reply(response.status, content, int(after) if _is_number(after) else None, is_whole)


def _connection(address: Address) -> http.client.HTTPConnection:
    if not address.is_tls:
        return http.client.HTTPConnection(address.host, address.port, timeout=REQUEST_MAX_S)
    import ssl  # slow to import, and not needed for a collector on this machine

    trusted = ssl.create_default_context()
    return http.client.HTTPSConnection(
        address.host, address.port, timeout=REQUEST_MAX_S, context=trusted
    )


def _bounded(
    most: int, deadline_s: float, sock: Any, *, method: str | None = None
) -> http.client.HTTPResponse:
    return http.client.HTTPResponse(_Bounds(sock, most, deadline_s), method=method)  # type: ignore[arg-type]


class _Bounds(io.RawIOBase):
    """The first bytes of a connection, until a deadline; then it reads as closed."""

    def __init__(self, sock: Any, most: int, deadline_s: float) -> None:
        self._socket, self._left, self._deadline_s = sock, most, deadline_s
        # If the server closes after its reply, http.client drops the socket first.
        self._file = sock.makefile("rb", buffering=0)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self, _READ_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self._left)
        remaining_s = self._deadline_s - time.monotonic()
        if remaining_s <= 0:
            raise TimeoutError("the reply must arrive before the deadline")
        self._socket.settimeout(remaining_s)
        count: int = self._file.readinto(memoryview(buffer)[:size]) if size else 0
        self._left -= count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _is_number(text: str | None) -> bool:
    return bool(text) and re.fullmatch("[0-9]{1,9}", str(text)) is not None
