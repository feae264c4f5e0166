"""The number of sectors g: the paper's success probability, and the choice by it (Eq. 8).

Differs from the paper: its Table 1 can be reproduced only if the probability of a wrong sector
is divided once more by (g - 1), which is not what its equation says. Both rules are offered:
"table" is the arithmetic that the paper ran, "formula" the equation that it printed.
"""

import math
from fractions import Fraction

from nomadp.errors import InvalidArgument

__all__ = ["CANDIDATES", "DIRECTION_SHARE", "choose_granularity", "success_probability"]

CANDIDATES = (2, 4, 6, 12)  # D_c in section 4.3
DIRECTION_SHARE = Fraction(9, 32)
"""The part of epsilon that one copy of ATP spends on all directions: 3/4 of 3/4 of a half."""
RULES = ("table", "formula")


def success_probability(epsilon: Fraction | float, granularity: int, rule: str) -> float:
    """The probability that a direction is preserved, averaged over the query ranges (Eq. 8)."""
    if rule not in RULES:
        raise InvalidArgument(
            f"rule must be one of {', '.join(RULES)}, got {rule!r}",
            code="unknown_choice",
            parameter="rule",
            choices=RULES,
        )
    # Randomised response over g sectors (lambda in the paper). The paper uses the budget of all
    # directions together, not that of one of them.
    odds = math.exp(float(DIRECTION_SHARE * Fraction(epsilon)))
    true = odds / (granularity - 1 + odds)
    other = 1 / (granularity - 1 + odds)
    if rule == "table":
        other /= granularity - 1
    total = 0.0
    for query in CANDIDATES:
        for sector in range(granularity):
            # Sector 0 is the true one. phi is the part of a sector within the query range.
            total += _covered(sector, granularity, query) * (other if sector else true)
    return total / len(CANDIDATES)


def choose_granularity(epsilon: Fraction | float, rule: str) -> int:
    """The candidate with the highest success probability; the coarser one in a tie."""
    return max(CANDIDATES, key=lambda g: (success_probability(epsilon, g, rule), -g))


def _covered(sector: int, granularity: int, query: int) -> float:
    """The part of a sector that lies within pi / query of direction 0 (phi in Eq. 8).

    Angles are exact fractions of a turn, so that ties between candidates stay ties.
    """
    middle, half = Fraction(sector, granularity), Fraction(1, 2 * granularity)
    low, high = middle - half, middle + half
    reach = Fraction(1, 2 * query)
    # The range is symmetric about 0: sectors beyond half a turn overlap it from the other side.
    overlap = sum(
        max(Fraction(0), min(high, turn + reach) - max(low, turn - reach)) for turn in (0, 1)
    )
    return float(overlap * granularity)
