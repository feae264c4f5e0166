"""Estimation from reports by Bayes with the exact law: post-processing, at no privacy cost."""

from nomadp.inference.codebook_decoder import CodebookDecoder
from nomadp.inference.decode import can_decode, decode, fit_prior, groups_of
from nomadp.inference.empirical_bayes import fit_prior_to_groups
from nomadp.inference.estimate import DecodedPoints
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
    "fit_prior_to_groups",
    "fit_prior",
]
