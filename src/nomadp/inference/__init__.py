"""What the collector may conclude from reports: Bayes with the exact law, free of charge."""

from nomadp.inference.decode import can_decode, decode, groups_of, learn_prior
from nomadp.inference.estimate import Estimate
from nomadp.inference.journeys import AtlasDecoder
from nomadp.inference.learning import learn
from nomadp.inference.points import PointDecoder
from nomadp.inference.prior import Prior

__all__ = [
    "AtlasDecoder",
    "Estimate",
    "PointDecoder",
    "Prior",
    "can_decode",
    "decode",
    "groups_of",
    "learn",
    "learn_prior",
]
