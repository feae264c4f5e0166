"""Problem replies (RFC 9457) to requests that fail. They never repeat any of the request."""

import json
from typing import NamedTuple

__all__ = ["PROBLEMS", "Problem"]

MEDIA_TYPE = "application/problem+json"


class Kind(NamedTuple):
    status: int
    title: str


PROBLEMS = {
    "invalid_message": Kind(400, "The message is malformed."),
    "invalid_task": Kind(400, "The task or one of its files is invalid."),
    "bad_request": Kind(400, "This is not a valid HTTP request."),
    "unauthorized": Kind(401, "The request needs a valid bearer token of the right role."),
    "unrecognized_task": Kind(404, "This collector does not have this task."),
    "unrecognized_job": Kind(404, "This task does not have this collection job."),
    "not_found": Kind(404, "There is nothing at this address."),
    "method_not_allowed": Kind(405, "This address does not support this method."),
    "too_slow": Kind(408, "The request did not arrive in time."),
    "too_large": Kind(413, "The message is too large."),
    "part_needed": Kind(
        416,
        "The request needs a header Range: bytes=FIRST-LAST for at most 16 MiB of the file.",
    ),
    "unsupported_media_type": Kind(415, "This address does not accept this media type."),
    "invalid_query": Kind(422, "The query is not valid for any task."),
    "headers_too_large": Kind(431, "The headers are too large."),
    "overloaded": Kind(429, "The collector is busy; send the same request again later."),
    "unavailable": Kind(503, "The store is unavailable; send the same request again later."),
    "store_corrupt": Kind(503, "The store is damaged; send the same request again later."),
    "clock_suspect": Kind(
        503,
        "The operator must confirm the collector's clock; send the same request again later.",
    ),
    "storage_full": Kind(507, "The disk is nearly full; send the same request again later."),
}
RETRY_AFTER_S = {"overloaded": 2, "unavailable": 5, "storage_full": 60}
RETRY_AFTER_S |= {"store_corrupt": 60, "clock_suspect": 60}


class Problem(Exception):
    """Stops handling a request and replies with this problem."""

    def __init__(self, kind: str, task_id: str | None = None, detail: str = "") -> None:
        self.kind, self.task_id, self.detail = kind, task_id, detail

    @property
    def status(self) -> int:
        return PROBLEMS[self.kind].status

    @property
    def body(self) -> bytes:
        status, title = PROBLEMS[self.kind]
        required = {"type": f"urn:nomadp:error:{self.kind}", "title": title, "status": status}
        optional = {"detail": self.detail, "taskid": self.task_id}
        members = required | {name: text for name, text in optional.items() if text}
        return json.dumps(members).encode()

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        headers = [(b"content-type", MEDIA_TYPE.encode())]
        if self.kind in RETRY_AFTER_S:
            headers.append((b"retry-after", str(RETRY_AFTER_S[self.kind]).encode()))
        if self.kind == "unauthorized":
            headers.append((b"www-authenticate", b"Bearer"))
        return headers
