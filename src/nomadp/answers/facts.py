"""What every answer says of itself: how private, of how many reports, how far to be trusted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import nomadp
from nomadp.answers.fakes import impossible_excess
from nomadp.answers.table import Table
from nomadp.errors import DomainError
from nomadp.inference.learned import Learned
from nomadp.inference.shares import Shares
from nomadp.mechanisms import Mechanism
from nomadp.reports.counts import Counts

__all__ = [
    "LEVEL",
    "Terms",
    "about",
    "interval_of",
    "is_apart",
    "missing",
    "number_columns",
    "told_apart",
]

LEVEL = 0.9
"""How probably the truth lies within each interval, if nothing else is asked."""


@dataclass(frozen=True)
class Terms:
    """On which terms a collection answers: of too few reports it says how many are missing."""

    min_batch_size: int = 1
    task: str | None = None

    def __post_init__(self) -> None:
        if self.min_batch_size < 1:
            raise DomainError(
                f"min_batch_size must be a whole number from 1, got {self.min_batch_size}"
            )


def missing(
    kind: str, mechanism: Mechanism, counts: Counts, terms: Terms, columns: Sequence[str]
) -> Table | None:
    """An answer without rows, if there are too few reports; None if there are enough."""
    short = terms.min_batch_size - counts.reports(mechanism)
    if short <= 0:
        return None
    said = {"ask": kind, **_made(mechanism), **_terms(terms), "missing": short}
    return Table(kind, {name: [] for name in columns}, said)


def about(kind: str, learned: Learned, terms: Terms, **more: Any) -> dict[str, Any]:
    """The facts of an answer."""
    return {
        "ask": kind,
        **_made(learned.mechanism),
        **_terms(terms),
        "missing": 0,
        "reports": learned.reports,
        "refused": learned.counts.refused,
        "counts_sha256": learned.counts.sha256,
        "impossible_excess": impossible_excess(learned),
        **more,
    }


def _made(mechanism: Mechanism) -> dict[str, Any]:
    return {
        "epsilon": str(mechanism.epsilon),
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        "params": mechanism.get_params(),
        "location_set_sha256": mechanism.locations.sha256,
        "nomadp_version": nomadp.__version__,
    }


def _terms(terms: Terms) -> dict[str, Any]:
    return {
        "task": terms.task,
        "suppression": {
            "min_batch_size": terms.min_batch_size,
            "rule": "of fewer reports nothing is said but how many are missing",
        },
    }


def interval_of(shares: Shares, level: float) -> tuple[Any, Any]:
    """From where to where each share may be, itself included.

    Of a direct question the interval lies around what was counted, and the estimate, which is
    drawn towards larger areas, may lie beyond it.
    """
    low, high = shares.interval(level)
    return np.minimum(low, shares.values), np.maximum(high, shares.values)


def is_apart(flat: Any, interval: Callable[[float], tuple[Any, Any]], level: float) -> Any:
    """Which rows differ from flat, at most 1 - level of them by chance in expectation.

    One interval in ten leaves flat out by chance alone, which of many rows are many. So the
    fewer rows are claimed, the wider are the intervals that must leave it out: a false
    discovery rate (Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x).
    ``interval`` gives the intervals of all rows at a level.
    """
    claimed = len(flat)
    apart = np.zeros(claimed, dtype=bool)
    while claimed:
        low, high = interval(1 - (1 - level) * claimed / len(flat))
        apart = (flat < low) | (high < flat)
        if (found := int(apart.sum())) == claimed:
            break
        claimed = found
    return apart


def told_apart(rows: Any, level: float) -> dict[str, Any]:
    """How many rows differ from flat, and how many of these may by chance."""
    return {"told_apart": int(np.sum(rows)), "false_discovery_rate": round(1 - level, 12)}


def number_columns(shares: Shares, level: float, name: str = "share") -> Mapping[str, Any]:
    """An estimate, how exact it is, what flat has, and whether it is told apart from that."""
    low, high = interval_of(shares, level)
    return {
        name: np.asarray(shares.values),
        "std": np.asarray(shares.deviation),
        "low": low,
        "high": high,
        "flat": np.asarray(shares.flat),
        "told_apart": is_apart(shares.flat, partial(interval_of, shares), level),
    }
