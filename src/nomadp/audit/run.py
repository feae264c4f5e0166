"""Run an audit: the result has one row per mechanism, epsilon and length."""

import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from nomadp.audit.gallery import GALLERY
from nomadp.audit.loss import Measurement, as_json, json_loss, measure
from nomadp.audit.paths import (
    NOT_TESTED,
    FullSizeRow,
    PathRow,
    Sampling,
    check_full_size,
    large_path_rows,
    path_rows,
)
from nomadp.audit.plan import (
    THOROUGH_FACTOR,
    AuditRequest,
    Configuration,
    configurations,
    path_mechanisms,
)
from nomadp.audit.sampler import SamplerRow, check_sampler, example_channels
from nomadp.errors import DomainError
from nomadp.extras import require
from nomadp.mechanisms import make_mechanism

__all__ = ["AuditReport", "AuditRow", "GalleryRow", "StepRow", "run_audit"]

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Called with the number of finished steps and of all steps."""


@dataclass(frozen=True)
class StepRow:
    """The worst single draw of one kind: its share, and its measured loss."""

    step: str
    share: Fraction
    loss: float


@dataclass(frozen=True)
class AuditRow:
    """The worst case over all maps and options of one mechanism, epsilon and length."""

    mechanism: str
    epsilon: Fraction
    length: int
    configurations: int
    spent: tuple[Fraction, ...]
    transcript_loss: float
    final_loss: float
    worst_map: str
    steps: tuple[StepRow, ...]
    flags: tuple[str, ...]
    private: bool
    """Whether the mechanism claims to be private; the as-published ones do not."""

    @property
    def ok(self) -> bool:
        """Whether the verdict is as expected: only the as-published mechanisms are flagged."""
        return self.private == (not self.flags)

    def as_dict(self) -> dict[str, Any]:
        return {**as_json(self), "ok": self.ok}


@dataclass(frozen=True)
class GalleryRow:
    """One broken variant and the rules that detected it."""

    name: str
    explanation: str
    epsilon: Fraction
    transcript_loss: float
    final_loss: float
    flagged_by: tuple[str, ...]

    @property
    def flagged(self) -> bool:
        return bool(self.flagged_by)

    def as_dict(self) -> dict[str, Any]:
        return {**as_json(self), "flagged": self.flagged}


@dataclass(frozen=True)
class AuditReport:
    """The results of an audit; ``ok`` if every check passed and every variant was detected."""

    rows: tuple[AuditRow, ...]
    gallery: tuple[GalleryRow, ...]
    sampler: tuple[SamplerRow, ...]
    paths: tuple[PathRow, ...] = ()
    full_size: tuple[FullSizeRow, ...] = ()
    seed: int | None = None
    """The seed of all samples, which repeats the audit; None if nothing was sampled."""

    @property
    def leak_missed(self) -> float | None:
        """The largest share of leaked reports that the tests of any path could have missed.

        None if no path was compared or sampled.
        """
        shares = [row.leak_missed for row in self.paths if row.reports]
        return max(shares, default=None)

    @property
    def loss_missed(self) -> tuple[float, Fraction] | None:
        """Of the losses that could have been missed, the one that exceeds its epsilon most."""
        losses = [
            (row.loss_missed, row.epsilon)
            for row in self.paths
            if row.loss_missed is not None and row.epsilon is not None
        ]
        return max(losses, key=lambda pair: pair[0] - pair[1], default=None)

    @property
    def unseen_paths(self) -> tuple[str, ...]:
        """The paths that were neither compared nor sampled."""
        unseen = (row for row in self.paths if row.seen.startswith(NOT_TESTED))
        return tuple(f"{row.mechanism} by {row.path}" for row in unseen)

    @property
    def ok(self) -> bool:
        parts: list[tuple[Any, ...]] = [self.rows, self.sampler, self.paths, self.full_size]
        sound = all(row.ok for part in parts for row in part)
        return sound and all(row.flagged for row in self.gallery)

    def as_dict(self) -> dict[str, Any]:
        loss, epsilon = self.loss_missed or (None, None)
        return {
            "ok": self.ok,
            "mechanisms": [row.as_dict() for row in self.rows],
            "gallery": [row.as_dict() for row in self.gallery],
            "sampler": [row.as_dict() for row in self.sampler],
            "paths": [row.as_dict() for row in self.paths],
            "full_size": [row.as_dict() for row in self.full_size],
            "leak_missed": None if self.leak_missed is None else json_loss(self.leak_missed),
            "loss_missed": None if loss is None else json_loss(loss),
            "loss_missed_at": None if epsilon is None else str(epsilon),
            "seed": self.seed,
        }


def run_audit(request: AuditRequest, progress: Progress | None = None) -> AuditReport:
    """Run all checks that the request names; a leak is in the report and raises nothing."""
    exhibits = tuple(GALLERY) if request.gallery is None else request.gallery
    if unknown := [name for name in exhibits if name not in GALLERY]:
        raise DomainError(
            f"unknown variant {unknown[0]!r}; choose one of {', '.join(GALLERY)}",
            code="unknown_variant",
            variant=unknown[0],
        )
    todo = list(configurations(request))
    if request.draws:
        require("analysis")  # fail now, not after the exact audit
    channels = example_channels() if request.draws else {}
    # A fresh seed by default: a path that passed with one seed may fail with another, and a
    # fixed seed would test the same sample forever.
    seed = secrets.randbits(32) if request.seed is None else request.seed
    tested = request.mechanisms if request.path_draws else ()
    total = len(todo) + len(exhibits) * len(request.epsilons) + len(channels) + len(tested)
    step = _ProgressCounter(total, progress)
    measured: dict[tuple[str, Fraction, int], list[tuple[Configuration, Measurement]]] = {}
    for case in todo:
        key = (case.mechanism.name, case.mechanism.epsilon, case.length)
        measured.setdefault(key, []).append((case, step(measure(case.mechanism, case.length))))
    gallery = [step(_gallery_row(name, e)) for name in exhibits for e in request.epsilons]
    sampler = [
        step(check_sampler(name, channel, secret, request.draws, seed))
        for name, (channel, secret) in channels.items()
    ]
    paths = [row for name in tested for row in step(_path_rows(name, request, seed))]
    rows = tuple(map(_row, measured.values()))
    full_size = tuple(_full_size(request))
    used = seed if sampler or any(row.reports for row in paths) else None
    return AuditReport(rows, tuple(gallery), tuple(sampler), tuple(paths), full_size, used)


def _path_rows(name: str, request: AuditRequest, seed: int) -> list[PathRow]:
    factor = THOROUGH_FACTOR if request.thorough else 1
    draws, compared = factor * request.path_draws, factor * request.path_compared
    sampling = Sampling(request.lengths, draws, compared, seed)
    rows = path_rows(path_mechanisms(name, request.epsilons, "random"), sampling)
    # Use another map: the tables of the first one are cached, and large sets have none.
    large = sampling if request.thorough else replace(sampling, draws=0)
    return rows + large_path_rows(path_mechanisms(name, request.epsilons, "outlier"), large)


def _full_size(request: AuditRequest) -> Iterator[FullSizeRow]:
    if request.locations is None:
        return
    for name in request.mechanisms:
        for epsilon in request.epsilons:
            mechanism = make_mechanism(name, request.locations, epsilon)
            for length in request.lengths:
                yield check_full_size(mechanism, length)


@dataclass
class _ProgressCounter:
    """Counts finished steps and reports them; returns each step's result unchanged."""

    total: int
    progress: Progress | None
    done: int = 0

    def __call__(self, result: T) -> T:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)
        return result


def _row(measured: list[tuple[Configuration, Measurement]]) -> AuditRow:
    first = measured[0][0]
    worst, _ = max(measured, key=lambda pair: pair[1].transcript_loss)
    measurements = [measurement for _, measurement in measured]
    return AuditRow(
        mechanism=first.mechanism.name,
        epsilon=first.mechanism.epsilon,
        length=first.length,
        configurations=len(measured),
        spent=tuple(sorted(set().union(*(m.spent for m in measurements)))),
        transcript_loss=max(m.transcript_loss for m in measurements),
        final_loss=max(m.final_loss for m in measurements),
        worst_map=worst.map_name,
        steps=_worst_steps(measurements),
        flags=tuple(sorted(set().union(*(m.flags for m in measurements)))),
        private=first.mechanism.private,
    )


def _worst_steps(measurements: list[Measurement]) -> tuple[StepRow, ...]:
    worst: dict[str, StepRow] = {}
    for measurement in measurements:
        for name, record in measurement.steps.items():
            ratio = record.worst_ratio
            row = StepRow(name, record.share, math.inf if ratio is None else math.log(ratio))
            if name not in worst or row.loss > worst[name].loss:
                worst[name] = row
    return tuple(worst.values())


def _gallery_row(name: str, epsilon: Fraction) -> GalleryRow:
    exhibit = GALLERY[name]
    measured = measure(exhibit.build(epsilon), exhibit.length)
    losses = measured.transcript_loss, measured.final_loss
    return GalleryRow(name, exhibit.explanation, epsilon, *losses, measured.flags)
