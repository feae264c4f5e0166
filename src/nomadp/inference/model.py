"""What reports tell, learned once and kept: every question is then asked of it.

A file of it holds numbers and text only, and says what it was learned from. It serves the
counts and the mechanism that it came from, and is refused with any others.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import nomadp
from nomadp.errors import DomainError, InvalidArgument, SchemaError, WrongType
from nomadp.formats.archives import inside
from nomadp.formats.atomic import written_whole
from nomadp.formats.measured_file import AnyPath
from nomadp.formats.unreadable import Unreadable
from nomadp.inference.decode import groups_from
from nomadp.inference.empirical_bayes import Group, Progress
from nomadp.inference.prior import Features, Prior
from nomadp.inference.shares import BootstrapFit, bootstrap_fit
from nomadp.mechanisms import Mechanism
from nomadp.reports.counts import Counts, counts_of
from nomadp.reports.table import AnyReports

__all__ = ["SEED", "Model", "fit", "mechanism_of"]

FORMAT = 2
SEED = 1
"""Of the bootstrap, which resamples public reports: the same reports tell the same."""
_BYTES_MAX = 1 << 31


@dataclass(frozen=True, eq=False)
class Model:
    """What the reports of one mechanism tell, for every question.

    `learn` makes it. ``counts`` are all that was looked at, ``reports`` how many there were,
    and ``bootstrap`` what was learned from journeys; a direct question has none, for its counts
    are the answer. ``write(path)`` keeps it and ``Model.read(path, mechanism)`` takes it up
    again; with counts, only if it was learned from those. Raises `DomainError` if not.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.fit(brr, reports).write("model.npz")
    >>> nomadp.Model.read("model.npz", brr)
    Model(100 reports of brr at epsilon 8)
    """

    mechanism: Mechanism
    counts: Counts = field(repr=False)
    bootstrap: BootstrapFit | None = field(repr=False)

    @property
    def reports(self) -> int:
        """How many reports it was learned from."""
        return self.counts.reports(self.mechanism)

    def __repr__(self) -> str:
        made = f"{self.mechanism.name} at epsilon {self.mechanism.epsilon}"
        return f"Model({self.reports} reports of {made})"

    def check_of(self, mechanism: Mechanism, counts: Counts | None = None) -> None:
        """Refuse another mechanism, or counts that it was not learned from."""
        if self.mechanism.identity != mechanism.identity:
            raise DomainError(
                "what was learned must be of the mechanism that is asked, and is of "
                f"{self.mechanism.name} at epsilon {self.mechanism.epsilon} with other options "
                "or locations; learn again",
                code="model_of_other_mechanism",
            )
        if counts is not None and counts.only(mechanism).sha256 != self.counts.sha256:
            raise DomainError(
                f"what was learned must be of these reports, and is of {self.reports} others; "
                "learn again",
                code="model_of_other_reports",
                reports=self.reports,
            )

    def write(self, path: AnyPath) -> None:
        """One file, whole or not at all."""
        content = io.BytesIO()
        np.savez_compressed(content, **_arrays(self))
        written_whole({Path(path): lambda part: part.write_bytes(content.getvalue())})

    @classmethod
    def read(cls, path: AnyPath, mechanism: Mechanism, counts: Counts | None = None) -> "Model":
        """What was kept, refused unless it is of this mechanism and, if given, these counts."""
        arrays = _loaded(Path(path))
        try:
            facts = json.loads(bytes(arrays["facts"]))
            if facts["format"] != FORMAT:
                raise DomainError(
                    f"{path} must be of format {FORMAT}, got another; learn again with this "
                    "nomadp",
                    code="unknown_model_format",
                )
            if facts["mechanism"] != mechanism.identity:
                raise DomainError(
                    f"{path} must have been learned from reports of {mechanism.name} at "
                    f"epsilon {mechanism.epsilon} over these locations, and was not; learn "
                    "again",
                    code="model_of_other_mechanism",
                )
            table = zip(*(arrays[name].tolist() for name in _CELLS), strict=True)
            law = mechanism.identity
            own = Counts({(law, length, value): count for length, value, count in table})
            bootstrap = _survey(mechanism, own, arrays, facts) if facts["priors"] else None
        except (KeyError, ValueError, TypeError, IndexError) as error:
            if isinstance(error, DomainError):
                raise
            raise SchemaError(
                f"{path} must be what Model.write wrote, and is not", code="not_a_model"
            ) from None
        found = cls(mechanism, own, bootstrap)
        if own.sha256 != facts.get("counts_sha256"):
            raise SchemaError(
                f"{path} must be whole, and its counts are others than it says",
                code="model_counts_differ",
            )
        found.check_of(mechanism, counts)
        return found


def mechanism_of(model: Model) -> Mechanism:
    """That of what was learned; reports that nobody learned from yet are refused."""
    if not isinstance(model, Model):
        raise WrongType(
            "a question must be asked of what fit(mechanism, reports) gives, got "
            f"{type(model).__name__}",
            code="model_required",
            type=type(model).__name__,
        )
    return model.mechanism


def fit(
    mechanism: Mechanism, counts: AnyReports | Counts, *, progress: Progress | None = None
) -> Model:
    """What ``counts``, or reports, of ``mechanism`` tell, once for all questions.

    How long it takes does not depend on how many reports were counted. ``progress`` is told of
    every piece of learning that is done. Raises `DomainError` for mechanisms whose reports do
    not tell what was released, and where there is no report.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> visits = nomadp.make_mechanism("visits", city.locations, epsilon=4, zones="grid:3")
    >>> reports = nomadp.perturb_set(visits, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.fit(visits, reports)
    Model(100 reports of visits at epsilon 4)
    """
    found = counts_of(mechanism, counts)
    if not found.reports(mechanism):
        raise DomainError(
            "there must be at least one report to learn from, got none", code="no_reports"
        )
    if mechanism.is_oracle:
        return Model(mechanism, found, None)
    rng = np.random.default_rng(SEED)
    groups = groups_from(mechanism, found)
    bootstrap = bootstrap_fit(mechanism.locations, groups, rng, progress)
    return Model(mechanism, found, bootstrap)


_CELLS = ("length", "value", "count")


def _arrays(model: Model) -> dict[str, Any]:
    rows = sorted((*cell[1:], count) for cell, count in model.counts.cells.items())
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found: dict[str, Any] = dict(zip(_CELLS, columns, strict=True))
    facts = {
        "format": FORMAT,
        "nomadp_version": nomadp.__version__,
        "mechanism": model.mechanism.identity,
        "counts_sha256": model.counts.sha256,
        "priors": [],
    }
    bootstrap = model.bootstrap
    if bootstrap is not None:
        facts["anywhere"] = bootstrap.points_independent
        priors = [
            bootstrap.prior,
            bootstrap.baseline_prior,
            *(prior for _, prior in bootstrap.resamples),
        ]
        facts["priors"] = [
            {"settled": each.converged, "spread": each.effect_std, "history": each.history}
            for each in priors
        ]
        found["scores"] = np.stack([each.scores for each in priors])
        again = [[group.counts for group in groups] for groups, _ in bootstrap.resamples]
        found["again"] = np.stack([np.concatenate(each) for each in again])
    found["facts"] = np.frombuffer(json.dumps(facts, sort_keys=True).encode(), np.uint8)
    return found


def _survey(
    mechanism: Mechanism, counts: Counts, arrays: Mapping[str, Any], facts: Mapping[str, Any]
) -> BootstrapFit:
    features = Features(mechanism.locations)
    groups = tuple(groups_from(mechanism, counts))
    scores, counted = arrays["scores"].astype(float), arrays["again"].astype(float)
    if scores.shape != (len(facts["priors"]), len(features)):
        raise InvalidArgument("a score for each feature", code="array_sizes_differ")
    prior, alike, *others = (
        Prior(features, row, tuple(said["history"]), said["settled"], said["spread"])
        for row, said in zip(scores, facts["priors"], strict=True)
    )
    sizes = np.cumsum([len(group.counts) for group in groups])
    again = []
    for row, other in zip(counted, others, strict=True):
        if len(row) != sizes[-1]:
            raise InvalidArgument("a count for each report", code="array_sizes_differ")
        parts = zip(groups, np.split(row, sizes[:-1]), strict=True)
        again.append((tuple(Group(group.evidence, some) for group, some in parts), other))
    anywhere = bool(facts["anywhere"])
    return BootstrapFit(mechanism.locations, groups, prior, alike, anywhere, tuple(again))


def _loaded(path: Path) -> dict[str, Any]:
    code, reason = "not_a_model", "is damaged or not one"
    try:
        size = path.stat().st_size
        if size <= _BYTES_MAX:
            inside(path)  # refuses what would unpack beyond measure
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
    except Unreadable as refusal:
        if refusal.reason == "bomb":
            raise
    except OSError as error:
        if error.strerror:
            code, reason = "file_unreadable", error.strerror
    except (ValueError, zipfile.BadZipFile, EOFError, AttributeError):
        pass
    else:
        raise SchemaError(
            f"{path} must be smaller than {_BYTES_MAX} bytes",
            code="model_too_large",
            most=_BYTES_MAX,
        )
    raise SchemaError(f"{path} must be a file that Model.write wrote, and {reason}", code=code)
