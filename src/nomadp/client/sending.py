"""Send waiting reports: retry the same bytes until a collector accepts or refuses them.

A reply means accepted, wait or stop, and has no other effect. Each request contains one report
and uses its own connection.
"""

import http.client
import re
import time
from dataclasses import dataclass
from typing import Any

from nomadp.client.http import Reply, post
from nomadp.client.outbox import Outbox, Waiting
from nomadp.errors import SchemaError
from nomadp.protocol.address import Address
from nomadp.protocol.canonical import parse_object
from nomadp.protocol.ceilings import REPLY_BYTES_MAX
from nomadp.protocol.upload import UPLOAD_TYPE
from nomadp.randomness import new_key

__all__ = ["RETRY_MAX_S", "Outcome", "outcome_of", "pause_s", "send_waiting", "tried_once"]

RETRY_FIRST_S = 0.5
RETRY_MAX_S = 3600.0
"""The longest pause, whatever a collector requests and however often it failed."""
PERMANENT = ("report_replayed", "report_dropped", "task_expired", "invalid_message")
PASSING = ("report_too_early", "task_not_started")
BUSY = (408, 425, 429)
NO_ADDRESS = "no address is known: join the task by its URL"
UNREADABLE = "the reply cannot be read"
UNKNOWN_REASON = "refused (no known reason)"
_TYPE = re.compile("urn:nomadp:error:[a-zA-Z_-]{1,40}")


@dataclass(frozen=True)
class Outcome:
    """What a reply, or its absence, means for one report."""

    state: str
    """accepted, waiting or stopped."""
    reason: str | None = None
    retry_after_s: float = 0.0


def send_waiting(outbox: Outbox, waiting: list[Waiting], patience_s: float) -> None:
    """Send each report, with exponential back-off until ``patience_s``; the rest waits."""
    deadline_s = time.monotonic() + patience_s
    for sent, report in enumerate(waiting):
        if sent and time.monotonic() > deadline_s:
            return
        _send(outbox, report, deadline_s)


def _send(outbox: Outbox, waiting: Waiting, deadline_s: float) -> None:
    attempts = waiting.attempts
    while True:
        outcome = _tried(waiting)
        if outcome.state == "accepted":
            return outbox.accept(waiting.report_id)
        if outcome.state == "stopped":
            return outbox.stop(waiting.report_id, str(outcome.reason))
        # The next attempt is on disk before the pause, in case this process ends meanwhile.
        wait_s = pause_s(attempts, outcome.retry_after_s)
        attempts += 1
        later = int(time.time() + wait_s) + 1
        outbox.postpone(waiting.report_id, str(outcome.reason), later)
        if waiting.address is None or time.monotonic() + wait_s > deadline_s:
            return None
        time.sleep(wait_s)


def _tried(waiting: Waiting) -> Outcome:
    if waiting.address is None:
        return Outcome("waiting", NO_ADDRESS)
    address = Address.parse(waiting.address)
    return tried_once(address, waiting.task_id, waiting.report_id, waiting.body)


def tried_once(address: Address, task_id: str, report_id: str, body: bytes) -> Outcome:
    """Send one report to a collector once, and interpret the reply."""
    try:
        reply = post(address, f"/tasks/{task_id}/reports", body, UPLOAD_TYPE)
    except (OSError, http.client.HTTPException) as error:
        return Outcome("waiting", f"unreachable ({type(error).__name__})")
    return outcome_of(reply, report_id)


def outcome_of(reply: Reply, report_id: str) -> Outcome:
    """Accepted, wait or stop; of the collector's text, only known codes are repeated."""
    if 200 <= reply.status < 300:
        return _outcome_of_upload(reply, report_id)
    if reply.status >= 500 or reply.status in BUSY:
        after_s = min(float(reply.retry_after_s or 0), RETRY_MAX_S)
        return Outcome("waiting", f"busy ({reply.status})", after_s)
    if 300 <= reply.status < 400:
        # Redirects are not followed. Not a refusal either: a captive portal may go away.
        return Outcome("waiting", f"moved ({reply.status})")
    return Outcome("stopped", f"refused ({_problem(reply)})")


def _outcome_of_upload(reply: Reply, report_id: str) -> Outcome:
    if not reply.content and reply.is_whole:
        return Outcome("accepted")
    failures = _object(reply).get("failures")
    first = failures[0] if isinstance(failures, list) and len(failures) == 1 else None
    if not isinstance(first, dict) or first.get("id") != report_id:
        return Outcome("waiting", UNREADABLE)
    error = first.get("error")
    if error in PASSING:
        return Outcome("waiting", str(error))
    return Outcome("stopped", str(error) if error in PERMANENT else UNKNOWN_REASON)


def _problem(reply: Reply) -> str:
    kind = _object(reply).get("type")
    if isinstance(kind, str) and _TYPE.fullmatch(kind):
        return kind
    return str(reply.status)


def _object(reply: Reply) -> dict[str, Any]:
    try:
        return parse_object(reply.content, "a reply", REPLY_BYTES_MAX)
    except SchemaError:
        return {}


def pause_s(attempts: int, at_least_s: float) -> float:
    """Exponential back-off with random jitter, so that devices do not retry in step."""
    most_s = min(RETRY_MAX_S, RETRY_FIRST_S * 2.0 ** min(attempts, 20))
    jitter = int.from_bytes(new_key()[:8], "big") / 2**64
    return min(RETRY_MAX_S, at_least_s + most_s * (1 + jitter) / 2)
