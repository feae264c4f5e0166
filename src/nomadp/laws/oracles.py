"""The choice of a frequency oracle's law: small variance, with reports of limited size."""

from fractions import Fraction
from functools import lru_cache

from nomadp.laws.labels import STEPS_MAX, LabelLaw
from nomadp.laws.projective import best_space
from nomadp.laws.selection import SubsetSelection, best_count

__all__ = ["REPORT_BYTES_MAX", "law_of_labels"]

REPORT_BYTES_MAX = 2048
"""Larger sets of labels are not sent; a projective report is one number at any size."""


@lru_cache(maxsize=64)
def law_of_labels(size: int, share: Fraction) -> LabelLaw:
    """Subset selection if a report fits into 2 KB, else projective geometry response.

    A set of labels is sent as one bit per label or as a list, whichever is shorter. It must
    also be small enough to be drawn with 64-bit words.
    """
    count = best_count(size, share)
    # Optimal subset selection has the smaller variance (Ye and Barg 2018), but its reports grow
    # with the number of labels. A listed label takes 2 bytes, or 3 above 2^16 labels.
    listed = count * (2 if size <= 2**16 else 3)
    small = min(-(-size // 8), listed) <= REPORT_BYTES_MAX
    if small and size * count <= STEPS_MAX:
        return SubsetSelection(size, count, share)
    return best_space(size, share)
