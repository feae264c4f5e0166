"""Synthetic trajectories, drawn from a fitted model: for tools that need trajectories."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.answers.areas import LOCATIONS, areas_of
from nomadp.answers.decoded import point_rows
from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import Terms, about, missing
from nomadp.answers.flow import flow_poisoning
from nomadp.answers.place import place_poisoning
from nomadp.errors import DomainError, InvalidArgument
from nomadp.inference.hotspots import flow_shares, location_shares, visit_shares
from nomadp.inference.model import Model, mechanism_of
from nomadp.inference.shares import effective_prior
from nomadp.laws import Ints
from nomadp.mechanisms.atlas.long import interpolated
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.sequences import Sequences, joined

__all__ = ["MOST", "moment", "synthesize"]

COLUMNS = ("uid", "tid", "seq", "location_id", "lat", "lng")
MOST = 1_000_000
STEP = timedelta(minutes=1)
"""Between two points with artificial times, which only show their order."""
YEARS = range(1970, 2200)
"""The years that our own readers accept."""


def synthesize(
    model: Model,
    count: int = 1000,
    *,
    seed: int = 0,
    start: str | None = None,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """``count`` synthetic trajectories, drawn from the fitted model. None is a real one.

    ``model`` is the result of `fit`. Locations are drawn with the shares of `hotspots`, with
    the same shrinkage; the trips of a frequency oracle are drawn between its zones. Equal
    seeds draw equal trajectories. With ``start`` (ISO 8601), points get artificial times, one
    minute apart, for tools that need them. ``terms`` are those of `hotspots`. Raises
    `DomainError` for reports that do not contain whole trajectories or trips.

    >>> import nomadp
    >>> places = nomadp.synthetic_city(seed=1, places=50, trips=1).locations
    >>> people = nomadp.TrajectorySet.from_lists([[0, 5], [3, 7]] * 20, size=50)
    >>> trips = nomadp.make_mechanism("trips", places, epsilon=8, zones="grid:2")
    >>> reports = nomadp.perturb_set(trips, people, nomadp.SeededRandom(1))
    >>> table = nomadp.synthesize(nomadp.fit(trips, reports), 5)
    >>> len(table), table.about["synthetic"]
    (10, True)
    """
    _check_count(count)
    begin = None if start is None else moment(start)
    mechanism = mechanism_of(model)
    too_few = missing("synthetic", mechanism, model.counts, terms, COLUMNS)
    if too_few is not None:
        return too_few
    columns = _columns(model, count, np.random.default_rng(seed), begin)
    said: dict[str, Any] = {"synthetic": True, "seed": seed, "count": count}
    said["poisoning_1pct"] = _poisoning(model)
    return Estimate("synthetic", columns, about("synthesize", model, terms, **said))


def _check_count(count: int) -> None:
    if not 1 <= count <= MOST:
        raise DomainError(
            f"count must be from 1 to {MOST}, got {count}",
            code="trajectory_count_out_of_range",
            count=count,
            most=MOST,
        )


def _columns(
    model: Model, count: int, rng: Generator, begin: datetime | None
) -> dict[str, Any]:
    """Drawn from the fitted model alone: no report is read again."""
    draw = _trips if model.mechanism.is_oracle else _trajectories
    names = tuple(f"synthetic-{k}" for k in range(count))
    rows = Sequences(*joined(draw(model, count, rng)), names)
    points = point_rows(model, rows)
    columns = {"uid": list(points["tid"]), **points}
    if begin is not None:
        moments = [begin + seq * STEP for seq in rows.seq.tolist()]
        columns["datetime"] = [f"{each:%Y-%m-%dT%H:%M:%S}Z" for each in moments]
    return columns


def _poisoning(model: Model) -> dict[str, Any]:
    """Poisoning of the shares that are drawn from: of trips, or of visits at locations."""
    mechanism = model.mechanism
    if isinstance(mechanism, FrequencyOracle):
        return flow_poisoning(model, mechanism.partition, flow_shares(model))
    areas = areas_of(mechanism, None, LOCATIONS)
    return place_poisoning(model, areas, None, visit_shares(model, None, None))


def _trips(model: Model, count: int, rng: Generator) -> list[Ints]:
    """Trips between two locations, uniform within the zones of each trip."""
    question = model.mechanism
    shares = flow_shares(model).values  # refused for oracles of single zones
    if not isinstance(question, FrequencyOracle):
        raise InvalidArgument("the mechanism must be a frequency oracle", code="query_required")
    pair = rng.choice(len(shares), count, p=shares / shares.sum())
    order = np.argsort(question.partition.of, kind="stable")
    held = np.bincount(question.partition.of)
    first = np.cumsum(held) - held
    zones = np.stack(np.divmod(pair, len(question.partition)), axis=1)
    return list(order[first[zones] + rng.integers(0, held[zones])])


def _trajectories(model: Model, count: int, rng: Generator) -> list[Ints]:
    """Trajectories of the reported lengths, from the posterior of all reports."""
    mechanism, bootstrap = model.mechanism, model.bootstrap
    found = model.counts.lengths(mechanism)
    law: Any = mechanism.report_law(next(iter(found)))
    if bootstrap is None or not law.whole:
        raise DomainError(
            "synthetic trajectories need reports of whole trajectories, got those of "
            f"{mechanism.name}, which are of single points; use atlas or trips",
            code="reports_of_points",
            mechanism=mechanism.name,
        )
    kept = location_shares(bootstrap).shrinkage_weight
    groups = {group.evidence.support.shape[1]: group for group in bootstrap.groups}
    share = np.array(list(found.values()), dtype=np.float64)
    drawn: list[Ints] = []
    for length, some in zip(found, rng.multinomial(count, share / share.sum()), strict=True):
        law = mechanism.report_law(length)
        group = groups[law.n_control_points or length]
        support = group.evidence.support
        told = group.evidence.expected_counts(
            effective_prior(bootstrap.prior, bootstrap.baseline_prior, group), group.counts
        )
        alike = bootstrap.baseline_prior.weights(support)
        weights = kept * told / told.sum() + (1 - kept) * alike
        rows = support[rng.choice(len(support), some, p=weights / weights.sum())]
        if some:
            drawn += list(interpolated(mechanism.locations, rows.T, length).T)
    return [drawn[k] for k in rng.permutation(len(drawn)).tolist()]


def moment(text: str) -> datetime:
    """The first artificial time; `DomainError` if ``text`` is not a time."""
    try:
        found = datetime.fromisoformat(text)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        found = None
    if found is None or found.year not in YEARS:
        raise DomainError(
            "start must be a time in ISO 8601 of the years 1970 to 2199, such as "
            "2026-01-01T08:00:00Z",
            code="invalid_start_time",
        )
    return found
