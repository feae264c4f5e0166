"""Messages of devices and replies to them. Uploads are decoded strictly, in one pass."""

import binascii
import json
from typing import Any

import msgspec

from nomadp.protocol.canonical import INTEGER_MAX, unique_object
from nomadp.protocol.ceilings import UPLOAD_REPORTS_MAX
from nomadp.protocol.upload import UPLOAD_TYPE, is_report_id

__all__ = [
    "ACCEPTED_AGAIN",
    "REPORT_DROPPED",
    "INVALID_MESSAGE",
    "LATE",
    "NOT_STARTED",
    "REPLAYED",
    "SIMULATED",
    "ACCEPTED",
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

# The outcomes of a report, as they are counted.
ACCEPTED, ACCEPTED_AGAIN = "accepted", "accepted_again"
REPLAYED, LATE = "report_replayed", "late"
REPORT_DROPPED, TOO_EARLY = "report_dropped", "report_too_early"
NOT_STARTED, TASK_EXPIRED = "task_not_started", "task_expired"
INVALID_MESSAGE, SIMULATED = "invalid_message", "simulated"

_REPORTED = (REPLAYED, REPORT_DROPPED, TOO_EARLY, NOT_STARTED, TASK_EXPIRED, INVALID_MESSAGE)
_REPORTED_AS = dict(zip(_REPORTED, _REPORTED, strict=True)) | {
    LATE: REPLAYED,
    SIMULATED: INVALID_MESSAGE,
}
"""The errors that senders get. Late and replayed reports get the same error."""

_TO_PLAIN = str.maketrans("-_", "+/")
_TO_URL = bytes.maketrans(b"+/", b"-_")


class BadMessage(ValueError):
    """The bytes are not an upload. The error does not quote them."""


class Report(msgspec.Struct, forbid_unknown_fields=True):
    report_id: str
    time: int
    value: str
    simulated: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """Refused with any value: simulated reports must never be sent."""


class Upload(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[Report]
    simulated: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_DECODER = msgspec.json.Decoder(Upload)


def parse_upload(body: bytes) -> Upload:
    """Decode 1 to 100 reports with unique names and canonical ids; else `BadMessage`."""
    try:
        upload = _DECODER.decode(body)
        # If a name is repeated, msgspec silently uses the last value. Every required name has
        # one colon, so without further colons no name is repeated. Otherwise, parse again.
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
    text: str = value.decode("latin-1")
    return text == UPLOAD_TYPE or text.replace(" ", "").lower() == UPLOAD_TYPE


def report_id_bytes(text: str) -> bytes:
    return binascii.a2b_base64(text.translate(_TO_PLAIN) + "==")


def report_id_text(raw: bytes) -> str:
    return binascii.b2a_base64(raw, newline=False).translate(_TO_URL)[:22].decode()


def failures_body(failures: list[tuple[str, str]]) -> bytes:
    """The reply with ids and reasons, in the order of the request."""
    errors: list[dict[str, Any]] = [
        {"id": name, "error": _REPORTED_AS[reason]} for name, reason in failures
    ]
    return json.dumps({"failures": errors}, separators=(",", ":")).encode()
