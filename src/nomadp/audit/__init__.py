"""The exact privacy loss: walk every choice, compare all pairs of inputs, sample fast paths."""

from nomadp.audit.gallery import GALLERY
from nomadp.audit.loss import measure, measure_loss
from nomadp.audit.plan import AuditRequest
from nomadp.audit.run import AuditReport, AuditRow, GalleryRow, run_audit

__all__ = [
    "GALLERY",
    "AuditReport",
    "AuditRequest",
    "AuditRow",
    "GalleryRow",
    "measure",
    "measure_loss",
    "run_audit",
]
