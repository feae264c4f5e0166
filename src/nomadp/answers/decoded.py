"""Decoded trajectories, one for each report, and the lengths of trajectories."""

from functools import partial
from typing import Any

import numpy as np

from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import LEVEL, Terms, estimate_facts, too_few_reports
from nomadp.answers.poisoning import report_share_poisoning
from nomadp.answers.significance import (
    adjusted_p_values,
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

TRAJECTORY_COLUMNS = ("tid", "seq", "location_id", "lat", "lng", "radius_km")
EXACT_FOR_TRAJECTORIES = (
    "exact for any share of these trajectories if the model stays fixed; refitting it may "
    "move a share further"
)
LENGTH_COLUMNS = (
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
    too_few = too_few_reports(
        "trajectories", mechanism, model.counts, terms, TRAJECTORY_COLUMNS
    )
    if too_few is not None:
        return too_few
    prior = None if model.bootstrap is None else model.bootstrap.prior
    decoders = Decoders(mechanism, prior, level)
    if reports is not None:
        columns = _report_columns(model, decoders, reports)
    else:  # counts have no ids of reports
        columns = _distinct_report_columns(model, decoders)
    facts = {
        "level": level,
        "prior_effect_std": prior and prior.effect_std,
        "poisoning_1pct": report_share_poisoning(EXACT_FOR_TRAJECTORIES),
    }
    about = estimate_facts("trajectories", model, terms, **facts)
    return Estimate("trajectories", columns, about)


def _report_columns(model: Model, decoders: Decoders, reports: AnyReports) -> dict[str, Any]:
    decoded = decoders.decode(reports)
    points = Sequences(reports.offsets, decoded.locations, reports.names)
    return {**point_rows(model, points), "radius_km": decoded.radius_km}


def _distinct_report_columns(model: Model, decoders: Decoders) -> dict[str, Any]:
    """One trajectory for each distinct report, named by the report's length and value."""
    offsets, locations, names = [0], [np.zeros(0, dtype=np.int64)], list[str]()
    radius_km, report_counts = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for length, values, counts in model.counts.by_length(model.mechanism):
        law = model.mechanism.report_law(length)
        if law is None or not law.whole:
            raise DomainError(
                "trajectories need the reports themselves, got counts of "
                f"{model.mechanism.name}, which do not say which points belong together",
                code="counts_of_points",
                mechanism=model.mechanism.name,
            )
        decoded = decoders.of_values(length, values, law)
        locations.append(decoded.locations.reshape(-1))
        radius_km.append(decoded.radius_km.reshape(-1))
        report_counts.append(np.repeat(counts, length))
        names += [f"{length}-{value}" for value in values.tolist()]
        offsets += (offsets[-1] + length * np.arange(1, len(values) + 1)).tolist()
    points = Sequences(np.array(offsets), np.concatenate(locations), tuple(names))
    columns = point_rows(model, points)
    columns["radius_km"] = np.concatenate(radius_km)
    columns["reports"] = np.concatenate(report_counts)
    return columns


def point_rows(model: Model, points: Sequences) -> dict[str, Any]:
    """One row for each point: trajectory, sequence number and location."""
    public = model.mechanism.locations
    degrees = {"lat": public.lat[points.locations], "lng": public.lng[points.locations]}
    return point_columns(points, public) | degrees


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
    too_few = too_few_reports("lengths", mechanism, model.counts, terms, LENGTH_COLUMNS)
    if too_few is not None:
        return too_few
    columns = _length_columns(model, level)
    facts = {
        "level": level,
        "significance": significance_counts(columns["significant"], level),
        "poisoning_1pct": report_share_poisoning("exact: an invalid report has one length"),
    }
    return Estimate("lengths", columns, estimate_facts("lengths", model, terms, **facts))


def _length_columns(model: Model, level: float) -> dict[str, Any]:
    reports_by_length = model.counts.lengths(model.mechanism)
    if len(reports_by_length) == 1:
        raise DomainError(
            "lengths need reports of several lengths, got only one: this task resamples every "
            "trajectory to the same length",
            code="single_length",
        )
    count = np.array(list(reports_by_length.values()), dtype=np.float64)
    total, share = count.sum(), count / count.sum()
    # Lengths are public, so the only error is that of sampling people.
    low, high = wilson_interval(share, total, level)
    baseline = np.full(len(share), 1 / len(share))
    interval = partial(wilson_interval, share, total)
    significant = significant_rows(baseline, interval, level)
    return {
        "length": np.array(list(reports_by_length), dtype=np.int64),
        "share": share,
        "std_error": np.sqrt(share * (1 - share) / total),
        "ci_low": low,
        "ci_high": high,
        "baseline": baseline,
        "p_value": adjusted_p_values(
            wilson_p_values(share, total, baseline), significant, level
        ),
        "significant": significant,
    }
