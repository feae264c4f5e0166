"""The units of work of an experiment, each with an identity that determines its numbers.

A cell is one perturbation of one data set, with all scores of its reports or of the decoded
points; experiments that need the same cell share it. The identity contains everything that the
numbers depend on, down to the hash of the data, and the seed is a hash of it. So the numbers do
not depend on the order of work, the number of cores, or interruptions.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

import nomadp
from nomadp.analysis.measures import measure_all, zero_information
from nomadp.budget import as_epsilon
from nomadp.engine.local import perturb_set
from nomadp.inference.decode import Decoders
from nomadp.mechanisms import PUBLISHED, Mechanism, kind_of, make_mechanism
from nomadp.paper.datasets import Catalogue, SetKey, load
from nomadp.randomness import SeededRandom
from nomadp.reports.raw_reports import RawReports, concatenate
from nomadp.reports.table import AnyReports, reports_as
from nomadp.sequences import Sequences

__all__ = ["Audit", "Cell", "Baselines", "Options", "Setting", "Work"]

Options = tuple[tuple[str, Any], ...]
"""Options of a mechanism beside epsilon, as pairs, which can be hashed."""

SEED_BITS = 48
"""Every JSON reader represents integers below 2^53 exactly."""
DECODED = {"estimate": "decoded with a flat prior", "decoder_version": 1}
"""The part of a decoded cell's identity that its reports do not have.

Increment the version whenever `nomadp.inference` changes its estimates for the same reports.
"""
DECODED_AT_ONCE = 5
"""Repetitions that are decoded together, which takes hardly longer than decoding one.

The groups are fixed, even if only one of their cells is missing: rounding may decide between
two equally good estimates, and must not depend on what an interrupted run had finished.
"""
LEVEL = 0.9
"""The level of the credible radii of an estimate, which no score uses."""


@dataclass(frozen=True)
class Setting:
    """A mechanism at one epsilon on one data set, which repetitions share."""

    dataset: SetKey
    mechanism: str
    options: Options
    epsilon: str
    decoded: bool = False
    """Whether the scores are of the Bayes estimate from each report instead of the report."""

    @property
    def reports(self) -> "Setting":
        """The setting that draws the reports; decoding uses the same seed and reports."""
        return replace(self, decoded=False)

    def identity(self, catalogue: Catalogue) -> dict[str, Any]:
        """Everything that the reports depend on, except the repetition."""
        return {
            "dataset": str(self.dataset),
            "dataset_sha256": load(catalogue, self.dataset).sha256,
            "mechanism": self.mechanism,
            "mechanism_version": kind_of(self.mechanism).version,
            "options": dict(self.options),
            "epsilon": self.epsilon,
        }

    def build(self, catalogue: Catalogue) -> Mechanism:
        return _build(catalogue, self.reports)


@lru_cache(maxsize=4)  # the repetitions of a setting are computed one after another
def _build(catalogue: Catalogue, setting: Setting) -> Mechanism:
    locations = load(catalogue, setting.dataset).locations
    options = dict(setting.options)
    return make_mechanism(setting.mechanism, locations, setting.epsilon, **options)


@lru_cache(maxsize=DECODED_AT_ONCE)  # the same reports are scored, and then decoded
def _reported(catalogue: Catalogue, reports: "Cell") -> AnyReports:
    randomness = SeededRandom(reports.seed(catalogue))
    trajectories = load(catalogue, reports.setting.dataset).trajectories
    mechanism = reports.setting.build(catalogue)
    return perturb_set(mechanism, trajectories, randomness, keep_tids=True)


@dataclass(frozen=True)
class Cell:
    """One repetition of a setting, and all its scores."""

    kind: ClassVar[str] = "cells"
    setting: Setting
    repetition: int

    def identity(self, catalogue: Catalogue) -> dict[str, Any]:
        return {
            **self.setting.identity(catalogue),
            "repetition": self.repetition,
            "seed": self.seed(catalogue),
            "yardstick": asdict(load(catalogue, self.setting.dataset).yardstick),
            "nomadp": nomadp.__version__,
            **(DECODED if self.setting.decoded else {}),
        }

    def seed(self, catalogue: Catalogue) -> int:
        # From what the reports depend on, and nothing else: decoding them, or a new version of
        # nomadp, must not change the seed.
        identity = self.setting.identity(catalogue) | {"repetition": self.repetition}
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).digest()
        return int.from_bytes(digest, "big") >> (8 * len(digest) - SEED_BITS)

    def compute(self, catalogue: Catalogue) -> dict[str, Any]:
        data = load(catalogue, self.setting.dataset)
        answers = self._answers(catalogue)
        return measure_all(data.locations, data.trajectories, answers, data.yardstick)

    def _answers(self, catalogue: Catalogue) -> Sequences:
        if not self.setting.decoded:
            return _reported(catalogue, self)
        group, position = divmod(self.repetition, DECODED_AT_ONCE)
        return _decoded(catalogue, self.setting.reports, group)[position]


@lru_cache(maxsize=1)
def _decoded(catalogue: Catalogue, setting: Setting, group: int) -> list[Sequences]:
    """The estimates for each repetition of one group, from their reports."""
    first = group * DECODED_AT_ONCE
    runs = [_reported(catalogue, Cell(setting, first + k)) for k in range(DECODED_AT_ONCE)]
    raw = concatenate([RawReports(reports, reports.numbers, None, {}) for reports in runs])
    header, locations = runs[0].header, runs[0].location_set
    together = reports_as(header, locations, raw.sequences, numbers=raw.numbers)
    estimate = Decoders(_build(catalogue, setting), None, LEVEL).decode(together)
    # All runs perturb the same trajectories, so they have equally many points.
    points = np.split(estimate.locations, DECODED_AT_ONCE)
    return [
        Sequences(reports.offsets, decoded, reports.names)
        for reports, decoded in zip(runs, points, strict=True)
    ]


@dataclass(frozen=True)
class Baselines:
    """The scores of the no-information baselines on a data set."""

    kind: ClassVar[str] = "floors"
    dataset: SetKey

    def identity(self, catalogue: Catalogue) -> dict[str, Any]:
        data = load(catalogue, self.dataset)
        yardstick = asdict(data.yardstick)
        return {**data.facts(), "yardstick": yardstick, "nomadp": nomadp.__version__}

    def compute(self, catalogue: Catalogue) -> dict[str, Any]:
        data = load(catalogue, self.dataset)
        return zero_information(data.locations, data.trajectories, data.yardstick)


@dataclass(frozen=True)
class Audit:
    """The exact loss of a mechanism on the auditor's small maps; no data set is involved."""

    kind: ClassVar[str] = "audits"
    mechanism: str
    epsilon: str
    length: int

    def identity(self, catalogue: Catalogue) -> dict[str, Any]:
        version = kind_of(self.mechanism).version
        return {**asdict(self), "mechanism_version": version, "nomadp": nomadp.__version__}

    def compute(self, catalogue: Catalogue) -> dict[str, Any]:
        from nomadp.audit import AuditRequest, run_audit  # takes a second; few workers need it

        as_published = self.mechanism in PUBLISHED
        request = AuditRequest(
            mechanisms=() if as_published else (self.mechanism,),
            published=(self.mechanism,) if as_published else (),
            epsilons=(as_epsilon(self.epsilon),),
            lengths=(self.length,),
            gallery=(),
            draws=0,
            path_draws=0,
        )
        (row,) = run_audit(request).rows
        return row.as_dict()


Work = Cell | Baselines | Audit
