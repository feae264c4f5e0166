"""Synthetic trajectories, drawn from a fitted model: for tools that need trajectories."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.answers.areas import LOCATIONS, resolve_areas
from nomadp.answers.decoded import point_rows
from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import Terms, estimate_facts, too_few_reports
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

__all__ = ["MAX_TRAJECTORIES", "parse_start_time", "synthesize"]

COLUMNS = ("uid", "tid", "seq", "location_id", "lat", "lng")
MAX_TRAJECTORIES = 1_000_000
STEP = timedelta(minutes=1)
"""The interval between artificial times. These only show the order of points."""
YEARS = range(1970, 2200)
"""The years that NomaDP's readers accept."""


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
    start_time = None if start is None else parse_start_time(start)
    mechanism = mechanism_of(model)
    too_few = too_few_reports("synthetic", mechanism, model.counts, terms, COLUMNS)
    if too_few is not None:
        return too_few
    columns = _columns(model, count, np.random.default_rng(seed), start_time)
    facts: dict[str, Any] = {"synthetic": True, "seed": seed, "count": count}
    facts["poisoning_1pct"] = _poisoning(model)
    return Estimate("synthetic", columns, estimate_facts("synthesize", model, terms, **facts))


def _check_count(count: int) -> None:
    if not 1 <= count <= MAX_TRAJECTORIES:
        raise DomainError(
            f"count must be from 1 to {MAX_TRAJECTORIES}, got {count}",
            code="trajectory_count_out_of_range",
            count=count,
            most=MAX_TRAJECTORIES,
        )


def _columns(
    model: Model, count: int, rng: Generator, start_time: datetime | None
) -> dict[str, Any]:
    """The rows of ``count`` trajectories or trips, drawn from the fitted model alone."""
    draw = _trips if model.mechanism.is_oracle else _trajectories
    names = tuple(f"synthetic-{k}" for k in range(count))
    points = Sequences(*joined(draw(model, count, rng)), names)
    columns = point_rows(model, points)
    columns = {"uid": list(columns["tid"]), **columns}
    if start_time is not None:
        times = [start_time + seq * STEP for seq in points.seq.tolist()]
        columns["datetime"] = [f"{time:%Y-%m-%dT%H:%M:%S}Z" for time in times]
    return columns


def _poisoning(model: Model) -> dict[str, Any]:
    """Poisoning of the shares that trajectories are drawn from: of trips or of visits."""
    mechanism = model.mechanism
    if isinstance(mechanism, FrequencyOracle):
        return flow_poisoning(model, mechanism.partition, flow_shares(model))
    areas = resolve_areas(mechanism, None, LOCATIONS)
    return place_poisoning(model, areas, None, visit_shares(model, None, None))


def _trips(model: Model, count: int, rng: Generator) -> list[Ints]:
    """Trips between two locations, uniform within the zones of each trip."""
    oracle = model.mechanism
    shares = flow_shares(model).values  # refused for oracles of single zones
    if not isinstance(oracle, FrequencyOracle):
        raise InvalidArgument("the mechanism must be a frequency oracle", code="query_required")
    pair = rng.choice(len(shares), count, p=shares / shares.sum())
    # Locations sorted by zone: zone z has those at first[z], ..., first[z] + zone_size[z] - 1.
    order = np.argsort(oracle.partition.of, kind="stable")
    zone_size = np.bincount(oracle.partition.of)
    first = np.cumsum(zone_size) - zone_size
    zones = np.stack(np.divmod(pair, len(oracle.partition)), axis=1)  # (count, 2)
    return list(order[first[zones] + rng.integers(0, zone_size[zones])])


def _trajectories(model: Model, count: int, rng: Generator) -> list[Ints]:
    """Trajectories of the reported lengths, from the posterior of all reports."""
    mechanism, bootstrap = model.mechanism, model.bootstrap
    reports_by_length = model.counts.lengths(mechanism)
    law: Any = mechanism.report_law(next(iter(reports_by_length)))
    if bootstrap is None or not law.whole:
        raise DomainError(
            "synthetic trajectories need reports of whole trajectories, got those of "
            f"{mechanism.name}, which are of single points; use atlas or trips",
            code="reports_of_points",
            mechanism=mechanism.name,
        )
    shrinkage_weight = location_shares(bootstrap).shrinkage_weight
    groups = {group.evidence.support.shape[1]: group for group in bootstrap.groups}
    n_reports = np.array(list(reports_by_length.values()), dtype=np.float64)
    n_drawn = rng.multinomial(count, n_reports / n_reports.sum())
    drawn: list[Ints] = []
    for length, number in zip(reports_by_length, n_drawn, strict=True):
        law = mechanism.report_law(length)
        group = groups[law.seen or length]
        support = group.evidence.support
        expected = group.evidence.expected_counts(
            effective_prior(bootstrap.prior, bootstrap.baseline_prior, group), group.counts
        )
        # Shrunk towards the baseline like the shares of `hotspots`.
        baseline = bootstrap.baseline_prior.weights(support)
        weights = shrinkage_weight * expected / expected.sum()
        weights += (1 - shrinkage_weight) * baseline
        codewords = support[rng.choice(len(support), number, p=weights / weights.sum())]
        if number:
            drawn += list(interpolated(mechanism.locations, codewords.T, length).T)
    # Shuffled, so that lengths do not follow from the order.
    return [drawn[k] for k in rng.permutation(len(drawn)).tolist()]


def parse_start_time(text: str) -> datetime:
    """The first artificial time; `DomainError` if ``text`` is not a time."""
    try:
        time = datetime.fromisoformat(text)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        time = None
    if time is None or time.year not in YEARS:
        raise DomainError(
            "start must be a time in ISO 8601 of the years 1970 to 2199, such as "
            "2026-01-01T08:00:00Z",
            code="invalid_start_time",
        )
    return time
