"""The exact privacy loss of what runs: walk every choice, compare every pair of inputs."""

from nomadp.audit.gallery import GALLERY
from nomadp.audit.loss import Measurement, measure
from nomadp.audit.measuring import measure_loss
from nomadp.audit.plan import AuditRequest
from nomadp.audit.run import AuditReport, AuditRow, GalleryRow, run_audit

__all__ = [
    "GALLERY",
    "AuditReport",
    "AuditRequest",
    "AuditRow",
    "GalleryRow",
    "Measurement",
    "measure",
    "measure_loss",
    "run_audit",
]
