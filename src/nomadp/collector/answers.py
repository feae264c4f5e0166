"""From counts to answers: what a question costs is the same for a thousand reports and more."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nomadp.answers import run_query
from nomadp.answers.columns import plain
from nomadp.answers.drawing import drawing_of
from nomadp.answers.query import checked_query
from nomadp.inference.model import Model, fit
from nomadp.protocol.bundle import TaskBundle
from nomadp.reports.counts import Counts

__all__ = ["FittedTask"]


@dataclass(frozen=True, eq=False)
class FittedTask:
    """Of one task and its counts in some epochs: what they tell is learned once."""

    bundle: TaskBundle
    counts: Counts

    def answered(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """A table of columns, what is to be known about it, and how it is drawn."""
        checked_query(question)  # before anything is learned for it
        mechanism, task = self.bundle.mechanism, self.bundle.task
        terms = {"min_batch_size": task.min_batch_size, "task": task.id}
        found = run_query(mechanism, self.counts, question, model=self.learned, **terms)
        found = found.ranked()
        columns = {name: plain(column) for name, column in found.columns.items()}
        drawn = drawing_of(found, self.bundle.locations)
        about = dict(found.about)
        return {"kind": found.kind, "columns": columns, "about": about, "drawn": drawn}

    @cached_property
    def learned(self) -> Model:
        return fit(self.bundle.mechanism, self.counts)
