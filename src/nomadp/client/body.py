"""The upload of one report: drawn now, and encoded as the bytes that leave the device."""

from nomadp.client.private_trajectory import PrivateTrajectory
from nomadp.errors import RandomnessUnavailable, ReportRefused
from nomadp.protocol import TaskBundle
from nomadp.protocol.upload import SentReport, upload_bytes

__all__ = ["upload_body"]


def upload_body(
    bundle: TaskBundle, private: PrivateTrajectory, report_id: str, time: int
) -> bytes:
    """The body of an upload; its size is the same for every trajectory.

    The report must have been charged to the ledger before.
    """
    failure: Exception | None = None
    try:
        report = bundle.mechanism.report(private.locations, private.hour)
        value = bundle.code.text(bundle.code.released(report))
    except (RandomnessUnavailable, ReportRefused):
        raise
    except Exception:
        failure = ReportRefused(
            "the report could not be drawn; the reason is withheld because it may be private; "
            "nothing was sent, and the budget stays used",
            code="report_failed",
        )
    if failure is not None:  # raised here, so that its context does not hold private data
        raise failure
    return upload_bytes([SentReport(report_id, time, value)])
