"""What is said of a request that cannot be served: RFC 9457, without an echo of the request."""

import json
from typing import NamedTuple

__all__ = ["PROBLEMS", "Problem"]

MEDIA_TYPE = "application/problem+json"


class Kind(NamedTuple):
    status: int
    title: str


PROBLEMS = {
    "invalid_message": Kind(400, "The message is not of the form that its type prescribes."),
    "invalid_task": Kind(400, "The task or its files are not what a task may be."),
    "bad_request": Kind(400, "The request is no HTTP that is understood here."),
    "unauthorized": Kind(401, "A bearer token of the right role is needed."),
    "unrecognized_task": Kind(404, "There is no such task here."),
    "unrecognized_job": Kind(404, "There is no such collection job here."),
    "not_found": Kind(404, "There is nothing at this address."),
    "method_not_allowed": Kind(405, "This address does not take this method."),
    "too_slow": Kind(408, "The request did not arrive in time."),
    "too_large": Kind(413, "The message is larger than it may be."),
    "part_needed": Kind(
        416, "A part must be asked for: Range: bytes=FIRST-LAST, of at most 16 MiB."
    ),
    "unsupported_media_type": Kind(415, "The message is not of the type that is taken here."),
    "invalid_query": Kind(422, "The question is none that can be asked of any task."),
    "headers_too_large": Kind(431, "The headers are larger than they may be."),
    "overloaded": Kind(429, "Too much is waiting; send the same again later."),
    "unavailable": Kind(503, "The store cannot be reached; send the same again later."),
    "store_corrupt": Kind(503, "The store is damaged; send the same again later."),
    "clock_suspect": Kind(503, "The clock must be confirmed; send the same again later."),
    "storage_full": Kind(507, "The disk is nearly full; send the same again later."),
}
RETRY_AFTER_S = {"overloaded": 2, "unavailable": 5, "storage_full": 60}
RETRY_AFTER_S |= {"store_corrupt": 60, "clock_suspect": 60}


class Problem(Exception):
    """Ends the handling of a request."""

    def __init__(self, kind: str, task_id: str | None = None, detail: str = "") -> None:
        self.kind, self.task_id, self.detail = kind, task_id, detail

    @property
    def status(self) -> int:
        return PROBLEMS[self.kind].status

    @property
    def body(self) -> bytes:
        status, title = PROBLEMS[self.kind]
        said = {"type": f"urn:nomadp:error:{self.kind}", "title": title, "status": status}
        more = {"detail": self.detail, "taskid": self.task_id}
        return json.dumps(said | {name: text for name, text in more.items() if text}).encode()

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        found = [(b"content-type", MEDIA_TYPE.encode())]
        if self.kind in RETRY_AFTER_S:
            found.append((b"retry-after", str(RETRY_AFTER_S[self.kind]).encode()))
        if self.kind == "unauthorized":
            found.append((b"www-authenticate", b"Bearer"))
        return found
