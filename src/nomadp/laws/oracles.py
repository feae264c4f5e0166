"""Which law asks a direct question: the most exact one whose reports are small."""

from fractions import Fraction
from functools import lru_cache

from nomadp.laws.labels import STEPS_MAX, LabelLaw
from nomadp.laws.projective import best_space
from nomadp.laws.selection import SubsetSelection, best_count

__all__ = ["REPORT_BYTES_MAX", "law_of_labels"]

REPORT_BYTES_MAX = 2048


@lru_cache(maxsize=64)
def law_of_labels(size: int, share: Fraction) -> LabelLaw:
    """Over ``size`` labels: sets of them as long as one fits into 2 KB, as a bit for each label
    or as a list of its own, and words can pick it; else points of a projective space."""
    count = best_count(size, share)
    listed = count * (2 if size <= 2**16 else 3)
    small = min(-(-size // 8), listed) <= REPORT_BYTES_MAX
    if small and size * count <= STEPS_MAX:
        return SubsetSelection(size, count, share)
    return best_space(size, share)
