"""The fitted model of one mechanism's reports, which answers all queries.

A model file contains only numbers and text, and identifies the mechanism and the counts the
model was fitted to. It is refused with any others.
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
from nomadp.formats.archives import zip_entries
from nomadp.formats.atomic import write_atomically
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
"""The seed of the bootstrap, which resamples reports and nothing private. It is fixed so that
the same reports give the same model."""
_BYTES_MAX = 1 << 31


@dataclass(frozen=True, eq=False)
class Model:
    """A model fitted to the reports of one mechanism; it answers every query.

    `fit` returns it. ``counts`` are the counts of the reports, ``reports`` is their number, and
    ``bootstrap`` the fitted prior with its bootstrap samples (None for frequency oracles, whose
    counts are sufficient). ``write`` saves the model to a file, and ``read`` loads it.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.fit(brr, reports).write("model.npz")
    >>> nomadp.Model.read("model.npz", brr)
    Model(100 reports of brr at epsilon 8)
    """

    mechanism: Mechanism
    """The mechanism that made the reports."""
    counts: Counts = field(repr=False)
    """The counts of the reports."""
    bootstrap: BootstrapFit | None = field(repr=False)

    @property
    def reports(self) -> int:
        """The number of reports that the model was fitted to."""
        return self.counts.reports(self.mechanism)

    def __repr__(self) -> str:
        mechanism = f"{self.mechanism.name} at epsilon {self.mechanism.epsilon}"
        return f"Model({self.reports} reports of {mechanism})"

    def check_of(self, mechanism: Mechanism, counts: Counts | None = None) -> None:
        """Check that the model was fitted for this mechanism and, if given, these counts.

        Raises `DomainError` if it was not.
        """
        if self.mechanism.identity != mechanism.identity:
            raise DomainError(
                "the model must be of the mechanism that is queried, but is of "
                f"{self.mechanism.name} at epsilon {self.mechanism.epsilon} with other options "
                "or locations; fit it again",
                code="model_of_other_mechanism",
            )
        if counts is not None and counts.only(mechanism).sha256 != self.counts.sha256:
            raise DomainError(
                f"the model must be fitted to these reports, but was fitted to {self.reports} "
                "others; fit it again",
                code="model_of_other_reports",
                reports=self.reports,
            )

    def write(self, path: AnyPath) -> None:
        """Save the model to one file, completely or not at all."""
        content = io.BytesIO()
        np.savez_compressed(content, **_arrays(self))
        write_atomically({Path(path): lambda part: part.write_bytes(content.getvalue())})

    @classmethod
    def read(cls, path: AnyPath, mechanism: Mechanism, counts: Counts | None = None) -> "Model":
        """Load a model that `write` saved.

        Args:
            path: The file.
            mechanism: The mechanism that made the reports.
            counts: The counts that the model must have been fitted to; by default any.

        Returns:
            The model.

        Raises:
            DomainError: The model was fitted for another mechanism, to other counts, or by a
                version of nomadp with another file format.
            SchemaError: The file is not an intact model.
        """
        arrays = _read_arrays(Path(path))
        try:
            facts = json.loads(bytes(arrays["facts"]))
            if facts["format"] != FORMAT:
                raise DomainError(
                    f"{path} must be of format {FORMAT}, got another; fit the model again with "
                    "this version of nomadp",
                    code="unknown_model_format",
                )
            if facts["mechanism"] != mechanism.identity:
                raise DomainError(
                    f"{path} must be a model of {mechanism.name} at epsilon "
                    f"{mechanism.epsilon} with these locations and options, but is not; fit it "
                    "again",
                    code="model_of_other_mechanism",
                )
            # A model has its own counts, so that it can be queried without the reports.
            table = zip(*(arrays[name].tolist() for name in _CELLS), strict=True)
            law = mechanism.identity
            own = Counts({(law, length, value): count for length, value, count in table})
            bootstrap = (
                _read_bootstrap(mechanism, own, arrays, facts) if facts["priors"] else None
            )
        except (KeyError, ValueError, TypeError, IndexError) as error:
            if isinstance(error, DomainError):
                raise
            raise SchemaError(
                f"{path} must be a file that Model.write wrote, but is not", code="not_a_model"
            ) from None
        model = cls(mechanism, own, bootstrap)
        if own.sha256 != facts.get("counts_sha256"):
            raise SchemaError(
                f"{path} must be intact, but its counts do not match their hash",
                code="model_counts_differ",
            )
        model.check_of(mechanism, counts)
        return model


def mechanism_of(model: Model) -> Mechanism:
    """The mechanism of a model; refuses reports to which no model was fitted."""
    if not isinstance(model, Model):
        raise WrongType(
            "a query needs the model that fit(mechanism, reports) returns, got "
            f"{type(model).__name__}",
            code="model_required",
            type=type(model).__name__,
        )
    return model.mechanism


def fit(
    mechanism: Mechanism, counts: AnyReports | Counts, *, progress: Progress | None = None
) -> Model:
    """Fit a model to the reports of one mechanism. The model answers every query.

    Args:
        mechanism: The mechanism that made the reports.
        counts: The reports or their `Counts`. The time does not depend on their number.
        progress: Called after every fit.

    Returns:
        The `Model`.

    Raises:
        DomainError: There are no reports, or they do not contain everything that was released.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> visits = nomadp.make_mechanism("visits", city.locations, epsilon=4, zones="grid:3")
    >>> reports = nomadp.perturb_set(visits, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.fit(visits, reports)
    Model(100 reports of visits at epsilon 4)
    """
    own = counts_of(mechanism, counts)
    if not own.reports(mechanism):
        raise DomainError(
            "there must be at least one report to fit a model to, got none", code="no_reports"
        )
    if mechanism.is_oracle:
        return Model(mechanism, own, None)
    rng = np.random.default_rng(SEED)
    groups = groups_from(mechanism, own)
    bootstrap = bootstrap_fit(mechanism.locations, groups, rng, progress)
    return Model(mechanism, own, bootstrap)


_CELLS = ("length", "value", "count")


def _arrays(model: Model) -> dict[str, Any]:
    # The names of arrays and facts belong to `FORMAT`: other names need a new format.
    rows = sorted((*cell[1:], count) for cell, count in model.counts.cells.items())
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    arrays: dict[str, Any] = dict(zip(_CELLS, columns, strict=True))
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
            {"settled": fit.converged, "spread": fit.effect_std, "history": fit.history}
            for fit in priors
        ]
        arrays["scores"] = np.stack([fit.scores for fit in priors])
        resampled = [[group.counts for group in groups] for groups, _ in bootstrap.resamples]
        arrays["again"] = np.stack([np.concatenate(counts) for counts in resampled])
    arrays["facts"] = np.frombuffer(json.dumps(facts, sort_keys=True).encode(), np.uint8)
    return arrays


def _read_bootstrap(
    mechanism: Mechanism, counts: Counts, arrays: Mapping[str, Any], facts: Mapping[str, Any]
) -> BootstrapFit:
    features = Features(mechanism.locations)
    groups = tuple(groups_from(mechanism, counts))
    scores, resampled = arrays["scores"].astype(float), arrays["again"].astype(float)
    if scores.shape != (len(facts["priors"]), len(features)):
        raise InvalidArgument(
            "a prior must have a score for each feature", code="array_sizes_differ"
        )
    prior, baseline_prior, *priors = (
        Prior(features, row, tuple(fit["history"]), fit["settled"], fit["spread"])
        for row, fit in zip(scores, facts["priors"], strict=True)
    )
    sizes = np.cumsum([len(group.counts) for group in groups])
    resamples = []
    for row, sample_prior in zip(resampled, priors, strict=True):
        if len(row) != sizes[-1]:
            raise InvalidArgument(
                "a resample must have a count for each report", code="array_sizes_differ"
            )
        parts = zip(groups, np.split(row, sizes[:-1]), strict=True)
        sample = tuple(Group(group.evidence, counts) for group, counts in parts)
        resamples.append((sample, sample_prior))
    independent = bool(facts["anywhere"])
    return BootstrapFit(
        mechanism.locations, groups, prior, baseline_prior, independent, tuple(resamples)
    )


def _read_arrays(path: Path) -> dict[str, Any]:
    code, reason = "not_a_model", "is damaged or not one"
    try:
        size = path.stat().st_size
        if size <= _BYTES_MAX:
            zip_entries(path)  # refuses archives that expand too much
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
