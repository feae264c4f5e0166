"""What the collector may conclude from reports: Bayes with the exact law, free of charge."""

from nomadp.inference.decode import can_decode, decode, fit_prior, groups_of
from nomadp.inference.estimate import DecodedPoints
from nomadp.inference.journeys import CodebookDecoder
from nomadp.inference.learning import learn
from nomadp.inference.points import PointDecoder
from nomadp.inference.prior import Prior

__all__ = [
    "CodebookDecoder",
    "DecodedPoints",
    "PointDecoder",
    "Prior",
    "can_decode",
    "decode",
    "groups_of",
    "learn",
    "fit_prior",
]
