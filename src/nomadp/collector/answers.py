"""Estimates from counts. Their cost does not grow with the number of reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nomadp.answers import run_query
from nomadp.answers.columns import python_values
from nomadp.answers.drawing import drawing_of
from nomadp.answers.query import checked_query
from nomadp.inference.model import Model, fit
from nomadp.protocol.bundle import TaskBundle
from nomadp.reports.counts import Counts

__all__ = ["FittedTask"]


@dataclass(frozen=True, eq=False)
class FittedTask:
    """One task and its counts in a range of epochs. All queries share one fitted model."""

    bundle: TaskBundle
    counts: Counts

    def answer(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """The estimate's columns, the facts about it, and how to draw it."""
        checked_query(query)  # before a model is fitted for it
        mechanism, task = self.bundle.mechanism, self.bundle.task
        terms = {"min_batch_size": task.min_batch_size, "task": task.id}
        table = run_query(mechanism, self.counts, query, model=self.model, **terms).ranked()
        columns = {name: python_values(column) for name, column in table.columns.items()}
        drawn = drawing_of(table, self.bundle.locations)
        about = dict(table.about)
        return {"kind": table.kind, "columns": columns, "about": about, "drawn": drawn}

    @cached_property
    def model(self) -> Model:
        return fit(self.bundle.mechanism, self.counts)
