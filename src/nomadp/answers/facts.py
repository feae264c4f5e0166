"""The facts that every estimate contains: privacy, number of reports, reliability."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import nomadp
from nomadp.answers.estimate import Estimate
from nomadp.answers.poisoning import invalid_reports_at_least
from nomadp.errors import DomainError
from nomadp.inference.model import Model
from nomadp.mechanisms import Mechanism
from nomadp.reports.counts import Counts

__all__ = ["LEVEL", "Terms", "estimate_facts", "too_few_reports"]

LEVEL = 0.9
"""The default confidence level of intervals."""


@dataclass(frozen=True)
class Terms:
    """The terms of a collection: the minimum batch size and the id of its task.

    With fewer reports than ``min_batch_size``, an estimate has no rows and says only how many
    reports are missing.
    """

    min_batch_size: int = 1
    task: str | None = None
    """The id of the task, which the estimate repeats in its facts."""

    def __post_init__(self) -> None:
        if self.min_batch_size < 1:
            raise DomainError(
                f"min_batch_size must be a whole number from 1, got {self.min_batch_size}",
                code="min_batch_size_out_of_range",
                min_batch_size=self.min_batch_size,
            )


def too_few_reports(
    kind: str, mechanism: Mechanism, counts: Counts, terms: Terms, columns: Sequence[str]
) -> Estimate | None:
    """An estimate without rows if there are too few reports; None if there are enough."""
    missing = terms.min_batch_size - counts.reports(mechanism)
    if missing <= 0:
        return None
    facts = {"kind": kind, **_mechanism_facts(mechanism), **_collection_facts(terms)}
    return Estimate(kind, {name: [] for name in columns}, {**facts, "missing": missing})


def estimate_facts(kind: str, model: Model, terms: Terms, **facts: Any) -> dict[str, Any]:
    """The facts about any estimate, and ``facts`` about this kind of estimate."""
    return {
        "kind": kind,
        **_mechanism_facts(model.mechanism),
        **_collection_facts(terms),
        "missing": 0,
        "reports": model.reports,
        "refused": model.counts.refused,
        "counts_sha256": model.counts.sha256,
        "invalid_reports_at_least": invalid_reports_at_least(model),
        **facts,
    }


def _mechanism_facts(mechanism: Mechanism) -> dict[str, Any]:
    return {
        "epsilon": str(mechanism.epsilon),
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        "params": mechanism.get_params(),
        "location_set_sha256": mechanism.locations.sha256,
        "nomadp_version": nomadp.__version__,
    }


def _collection_facts(terms: Terms) -> dict[str, Any]:
    return {
        "task": terms.task,
        "suppression": {
            "min_batch_size": terms.min_batch_size,
            "rule": "below the minimum, only the number of missing reports is released",
        },
    }
