"""Single journeys, as near to the truth as reports allow, and of how many points they are."""

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
    "exact, of any share of these journeys, with what was learned held fixed; learning again "
    "may move it further"
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
    """The location with the smallest expected error for every point of every report.

    ``model`` is the result of `fit`: all ``reports`` together say what is likely. Equal
    reports have equal answers; without reports there is one for each distinct one that was
    counted, named by its length and value, and ``reports`` says how many made it. The truth
    lies within ``radius_km`` with probability ``level``; ``terms`` are as in `hotspots`. Raises
    `DomainError` for reports that are of no journeys.

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
    few = missing("trajectories", mechanism, model.counts, terms, TRAJECTORIES)
    if few is not None:
        return few
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
    """The journey of every distinct report."""
    offsets, places, names = [0], [np.zeros(0, dtype=np.int64)], list[str]()
    radius_km, often = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for length, values, counts in model.counts.by_length(model.mechanism):
        law = model.mechanism.report_law(length)
        if law is None or not law.whole:
            raise DomainError(
                "counts of single points do not tell which belong to one journey, and those of "
                f"{model.mechanism.name} are; give the reports themselves",
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
    """One row to a point: whose, the how-maniest, and where."""
    world = model.mechanism.locations
    where = {"lat": world.lat[rows.locations], "lng": world.lng[rows.locations]}
    return point_columns(rows, world) | where


def lengths(
    model: Model,
    *,
    level: float = LEVEL,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """The share of journeys of each number of points, which reports tell in the open.

    ``model`` is the result of `fit`. Among those who reported the shares are exact;
    ``std_error``, ``ci_low`` and ``ci_high`` hold for everybody, if those who reported are a
    random sample, with probability ``level``. Flat is every length that came in as likely
    as the others; ``terms`` are as in `hotspots`. Raises `DomainError` where a report tells of
    no length, or all are of one.

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
            f"a direct question tells of no length, and these reports are of {mechanism.name}; "
            "ask reports of journeys",
            code="frequency_oracle_unsupported",
            mechanism=mechanism.name,
        )
    few = missing("lengths", mechanism, model.counts, terms, LENGTHS)
    if few is not None:
        return few
    columns = _length_columns(model, level)
    said = {
        "level": level,
        "significance": significance_counts(columns["significant"], level),
        "poisoning_1pct": part_poisoning("exact: a fake has one length"),
    }
    return Estimate("lengths", columns, about("lengths", model, terms, **said))


def _length_columns(model: Model, level: float) -> dict[str, Any]:
    found = model.counts.lengths(model.mechanism)
    if len(found) == 1:
        raise DomainError(
            "lengths are told by reports of several, and all of these have one: a task of one "
            "length hides that of every journey",
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
