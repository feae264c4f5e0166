"""What devices send and are told: decoded strictly, in one pass."""

import binascii
import json
from typing import Any

import msgspec

from nomadp.protocol.canonical import INTEGER_MAX, unique_object
from nomadp.protocol.ceilings import UPLOAD_REPORTS_MAX
from nomadp.protocol.upload import UPLOAD_TYPE, is_report_id

__all__ = [
    "AGAIN",
    "REPORT_DROPPED",
    "INVALID_MESSAGE",
    "LATE",
    "NOT_STARTED",
    "REPLAYED",
    "SIMULATED",
    "TAKEN",
    "TASK_EXPIRED",
    "TOO_EARLY",
    "UPLOAD_TYPE",
    "BadMessage",
    "Report",
    "Upload",
    "failures_body",
    "is_upload_type",
    "parse_upload",
    "report_id_bytes",
    "report_id_text",
]

# What becomes of a report, by the name it is counted under.
TAKEN, AGAIN = "accepted", "accepted_again"
REPLAYED, LATE = "report_replayed", "late"
REPORT_DROPPED, TOO_EARLY = "report_dropped", "report_too_early"
NOT_STARTED, TASK_EXPIRED = "task_not_started", "task_expired"
INVALID_MESSAGE, SIMULATED = "invalid_message", "simulated"

_TOLD = (REPLAYED, REPORT_DROPPED, TOO_EARLY, NOT_STARTED, TASK_EXPIRED, INVALID_MESSAGE)
_TOLD_AS = dict(zip(_TOLD, _TOLD, strict=True)) | {LATE: REPLAYED, SIMULATED: INVALID_MESSAGE}
"""All that a sender is ever told; late and replayed are not told apart."""

_TO_PLAIN = str.maketrans("-_", "+/")
_TO_URL = bytes.maketrans(b"+/", b"-_")


class BadMessage(ValueError):
    """The bytes are no upload. Says nothing of what they are."""


class Report(msgspec.Struct, forbid_unknown_fields=True):
    report_id: str
    time: int
    value: str
    simulated: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """Whatever it says: nothing that was simulated is ever sent."""


class Upload(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[Report]
    simulated: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_DECODER = msgspec.json.Decoder(Upload)


def parse_upload(body: bytes) -> Upload:
    """1 to 100 reports, every name once, every id in its one form; else `BadMessage`."""
    try:
        upload = _DECODER.decode(body)
        # msgspec takes the last of two values of one name. Every name that must be there has a
        # colon; where there are no others, none stands twice.
        if body.count(b":") != 1 + 3 * len(upload.reports):
            unique_object(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise BadMessage from None
    if not 1 <= len(upload.reports) <= UPLOAD_REPORTS_MAX:
        raise BadMessage
    for report in upload.reports:
        if not is_report_id(report.report_id) or not 0 <= report.time <= INTEGER_MAX:
            raise BadMessage
    return upload


def is_upload_type(value: bytes) -> bool:
    said: str = value.decode("latin-1")
    return said == UPLOAD_TYPE or said.replace(" ", "").lower() == UPLOAD_TYPE


def report_id_bytes(text: str) -> bytes:
    return binascii.a2b_base64(text.translate(_TO_PLAIN) + "==")


def report_id_text(raw: bytes) -> str:
    return binascii.b2a_base64(raw, newline=False).translate(_TO_URL)[:22].decode()


def failures_body(failures: list[tuple[str, str]]) -> bytes:
    """Of ids and reasons, in the order of the request; a reason that is for nobody fails."""
    told: list[dict[str, Any]] = [
        {"id": name, "error": _TOLD_AS[reason]} for name, reason in failures
    ]
    return json.dumps({"failures": told}, separators=(",", ":")).encode()
