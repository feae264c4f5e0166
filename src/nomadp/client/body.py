"""What leaves a device: one report, drawn now, as the bytes that travel."""

from nomadp.client.private_trajectory import PrivateTrajectory
from nomadp.errors import RandomnessUnavailable, ReportRefused
from nomadp.protocol import TaskBundle
from nomadp.protocol.upload import SentReport, upload_bytes

__all__ = ["upload_body"]


def upload_body(
    bundle: TaskBundle, private: PrivateTrajectory, report_id: str, time: int
) -> bytes:
    """Of one size for every journey; it must have been paid for already."""
    failure: Exception | None = None
    try:
        report = bundle.mechanism.report(private.locations, private.hour)
        value = bundle.code.text(bundle.code.released(report))
    except (RandomnessUnavailable, ReportRefused):
        raise
    except Exception:
        failure = ReportRefused(
            "a report must be drawn without any failure, and one occurred; what it says is "
            "withheld because it may be private, nothing was sent, and the charge stays",
            code="report_failed",
        )
    if failure is not None:  # outside, so that it does not hold the other one
        raise failure
    return upload_bytes([SentReport(report_id, time, value)])
