"""The numbers printed in the paper, and our computation of its Table 1."""

from functools import cache
from typing import Any

from nomadp.mechanisms.pivot.granularity import (
    CANDIDATES,
    choose_granularity,
    success_probability,
)

__all__ = ["PAPER_COUNTS", "TABLE_1", "direction_rows", "largest_difference", "printed_counts"]

TABLE_1: dict[str, tuple[str, str, str, str]] = {
    "0.01": ("0.25035156", "0.20871446", "0.16699901", "0.09869639"),
    "0.05": ("0.25175778", "0.21024432", "0.16833461", "0.09954752"),
    "0.1": ("0.25351539", "0.21216864", "0.17001818", "0.10062269"),
    "0.5": ("0.26754921", "0.22803653", "0.18405465", "0.10968742"),
    "1": ("0.28492633", "0.24901168", "0.20304037", "0.12224172"),
    "2": ("0.3185154", "0.29434453", "0.24584151", "0.15185139"),
    "4": ("0.37745749", "0.39365306", "0.34902402", "0.23167506"),
    "8": ("0.45232527", "0.57649644", "0.58164843", "0.47196792"),
    "10": ("0.47167379", "0.63974545", "0.6787087", "0.60876684"),
}
"""By epsilon, the probability for each candidate granularity, as printed in Table 1."""

PAPER_COUNTS = {
    "cgm": {"nyc": 17.7344, "chi": 11.4397, "cle": 12.1424, "cps": 73.446},
    "ngram": {"nyc": 13.5946, "chi": 11.7533, "cle": 10.2275, "cps": 32.3889},
    "tp": {"nyc": 10.1774, "chi": 7.1965, "cle": 5.8968, "cps": 25.8770},
    "atp": {"nyc": 10.9542, "chi": 7.4568, "cle": 6.1147, "cps": 28.4412},
}
"""ACD at epsilon 4, as printed in Table 2."""

PAPER_SIZES = {
    "nyc": (2000, 7951),
    "chi": (1000, 3162),
    "cle": (1000, 2794),
    "cps": (262, 4000),
}
"""The numbers of locations and of trajectories of the paper's sets."""

DIGITS = 8
"""The number of decimals in Table 1."""


def printed_counts(base: str, size: tuple[int, int]) -> dict[str, float]:
    """By mechanism, the printed ACD on a set; empty for a set of another size.

    Counts grow with the number of trajectories, so only the same number can be compared.
    """
    if PAPER_SIZES.get(base) != size:
        return {}
    return {mechanism: row[base] for mechanism, row in PAPER_COUNTS.items()}


@cache
def direction_rows() -> tuple[dict[str, Any], ...]:
    """Table 1 in three versions: as printed, by the table's arithmetic, by the equation."""
    return tuple(
        {
            "epsilon": epsilon,
            "granularity": granularity,
            "printed": float(text),
            "as_printed": round(success_probability(budget, granularity, "table"), DIGITS),
            "by_equation": round(success_probability(budget, granularity, "formula"), DIGITS),
            "chosen_as_printed": choose_granularity(budget, "table"),
            "chosen_by_equation": choose_granularity(budget, "formula"),
        }
        for epsilon, row in TABLE_1.items()
        for budget in [float(epsilon)]
        for granularity, text in zip(CANDIDATES, row, strict=True)
    )


def largest_difference(rule: str) -> float:
    """The largest difference between printed values and the column `as_printed` or
    `by_equation`."""
    return max(abs(float(row[rule] - row["printed"])) for row in direction_rows())
