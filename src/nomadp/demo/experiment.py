"""The page's numbers: a simulated city, perturbed and scored, and the audit."""

import math
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from nomadp.analysis.metrics import Evaluation, error_km_each, evaluate, within_percent_each
from nomadp.audit import AuditReport, AuditRequest, run_audit
from nomadp.budget import as_epsilon
from nomadp.datasets.city import City, synthetic_city
from nomadp.demo.results import SimulatedSurvey
from nomadp.demo.views import View, draw_views
from nomadp.engine.local import perturb_set
from nomadp.engine.workers import run_all
from nomadp.geometry import Floats
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededRandom
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet

__all__ = [
    "FULL",
    "QUICK",
    "DemoPlan",
    "Findings",
    "Progress",
    "Run",
    "explore",
    "trajectories_to_show",
]

Progress = Callable[[int], None]
"""Called with the number of pieces of work finished since the last call."""
Setting = tuple[str, str]
"""A mechanism and an epsilon."""


@dataclass(frozen=True)
class DemoPlan:
    """The settings of the page. The same plan gives the same numbers on every machine."""

    seed: int = 1
    places: int = 1000
    trips: int = 2000
    evaluated: int = 600
    """Trajectories behind every point of the charts."""
    shown: int = 24
    """Trajectories on the map."""
    draws: int = 8
    """Reports of each shown trajectory, which show how random a report is."""
    mechanisms: tuple[str, ...] = ("exp", "tp", "atp", "atlas")
    epsilons: tuple[str, ...] = ("1", "2", "4", "8")
    radii_km: tuple[float, ...] = (0.5, 1.0, 2.0)
    audited_epsilons: tuple[str, ...] = ("4",)
    """The epsilon of the collection. Auditing another takes half a minute of one core."""
    audited_lengths: tuple[int, ...] = (1, 2, 3)
    sampler_draws: int = 1_000_000
    survey: SimulatedSurvey = field(default_factory=SimulatedSurvey)
    command: str = "nomadp demo"

    @property
    def settings(self) -> list[Setting]:
        """Every mechanism at every epsilon."""
        return [(name, epsilon) for name in self.mechanisms for epsilon in self.epsilons]

    @property
    def audits(self) -> list[AuditRequest]:
        """The audit in parts that can run at the same time; the last is the gallery."""
        parts = [
            AuditRequest(
                mechanisms=(name,),
                epsilons=(as_epsilon(epsilon),),
                lengths=(length,),
                published=(),
                gallery=(),
                draws=0,
                path_draws=0,
            )
            for name in self.mechanisms
            for epsilon in self.audited_epsilons
            for length in self.audited_lengths
        ]
        gallery = AuditRequest(
            mechanisms=(), epsilons=(as_epsilon(1),), draws=self.sampler_draws, seed=0
        )
        return [*parts, gallery]


FULL = DemoPlan()
QUICK = DemoPlan(
    places=150,
    trips=120,
    evaluated=60,
    shown=8,
    draws=3,
    audited_epsilons=("1",),
    audited_lengths=(1, 2),
    sampler_draws=100_000,
    survey=SimulatedSurvey(people=2000, codewords=64, areas="grid:8"),
    command="nomadp demo --quick",
)


@dataclass(frozen=True)
class Run:
    """One mechanism at one epsilon."""

    evaluation: Evaluation
    error_half_width: float
    """Half the width of the error's 95 % confidence interval, over trajectories."""
    range_half_width: tuple[float, ...]
    """The same for the percentage within each radius."""
    draws: Sequences
    """Reports of the shown trajectories: all of the first, then all of the second, etc."""


@dataclass(frozen=True)
class Study:
    """The plan, its city, and the trajectories that the map shows."""

    plan: DemoPlan
    city: City
    shown: tuple[int, ...]


@dataclass(frozen=True)
class Findings:
    """All results, from which the page is made."""

    study: Study
    runs: dict[Setting, Run]
    audit: AuditReport
    views: tuple[View, ...]
    """Maps of the estimates from many reports."""

    @property
    def baselines(self) -> Evaluation:
        """The baselines, which are the same in every evaluation."""
        return self.runs[self.study.plan.settings[0]].evaluation


Result = Run | AuditReport | tuple[View, ...]


def explore(plan: DemoPlan, jobs: int, progress: Progress) -> Findings:
    """Perturb, score and audit everything in the plan; ``jobs`` 0 means one per core."""
    city = synthetic_city(plan.seed, places=plan.places, trips=plan.trips)
    study = Study(plan, city, trajectories_to_show(city, plan.shown))
    audits, settings = plan.audits, plan.settings
    calls: list[Callable[[Study], Result]] = [
        *(partial(_perturb_and_score, setting) for setting in settings),
        *(partial(_audit, request) for request in audits),
        _survey,
    ]
    results: dict[int, Result] = {}
    # The last calls are the slowest. They start first, so that no core waits at the end.
    with closing(run_all(study, calls[::-1], jobs or os.cpu_count() or 1)) as finished:
        for position, result in finished:
            results[len(calls) - 1 - position] = result
            progress(1)
    ordered = [results[k] for k in range(len(calls))]
    runs = [result for result in ordered if isinstance(result, Run)]
    return Findings(
        study,
        dict(zip(settings, runs, strict=True)),
        _merge_audits([result for result in ordered if isinstance(result, AuditReport)]),
        next(result for result in ordered if isinstance(result, tuple)),
    )


def trajectories_to_show(city: City, count: int) -> tuple[int, ...]:
    """Choose trajectories of all lengths and extents, without looking at their reports."""
    lengths = city.trajectories.lengths
    extent_km = np.array([_extent_km(city, k) for k in range(len(lengths))])
    middle = (int(lengths.min()) + int(lengths.max())) / 2
    # Medium lengths first, because the first trajectories are the ones that visitors look at.
    by_middle = sorted(set(lengths.tolist()), key=lambda n: (abs(n - middle), n))
    queues = []
    for length in by_middle:
        candidates = np.flatnonzero(lengths == length)
        candidates = candidates[np.argsort(-extent_km[candidates], kind="stable")]
        n_wanted = min(len(candidates), math.ceil(count / len(by_middle)))
        queues.append(candidates[(np.arange(n_wanted) + 1) * len(candidates) // (n_wanted + 1)])
    longest_queue = max(map(len, queues))
    # Alternate between lengths, so that the first ones shown are varied.
    picked = [int(queue[k]) for k in range(longest_queue) for queue in queues if k < len(queue)]
    return tuple(picked[:count])


def _extent_km(city: City, k: int) -> float:
    """The largest distance of a trajectory's points from its first point."""
    path = city.trajectories[k]
    return float(city.locations.distances_km(int(path[0]))[path].max())


def _perturb_and_score(setting: Setting, study: Study) -> Run:
    name, epsilon = setting
    plan, locations = study.plan, study.city.locations
    mechanism = make_mechanism(name, locations, epsilon)
    randomness = SeededRandom(plan.seed).bound_to(mechanism.identity)
    true = study.city.trajectories.select(range(plan.evaluated))
    repeated = study.city.trajectories.select(np.repeat(study.shown, plan.draws))
    # One call, so that every report, scored or shown, has its own random stream.
    reported = perturb_set(mechanism, _joined(true, repeated), randomness, keep_tids=True)
    scored = reported.select(range(len(true)))
    error_km = error_km_each(locations, true, scored)
    return Run(
        evaluation=evaluate(locations, true, scored, plan.radii_km),
        error_half_width=_half_width(error_km) / locations.diameter_km,
        range_half_width=tuple(
            _half_width(within_percent_each(locations, true, scored, radius_km))
            for radius_km in plan.radii_km
        ),
        draws=reported.select(range(len(true), len(reported))),
    )


def _half_width(score: Floats) -> float:
    """Half the width of the 95 % confidence interval of a mean over trajectories."""
    # 1.96 is the 97.5 % quantile of the normal distribution, which the mean approaches.
    return 1.96 * float(score.std(ddof=1)) / math.sqrt(len(score))


def _joined(first: TrajectorySet, second: TrajectorySet) -> TrajectorySet:
    return TrajectorySet(
        np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]]),
        np.concatenate([first.locations, second.locations]),
        tuple(str(k) for k in range(len(first) + len(second))),
    )


def _survey(study: Study) -> tuple[View, ...]:
    plan = study.plan
    return draw_views(plan.survey, plan.seed, plan.places)


def _audit(request: AuditRequest, study: Study) -> AuditReport:
    return run_audit(request)


def _merge_audits(reports: Sequence[AuditReport]) -> AuditReport:
    return AuditReport(
        rows=tuple(row for report in reports for row in report.rows),
        gallery=tuple(row for report in reports for row in report.gallery),
        sampler=tuple(row for report in reports for row in report.sampler),
    )
