"""Decoded trajectories, one for each report, and the lengths of trajectories."""

from functools import partial
from typing import Any

import numpy as np

from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import LEVEL, Terms, about, missing
from nomadp.answers.poisoning import part_poisoning
from nomadp.answers.significance import (
    adjusted,
    significance_counts,
    significant_rows,
    wilson_interval,
    wilson_p_values,
)
from nomadp.errors import DomainError
from nomadp.formats.location_files import point_columns
from nomadp.inference.decode import Decoders
from nomadp.inference.estimate import check_level
from nomadp.inference.model import Model, mechanism_of
from nomadp.reports.counts import check_decodable
from nomadp.reports.table import AnyReports
from nomadp.sequences import Sequences

__all__ = ["trajectories", "lengths", "point_rows"]

TRAJECTORIES = ("tid", "seq", "location_id", "lat", "lng", "radius_km")
EACH = (
    "exact for any share of these trajectories if the model stays fixed; refitting it may "
    "move a share further"
)
LENGTHS = (
    "length",
    "share",
    "std_error",
    "ci_low",
    "ci_high",
    "baseline",
    "p_value",
    "significant",
)


def trajectories(
    model: Model,
    reports: AnyReports | None = None,
    *,
    level: float = LEVEL,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """The estimated trajectory of each report: points with the smallest expected error.

    ``model`` is the result of `fit`. Equal reports have equal estimates. Without ``reports``,
    there is one trajectory for each distinct report that was counted; its name is its length
    and value, and the column ``reports`` says how often it was sent. ``radius_km`` is a
    credible radius: it contains the true location with probability ``level``. ``terms`` are
    those of `hotspots`. Raises `DomainError` for reports of a frequency oracle.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> table = nomadp.trajectories(nomadp.fit(brr, reports), reports)
    >>> len(table) == len(reports.locations)
    True
    """
    check_level(level)
    mechanism = mechanism_of(model)
    check_decodable(mechanism)
    too_few = missing("trajectories", mechanism, model.counts, terms, TRAJECTORIES)
    if too_few is not None:
        return too_few
    prior = None if model.bootstrap is None else model.bootstrap.prior
    decoders = Decoders(mechanism, prior, level)
    if reports is not None:
        columns = _each(model, decoders, reports)
    else:  # named by their value: counts have no ids
        columns = _distinct(model, decoders)
    said = {
        "level": level,
        "prior_effect_std": prior and prior.effect_std,
        "poisoning_1pct": part_poisoning(EACH),
    }
    return Estimate("trajectories", columns, about("trajectories", model, terms, **said))


def _each(model: Model, decoders: Decoders, reports: AnyReports) -> dict[str, Any]:
    found = decoders.decode(reports)
    rows = Sequences(reports.offsets, found.locations, reports.names)
    return {**point_rows(model, rows), "radius_km": found.radius_km}


def _distinct(model: Model, decoders: Decoders) -> dict[str, Any]:
    """The trajectory of every distinct report."""
    offsets, places, names = [0], [np.zeros(0, dtype=np.int64)], list[str]()
    radius_km, often = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for length, values, counts in model.counts.by_length(model.mechanism):
        law = model.mechanism.report_law(length)
        if law is None or not law.whole:
            raise DomainError(
                "trajectories need the reports themselves, got counts of "
                f"{model.mechanism.name}, which do not say which points belong together",
                code="counts_of_points",
                mechanism=model.mechanism.name,
            )
        found = decoders.of_values(length, values, law)
        places.append(found.locations.reshape(-1))
        radius_km.append(found.radius_km.reshape(-1))
        often.append(np.repeat(counts, length))
        names += [f"{length}-{value}" for value in values.tolist()]
        offsets += (offsets[-1] + length * np.arange(1, len(values) + 1)).tolist()
    rows = Sequences(np.array(offsets), np.concatenate(places), tuple(names))
    columns = point_rows(model, rows)
    columns["radius_km"], columns["reports"] = np.concatenate(radius_km), np.concatenate(often)
    return columns


def point_rows(model: Model, rows: Sequences) -> dict[str, Any]:
    """One row for each point: trajectory, sequence number and location."""
    world = model.mechanism.locations
    where = {"lat": world.lat[rows.locations], "lng": world.lng[rows.locations]}
    return point_columns(rows, world) | where


def lengths(
    model: Model,
    *,
    level: float = LEVEL,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """The share of trajectories of each length, which is public in the reports.

    ``model`` is the result of `fit`. The shares are exact for those who reported.
    ``std_error`` and the confidence interval at ``level`` describe the whole population, if
    those who reported are a random sample of it. In the baseline all reported lengths are
    equally likely. ``terms`` are those of `hotspots`. Raises `DomainError` if reports contain
    no length, or if all have the same.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> f"{sum(nomadp.lengths(nomadp.fit(brr, reports))['share']):.3f}"
    '1.000'
    """
    check_level(level)
    mechanism = mechanism_of(model)
    if mechanism.is_oracle:
        raise DomainError(
            f"lengths need reports of trajectories, got reports of the frequency oracle "
            f"{mechanism.name}",
            code="frequency_oracle_unsupported",
            mechanism=mechanism.name,
        )
    too_few = missing("lengths", mechanism, model.counts, terms, LENGTHS)
    if too_few is not None:
        return too_few
    columns = _length_columns(model, level)
    said = {
        "level": level,
        "significance": significance_counts(columns["significant"], level),
        "poisoning_1pct": part_poisoning("exact: an invalid report has one length"),
    }
    return Estimate("lengths", columns, about("lengths", model, terms, **said))


def _length_columns(model: Model, level: float) -> dict[str, Any]:
    found = model.counts.lengths(model.mechanism)
    if len(found) == 1:
        raise DomainError(
            "lengths need reports of several lengths, got only one: this task resamples every "
            "trajectory to the same length",
            code="single_length",
        )
    count = np.array(list(found.values()), dtype=np.float64)
    total, share = count.sum(), count / count.sum()
    low, high = wilson_interval(share, total, level)
    baseline = np.full(len(share), 1 / len(share))
    interval = partial(wilson_interval, share, total)
    significant = significant_rows(baseline, interval, level)
    return {
        "length": np.array(list(found), dtype=np.int64),
        "share": share,
        "std_error": np.sqrt(share * (1 - share) / total),
        "ci_low": low,
        "ci_high": high,
        "baseline": baseline,
        "p_value": adjusted(wilson_p_values(share, total, baseline), significant, level),
        "significant": significant,
    }
