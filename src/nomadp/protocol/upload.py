"""The upload of a device: a JSON object with reports, of one size for every trajectory."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nomadp.errors import InvalidArgument, ReportRefused
from nomadp.protocol.canonical import INTEGER_MAX, base64url, canonical_bytes
from nomadp.protocol.ceilings import UPLOAD_BYTES_MAX, UPLOAD_REPORTS_MAX

__all__ = ["ID_BYTES", "UPLOAD_TYPE", "SentReport", "is_report_id", "report_id", "upload_bytes"]

UPLOAD_TYPE = "application/vnd.nomadp+json;message=upload-req;version=1"
ID_BYTES = 16
_ID = re.compile("[A-Za-z0-9_-]{21}[AQgw]")


@dataclass(frozen=True)
class SentReport:
    """A report as it is sent: these fields and nothing else."""

    report_id: str
    time: int
    """In units of the task's `time_precision`, since 1970."""
    value: str


def report_id(random: bytes) -> str:
    """16 random bytes as 22 characters."""
    if len(random) != ID_BYTES:
        raise InvalidArgument(
            f"a report's id must have {ID_BYTES} bytes, got {len(random)}",
            code="report_id_size",
            limit=ID_BYTES,
            size=len(random),
        )
    return base64url(random)


def is_report_id(text: str) -> bool:
    """Whether ``text`` has the form of a report id: 22 characters that encode 16 bytes."""
    return _ID.fullmatch(text) is not None


def upload_bytes(reports: Sequence[SentReport]) -> bytes:
    """The body of one request: canonical JSON, so that a retry has the same bytes."""
    if not 1 <= len(reports) <= UPLOAD_REPORTS_MAX:
        raise ReportRefused(
            f"an upload must contain 1 to {UPLOAD_REPORTS_MAX} reports, got {len(reports)}",
            code="upload_count_out_of_range",
            limit=UPLOAD_REPORTS_MAX,
            reports=len(reports),
        )
    for report in reports:
        if not is_report_id(report.report_id) or not 0 <= report.time <= INTEGER_MAX:
            raise ReportRefused(
                "a report must have an id of 22 characters and a time of at least 0",
                code="report_id_or_time_malformed",
            )
    members = [{"report_id": r.report_id, "time": r.time, "value": r.value} for r in reports]
    content = canonical_bytes({"reports": members})
    if len(content) > UPLOAD_BYTES_MAX:
        raise ReportRefused(
            f"an upload must have at most {UPLOAD_BYTES_MAX} bytes, got {len(content)}; send "
            "fewer reports at once",
            code="upload_too_large",
            limit=UPLOAD_BYTES_MAX,
            size=len(content),
        )
    return content
