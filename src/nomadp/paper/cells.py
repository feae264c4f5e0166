"""The pieces of work of an experiment, each with an identity that fixes its numbers.

A cell is one perturbation of one data set, scored in every way at once, as reported or
decoded; experiments that need the same cell share it. The identity names what the numbers
follow from, down to the hash of the data; the seed is made of it, so nothing depends on
order, cores or interruption.
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
from nomadp.reports.rows import RawReports, concatenate
from nomadp.reports.table import AnyReports, reports_as
from nomadp.sequences import Sequences

__all__ = ["Audit", "Cell", "Floors", "Options", "Setting", "Work"]

Options = tuple[tuple[str, Any], ...]
"""What a mechanism is told beyond epsilon, as pairs so that it can be compared."""

SEED_BITS = 48
"""Few enough for any reader of JSON to hold it exactly."""
DECODED = {"estimate": "decoded with a flat prior", "decoder_version": 1}
"""What the identity of a decoded cell has beyond that of its reports.

The version must rise whenever `nomadp.inference` gives other estimates of the same reports.
"""
TOGETHER = 5
"""Repetitions decoded at once, which takes hardly longer than one.

Always the same ones, asked for or not: rounding may decide between two equally good answers,
and must not depend on which cells an interrupted run had left to do.
"""
LEVEL = 0.9
"""Of the radii that come with an estimate; no score looks at them."""


@dataclass(frozen=True)
class Setting:
    """A mechanism at one epsilon on one data set: what is repeated."""

    dataset: SetKey
    mechanism: str
    options: Options
    epsilon: str
    decoded: bool = False
    """Scored is the Bayes estimate from the report, not the report as it is."""

    @property
    def reports(self) -> "Setting":
        """The setting whose reports are scored here: with its seed, so they are the same."""
        return replace(self, decoded=False)

    def law(self, catalogue: Catalogue) -> dict[str, Any]:
        """What the reports follow from, except the repetition."""
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


@lru_cache(maxsize=4)  # the repetitions of a setting follow one another
def _build(catalogue: Catalogue, setting: Setting) -> Mechanism:
    locations = load(catalogue, setting.dataset).locations
    options = dict(setting.options)
    return make_mechanism(setting.mechanism, locations, setting.epsilon, **options)


@lru_cache(maxsize=TOGETHER)  # scored as they are, and decoded
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
            **self.setting.law(catalogue),
            "repetition": self.repetition,
            "seed": self.seed(catalogue),
            "yardstick": asdict(load(catalogue, self.setting.dataset).yardstick),
            "nomadp": nomadp.__version__,
            **(DECODED if self.setting.decoded else {}),
        }

    def seed(self, catalogue: Catalogue) -> int:
        facts = self.setting.law(catalogue) | {"repetition": self.repetition}
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).digest()
        return int.from_bytes(digest, "big") >> (8 * len(digest) - SEED_BITS)

    def compute(self, catalogue: Catalogue) -> dict[str, Any]:
        data = load(catalogue, self.setting.dataset)
        answers = self._answers(catalogue)
        return measure_all(data.locations, data.trajectories, answers, data.yardstick)

    def _answers(self, catalogue: Catalogue) -> Sequences:
        if not self.setting.decoded:
            return _reported(catalogue, self)
        several, which = divmod(self.repetition, TOGETHER)
        return _decoded(catalogue, self.setting.reports, several)[which]


@lru_cache(maxsize=1)
def _decoded(catalogue: Catalogue, reports: Setting, several: int) -> list[Sequences]:
    """Estimates from the reports of some repetitions, one after another."""
    first = several * TOGETHER
    drawn = [_reported(catalogue, Cell(reports, first + k)) for k in range(TOGETHER)]
    raw = concatenate([RawReports(one, one.numbers, None, {}) for one in drawn])
    header, locations = drawn[0].header, drawn[0].location_set
    every = reports_as(header, locations, raw.sequences, numbers=raw.numbers)
    estimate = Decoders(_build(catalogue, reports), None, LEVEL).decode(every)
    return [
        Sequences(one.offsets, locations, one.names)
        for one, locations in zip(drawn, np.split(estimate.locations, TOGETHER), strict=True)
    ]


@dataclass(frozen=True)
class Floors:
    """What answers without information score on a data set."""

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
    """The exact loss of a mechanism on the auditor's small maps, whatever the data."""

    kind: ClassVar[str] = "audits"
    mechanism: str
    epsilon: str
    length: int

    def identity(self, catalogue: Catalogue) -> dict[str, Any]:
        version = kind_of(self.mechanism).version
        return {**asdict(self), "mechanism_version": version, "nomadp": nomadp.__version__}

    def compute(self, catalogue: Catalogue) -> dict[str, Any]:
        from nomadp.audit import AuditRequest, run_audit  # a second that few workers need

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


Work = Cell | Floors | Audit
