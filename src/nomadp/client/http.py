"""One request, one reply: over TLS, without cookies, user agent, redirects or proxies.

What a collector answers is inert and bounded: so many bytes, so many seconds, and nothing of it
is followed, kept or run. Every request has a connection of its own, so that two reports are not
tied together by one.
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
"""For one request and all of its reply."""
_READ_BYTES = 2048


@dataclass(frozen=True)
class Reply:
    """All that is looked at."""

    status: int
    content: bytes
    retry_after_s: int | None
    is_whole: bool
    """False if there was more than is read."""


def get(address: Address, path: str, most: int) -> bytes:
    """A public file; refused if it is larger, moved or missing."""
    try:
        reply = _asked(address, ("GET", path, None, None), most)
    except (OSError, http.client.HTTPException) as error:
        raise UploadFailed(
            f"{address} must be reached to join its task, and was not "
            f"({type(error).__name__}); try again later, or join from a folder",
            code="collector_unreachable",
            reason=type(error).__name__,
        ) from None
    if reply.status != 200:
        raise UploadFailed(
            f"{address} must answer with the task and its files, and answered {reply.status}; "
            "redirections are not followed",
            code="unexpected_status",
            status=reply.status,
        )
    if not reply.is_whole:
        raise TaskRefused(
            f"a file of a task must have at most {most} bytes, and one has more",
            code="task_file_too_large",
            limit=most,
        )
    return reply.content


def post(address: Address, path: str, body: bytes, media_type: str) -> Reply:
    """Send a report; `OSError` or `HTTPException` if nothing usable came back."""
    return _asked(address, ("POST", path, body, media_type), 0)


def _asked(
    address: Address, asked: tuple[str, str, bytes | None, str | None], most: int
) -> Reply:
    method, path, body, media_type = asked
    deadline_s = time.monotonic() + REQUEST_MAX_S
    connection = _connection(address)
    # Headers count, too: of a reply to a report, 4 KiB are read in all.
    connection.response_class = partial(_bounded, most + REPLY_BYTES_MAX, deadline_s)  # type: ignore[assignment]
    try:
        connection.putrequest(method, address.prefix + path, skip_accept_encoding=True)
        if body is not None:
            connection.putheader("Content-Type", str(media_type))
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        with connection.getresponse() as response:
            content = response.read((most or REPLY_BYTES_MAX) + 1)
        said = response.getheader("Content-Length", "")
        after = response.getheader("Retry-After", "")
    finally:
        connection.close()
    # A connection that was cut in the headers must not look like an empty reply.
    is_cut = not (said or response.chunked or response.status == 204)
    announced = int(said) if _is_number(said) else len(content)
    is_whole = not is_cut and announced == len(content) <= (most or REPLY_BYTES_MAX)
    return Reply(response.status, content, int(after) if _is_number(after) else None, is_whole)


def _connection(address: Address) -> http.client.HTTPConnection:
    if not address.is_tls:
        return http.client.HTTPConnection(address.host, address.port, timeout=REQUEST_MAX_S)
    import ssl  # slow to import, and nobody needs it on their own machine

    trusted = ssl.create_default_context()
    return http.client.HTTPSConnection(
        address.host, address.port, timeout=REQUEST_MAX_S, context=trusted
    )


def _bounded(
    most: int, deadline_s: float, sock: Any, *, method: str | None = None
) -> http.client.HTTPResponse:
    return http.client.HTTPResponse(_Bounds(sock, most, deadline_s), method=method)  # type: ignore[arg-type]


class _Bounds(io.RawIOBase):
    """The first bytes of a connection, until a deadline; after them it seems to end."""

    def __init__(self, sock: Any, most: int, deadline_s: float) -> None:
        self._socket, self._left, self._deadline_s = sock, most, deadline_s
        # Where a server closes after its reply, http.client lets go of the socket before.
        self._file = sock.makefile("rb", buffering=0)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self, _READ_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self._left)
        remaining_s = self._deadline_s - time.monotonic()
        if remaining_s <= 0:
            raise TimeoutError("a reply must come in time")
        self._socket.settimeout(remaining_s)
        count: int = self._file.readinto(memoryview(buffer)[:size]) if size else 0
        self._left -= count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _is_number(text: str | None) -> bool:
    return bool(text) and re.fullmatch("[0-9]{1,9}", str(text)) is not None
