"""Run an audit: the result has one row per mechanism, epsilon and length."""

import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from nomadp.audit.gallery import GALLERY
from nomadp.audit.loss import Measurement, measure, number, told
from nomadp.audit.paths import (
    FullSizeRow,
    PathRow,
    Sampling,
    check_full_size,
    large_path_rows,
    path_rows,
)
from nomadp.audit.plan import MORE, AuditRequest, Configuration, configurations, sampled
from nomadp.audit.sampler import SamplerRow, check_sampler, specimens
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
    """The worst case over all maps and granularities that were walked."""

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
        """Sound and claimed to be, or flagged as it must be."""
        return self.private == (not self.flags)

    def as_dict(self) -> dict[str, Any]:
        return {**told(self), "ok": self.ok}


@dataclass(frozen=True)
class GalleryRow:
    """One broken variant and the rules that caught it."""

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
        return {**told(self), "flagged": self.flagged}


@dataclass(frozen=True)
class AuditReport:
    """Everything an audit found; ``ok`` when all of it is as it must be."""

    rows: tuple[AuditRow, ...]
    gallery: tuple[GalleryRow, ...]
    sampler: tuple[SamplerRow, ...]
    paths: tuple[PathRow, ...] = ()
    full_size: tuple[FullSizeRow, ...] = ()
    seed: int | None = None
    """Of all that was sampled: with it, the same is drawn again."""

    @property
    def leak_missed(self) -> float | None:
        """The largest share of leaked reports that any path could have hidden; None: no path
        was compared or sampled."""
        seen = [row.leak_missed for row in self.paths if row.reports]
        return max(seen, default=None)

    @property
    def loss_missed(self) -> tuple[float, Fraction] | None:
        """The largest loss, beside its epsilon, that any path could have hidden."""
        seen = [
            (row.loss_missed, row.epsilon)
            for row in self.paths
            if row.loss_missed is not None and row.epsilon is not None
        ]
        return max(seen, key=lambda pair: pair[0] - pair[1], default=None)

    @property
    def unseen_paths(self) -> tuple[str, ...]:
        """The paths that were neither compared nor sampled."""
        unseen = (row for row in self.paths if row.seen.startswith("not seen"))
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
            "leak_missed": None if self.leak_missed is None else number(self.leak_missed),
            "loss_missed": None if loss is None else number(loss),
            "loss_missed_at": None if epsilon is None else str(epsilon),
            "seed": self.seed,
        }


def run_audit(request: AuditRequest, progress: Progress | None = None) -> AuditReport:
    """Walk everything the request names; raises nothing for a leak, the report tells."""
    exhibits = tuple(GALLERY) if request.gallery is None else request.gallery
    if unknown := [name for name in exhibits if name not in GALLERY]:
        raise DomainError(
            f"unknown variant {unknown[0]!r}; choose one of {', '.join(GALLERY)}",
            code="unknown_variant",
            variant=unknown[0],
        )
    todo = list(configurations(request))
    if request.draws:
        require("analysis")  # now, not after the walk
    channels = specimens() if request.draws else {}
    seed = secrets.randbits(32) if request.seed is None else request.seed
    seen = request.mechanisms if request.path_draws else ()
    total = len(todo) + len(exhibits) * len(request.epsilons) + len(channels) + len(seen)
    step = _Counter(total, progress)
    grouped: dict[tuple[str, Fraction, int], list[tuple[Configuration, Measurement]]] = {}
    for one in todo:
        key = (one.mechanism.name, one.mechanism.epsilon, one.length)
        grouped.setdefault(key, []).append((one, step(measure(one.mechanism, one.length))))
    gallery = [step(_exhibited(name, e)) for name in exhibits for e in request.epsilons]
    sampler = [
        step(check_sampler(name, channel, secret, request.draws, seed))
        for name, (channel, secret) in channels.items()
    ]
    paths = [row for name in seen for row in step(_paths(name, request, seed))]
    rows = tuple(_row(found) for found in grouped.values())
    full_size = tuple(_full_size(request))
    used = seed if sampler or any(row.reports for row in paths) else None
    return AuditReport(rows, tuple(gallery), tuple(sampler), tuple(paths), full_size, used)


def _paths(name: str, request: AuditRequest, seed: int) -> list[PathRow]:
    more = MORE if request.thorough else 1
    draws, compared = more * request.path_draws, more * request.path_compared
    sampling = Sampling(request.lengths, draws, compared, seed)
    rows = path_rows(sampled(name, request.epsilons, "random"), sampling)
    # On another map, because tables of this one are kept.
    large = sampling if request.thorough else replace(sampling, draws=0)
    return rows + large_path_rows(sampled(name, request.epsilons, "outlier"), large)


def _full_size(request: AuditRequest) -> Iterator[FullSizeRow]:
    if request.locations is None:
        return
    for name in request.mechanisms:
        for epsilon in request.epsilons:
            mechanism = make_mechanism(name, request.locations, epsilon)
            for length in request.lengths:
                yield check_full_size(mechanism, length)


@dataclass
class _Counter:
    """Passes a result on and tells how far things are."""

    total: int
    progress: Progress | None
    done: int = 0

    def __call__(self, result: T) -> T:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)
        return result


def _row(found: list[tuple[Configuration, Measurement]]) -> AuditRow:
    first = found[0][0]
    worst, _ = max(found, key=lambda pair: pair[1].transcript_loss)
    measurements = [measurement for _, measurement in found]
    return AuditRow(
        mechanism=first.mechanism.name,
        epsilon=first.mechanism.epsilon,
        length=first.length,
        configurations=len(found),
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


def _exhibited(name: str, epsilon: Fraction) -> GalleryRow:
    exhibit = GALLERY[name]
    found = measure(exhibit.build(epsilon), exhibit.length)
    return GalleryRow(
        name, exhibit.explanation, epsilon, found.transcript_loss, found.final_loss, found.flags
    )
