"""Access to computed results for the figures, tables and sentences."""

import statistics
from dataclasses import dataclass, field
from typing import Any

from nomadp.analysis.measures import BASELINES, Measured, best_of
from nomadp.paper.cells import Baselines, Cell, Setting, Work
from nomadp.paper.datasets import Catalogue, SetKey, load
from nomadp.paper.lines import Series
from nomadp.paper.reference import printed_counts
from nomadp.paper.specs import Experiment, Placed, Plan
from nomadp.paper.store import Store

__all__ = ["Curve", "Results", "Value", "better_baseline"]


@dataclass(frozen=True)
class Value:
    """The mean and deviation of a score over the repetitions of a setting."""

    mean: float
    sd: float
    """Standard deviation over the repetitions; 0 if there is only one."""


@dataclass(frozen=True)
class Curve:
    """One line of a figure."""

    series: Series
    x: tuple[str, ...]
    values: tuple[Value, ...]

    @property
    def mean(self) -> list[float]:
        return [value.mean for value in self.values]

    @property
    def sd(self) -> list[float]:
        return [value.sd for value in self.values]


@dataclass(frozen=True)
class Results:
    """The results of a plan on a catalogue, read from the store on first use."""

    catalogue: Catalogue
    plan: Plan
    store: Store
    _read: dict[Work, dict[str, Any]] = field(default_factory=dict, repr=False)

    def of(self, work: Work) -> dict[str, Any]:
        if not self.has(work):
            raise LookupError(f"{work} has not been computed")
        return self._read[work]

    def has(self, work: Work) -> bool:
        if work not in self._read:
            result = self.store.find(work, self.catalogue)
            if result is None:
                return False
            self._read[work] = result
        return True

    def is_complete(self, experiment: Experiment) -> bool:
        return all(map(self.has, experiment.works(self.catalogue, self.plan)))

    def value(self, setting: Setting, metric: str) -> Value:
        """The mean and standard deviation of a score over the plan's repetitions."""
        scores = [self.of(Cell(setting, k))[metric] for k in range(self.plan.runs)]
        sd = statistics.stdev(scores) if len(scores) > 1 else 0.0
        return Value(statistics.fmean(scores), sd)

    def printed_counts(self, base: str) -> dict[str, float]:
        """By mechanism, the values of Table 2, if this is the complete set of the paper."""
        data = load(self.catalogue, SetKey(base))
        return printed_counts(base, (len(data.locations), len(data.trajectories)))

    def baselines(self, key: SetKey) -> dict[str, Measured]:
        return self.of(Baselines(key))

    def placed(self, experiment: Experiment) -> list[Placed]:
        return experiment.place(self.catalogue, self.plan)

    def metrics(self, experiment: Experiment, base: str) -> tuple[str, ...]:
        return experiment.metrics(load(self.catalogue, SetKey(base)).yardstick)

    def curves(self, experiment: Experiment, base: str, metric: str) -> list[Curve]:
        """The lines of one panel, in the order of the specification."""
        lines: dict[Series, list[Placed]] = {}
        for point in self.placed(experiment):
            if point.base == base:
                lines.setdefault(point.series, []).append(point)
        return [
            Curve(
                series,
                tuple(point.x for point in line),
                tuple(self.value(point.setting, metric) for point in line),
            )
            for series, line in lines.items()
        ]

    def baseline_curves(
        self, experiment: Experiment, base: str, metric: str
    ) -> dict[str, list[float]]:
        """By baseline, its score along the axis, which may vary the data set."""
        placed = [point for point in self.placed(experiment) if point.base == base]
        along = [
            self.baselines(key)
            for key in {point.x: point.setting.dataset for point in placed}.values()
        ]
        return {
            name: [scores[name][metric] for scores in along]
            for name in BASELINES
            if all(metric in scores[name] for scores in along)
        }


def better_baseline(baselines: dict[str, Measured], metric: str) -> tuple[str, float]:
    """The no-information baseline with the best score, and this score."""
    by_name = {name: scores[metric] for name, scores in baselines.items() if metric in scores}
    best = best_of(metric, by_name)
    return best, by_name[best]
