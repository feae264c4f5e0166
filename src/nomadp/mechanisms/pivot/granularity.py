"""How finely directions are cut: the paper's success probability and its choice (Eq. 8).

Differs from the paper: its Table 1 reproduces only with the probability of a wrong sector
divided once more by (g - 1), which is not what its equation says. Both are here: "table" is
the arithmetic the paper ran, "formula" the equation it printed.
"""

import math
from fractions import Fraction

from nomadp.errors import InvalidArgument

__all__ = ["CANDIDATES", "DIRECTION_SHARE", "choose_granularity", "success_probability"]

CANDIDATES = (2, 4, 6, 12)
DIRECTION_SHARE = Fraction(9, 32)
"""Three quarters of three quarters of half of epsilon: what one copy spends on directions."""
RULES = ("table", "formula")


def success_probability(epsilon: Fraction | float, granularity: int, rule: str) -> float:
    """How probably a direction is preserved, averaged over the candidate query ranges."""
    if rule not in RULES:
        raise InvalidArgument(
            f"rule must be one of {', '.join(RULES)}, got {rule!r}",
            code="unknown_choice",
            parameter="rule",
            choices=RULES,
        )
    odds = math.exp(float(DIRECTION_SHARE * Fraction(epsilon)))
    true = odds / (granularity - 1 + odds)
    other = 1 / (granularity - 1 + odds)
    if rule == "table":
        other /= granularity - 1
    total = 0.0
    for query in CANDIDATES:
        for sector in range(granularity):
            total += _covered(sector, granularity, query) * (other if sector else true)
    return total / len(CANDIDATES)


def choose_granularity(epsilon: Fraction | float, rule: str) -> int:
    """The candidate with the highest success probability; the coarser one in a tie."""
    return max(CANDIDATES, key=lambda g: (success_probability(epsilon, g, rule), -g))


def _covered(sector: int, granularity: int, query: int) -> float:
    """Share of a sector, 1/granularity of a turn, within 1/(2 query) turns of direction 0."""
    middle, half = Fraction(sector, granularity), Fraction(1, 2 * granularity)
    low, high = middle - half, middle + half
    reach = Fraction(1, 2 * query)
    # Sectors beyond half a turn meet the range again from the other side.
    overlap = sum(
        max(Fraction(0), min(high, turn + reach) - max(low, turn - reach)) for turn in (0, 1)
    )
    return float(overlap * granularity)
