"""What every answer says of itself: how private, of how many reports, how far to be trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    "apart_counts",
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


def is_apart(shares: Shares, level: float) -> Any:
    """Which intervals leave out what somebody without reports would say."""
    low, high = interval_of(shares, level)
    return (shares.flat < low) | (high < shares.flat)


def told_apart(shares: Shares, level: float) -> dict[str, Any]:
    """How many intervals leave flat out, and whether those are more than chance makes."""
    return apart_counts(is_apart(shares, level), level)


def apart_counts(each: Any, level: float) -> dict[str, Any]:
    """The same, of rows of which it is known."""
    apart, size = int(each.sum()), len(each)
    chance = (1 - level) * size
    return {
        "told_apart": apart,
        "expected_by_chance": chance,
        "is_told_apart": apart > chance + 2 * (chance * level) ** 0.5,
    }


def number_columns(shares: Shares, level: float, name: str = "share") -> Mapping[str, Any]:
    """An estimate, how exact it is, and whether it is told apart from flat."""
    low, high = interval_of(shares, level)
    return {
        name: np.asarray(shares.values),
        "std": np.asarray(shares.deviation),
        "low": low,
        "high": high,
        "told_apart": is_apart(shares, level),
    }
