"""The share of visits at each location or in each area: hotspots and density."""

from typing import Any, NamedTuple

import numpy as np

from nomadp.answers.areas import LOCATIONS, Areas, resolve_areas
from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import LEVEL, Terms, estimate_facts, too_few_reports
from nomadp.answers.geometry import ALL_TIMES
from nomadp.answers.poisoning import fit_poisoning, oracle_poisoning
from nomadp.answers.shapes import shapes_of
from nomadp.answers.share_columns import ShareColumns, reason_without_intervals
from nomadp.errors import DomainError
from nomadp.formats.zone_files import GeoObject
from nomadp.inference.estimate import check_level
from nomadp.inference.hotspots import point_kind, visit_shares, visit_tally
from nomadp.inference.model import Model, mechanism_of
from nomadp.inference.oracle_shares import label_places, oracle_hotspots
from nomadp.inference.shares import Shares
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.zones import Zones

__all__ = [
    "timed_oracle_poisoning",
    "density",
    "hotspots",
    "place_poisoning",
    "timed_labels",
    "combined_and_timed",
]

COLUMNS = (
    "lat",
    "lng",
    "share",
    "std_error",
    "ci_low",
    "ci_high",
    "baseline",
    "rank",
    "p_value",
    "significant",
)
GRID = "grid:16"


def hotspots(
    model: Model,
    areas: str | Zones | GeoObject | None = None,
    *,
    at: str | None = None,
    level: float = LEVEL,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """Estimate the share of visits at each location or in each area.

    Every row has its ``share``, the standard error ``std_error``, the confidence interval from
    ``ci_low`` to ``ci_high``, the ``baseline``, its ``rank``, the adjusted ``p_value`` of the
    difference from the baseline, and whether that difference is ``significant``. With an ATLAS
    codebook of fewer than 64 codewords, intervals and p-values are empty, and
    ``about["no_intervals"]`` gives the reason.

    Args:
        model: The result of `fit`. A query costs no further privacy.
        areas: ``locations`` (the default), a rule such as grid:16 or h3:8, `Zones`, or a
            GeoDataFrame of polygons. The default of a frequency oracle is its own zones; areas
            that are unions of its zones are possible, too.
        at: visits, starts or ends. The default is what the frequency oracle reports, or the
            starts of trips.
        level: The probability of the confidence intervals.
        terms: The minimum batch size, below which the estimate has no rows.

    Returns:
        The `Estimate`, one row per area, the largest share first.

    Raises:
        DomainError: The reports do not contain what the query needs.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> visits = nomadp.make_mechanism("visits", city.locations, epsilon=4, zones="grid:3")
    >>> reports = nomadp.perturb_set(visits, city.trajectories, nomadp.SeededRandom(1))
    >>> table = nomadp.hotspots(nomadp.fit(visits, reports))
    >>> len(table), f"{sum(table['share']):.3f}", table.about["reports"]
    (7, '1.000', 100)
    """
    options = _Options(resolve_areas(mechanism_of(model), areas, LOCATIONS), at, level)
    return _shares_at("hotspots", model, options, terms)


def density(
    model: Model,
    areas: str | Zones | GeoObject | None = None,
    *,
    at: str | None = None,
    level: float = LEVEL,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """Estimate the share of visits in each area; by default a grid of 16 by 16 cells.

    The columns are those of `hotspots`.

    Args:
        model: The result of `fit`. A query costs no further privacy.
        areas: As for `hotspots`, but not single locations.
        at: As for `hotspots`.
        level: The probability of the confidence intervals.
        terms: The minimum batch size, below which the estimate has no rows.

    Returns:
        The `Estimate`, one row per area.

    Raises:
        DomainError: The areas are single locations, or the reports do not contain what the
            query needs.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.density(nomadp.fit(brr, reports), "grid:2").about["areas"]
    'grid:2'
    """
    options = _Options(resolve_areas(mechanism_of(model), areas, GRID), at, level)
    if options.areas.zones is None:
        raise DomainError(
            "areas of a density must be grid:N, h3:R or zones, got locations; use hotspots for "
            "single locations",
            code="zones_required",
        )
    return _shares_at("density", model, options, terms)


class _Options(NamedTuple):
    areas: Areas
    at: str | None
    level: float


def _shares_at(kind: str, model: Model, options: _Options, terms: Terms) -> Estimate:
    areas, at, level = options
    check_level(level)
    mechanism = model.mechanism
    too_few = too_few_reports(
        kind, mechanism, model.counts, terms, (areas.name_column, *COLUMNS)
    )
    if too_few is not None:
        return too_few
    shares, timed, withheld = visit_shares(model, areas.zones, at), None, None
    if not isinstance(mechanism, FrequencyOracle):
        withheld = reason_without_intervals(visit_tally(model, areas.zones, at)[0])
    elif mechanism.slots and areas.zones is not None:
        timed = oracle_hotspots(mechanism, model.counts, areas.zones, at, timed=True)
    estimates = ShareColumns(shares, timed, level, withheld)
    facts = {
        "areas": areas.rule,
        "at": point_kind(mechanism, at),
        "shrinkage_weight": shares.shrinkage_weight,
        **estimates.reliability,
        "poisoning_1pct": place_poisoning(model, areas, at, shares, timed=timed),
    }
    shapes = None if areas.zones is None else shapes_of(areas.zones)
    columns = _columns(mechanism, areas, estimates)
    return Estimate(kind, columns, estimate_facts(kind, model, terms, **facts), shapes)


def _columns(mechanism: Mechanism, areas: Areas, estimates: ShareColumns) -> dict[str, Any]:
    lat, lng = areas.centres
    names = {areas.name_column: list(areas.names), "lat": lat, "lng": lng}
    columns = {**names, **_value_columns(estimates, estimates.shares)}
    if isinstance(mechanism, FrequencyOracle) and estimates.timed is not None:
        timed = {**names, **_value_columns(estimates, estimates.timed)}
        columns = combined_and_timed(mechanism, columns, timed)
    return {**columns, **estimates.significance_columns}


def _value_columns(estimates: ShareColumns, shares: Shares) -> dict[str, Any]:
    rank = np.empty(len(shares.values), dtype=np.int64)
    rank[np.argsort(-shares.values, kind="stable")] = np.arange(1, len(rank) + 1)
    return {**estimates.value_columns(shares), "rank": rank}


def place_poisoning(
    model: Model,
    areas: Areas,
    at: str | None,
    shares: Shares,
    *,
    timed: Shares | None = None,
) -> dict[str, Any]:
    """How far 1 % of invalid reports can move any share, combined or at one time of day."""
    mechanism = model.mechanism
    if isinstance(mechanism, FrequencyOracle) and areas.zones is not None:
        share_of = label_places(mechanism, areas.zones, at)
        return timed_oracle_poisoning(mechanism, share_of, shares, timed)
    survey = visit_tally(model, areas.zones, at)
    return fit_poisoning(model, survey, len(shares.values), shares.shrinkage_weight)


def timed_oracle_poisoning(
    oracle: FrequencyOracle, share_of: Ints, shares: Shares, timed: Shares | None
) -> dict[str, Any]:
    """The same for a frequency oracle: ``share_of`` is the share that each label counts for."""
    combined = oracle_poisoning(oracle, share_of, shares.values)
    if timed is None:
        return combined
    single = oracle_poisoning(oracle, timed_labels(oracle, share_of), timed.values)
    larger = {side: max(combined[side], single[side]) for side in ("increase", "decrease")}
    return combined | larger


def timed_labels(oracle: FrequencyOracle, share_of: Ints) -> Ints:
    """The share, by area and time of day, that each label counts for."""
    slots = 1 if oracle.slots is None else len(oracle.slots.names)
    # The time of day varies fastest among the labels of an oracle.
    slot = np.arange(oracle.label_count) % slots
    return share_of * slots + slot


def combined_and_timed(
    oracle: FrequencyOracle, combined: dict[str, Any], timed: dict[str, Any]
) -> dict[str, Any]:
    """First the rows of all times combined, then one row for each area and time of day."""
    slots = () if oracle.slots is None else oracle.slots.names
    count = len(next(iter(combined.values())))
    columns: dict[str, Any] = {}
    for name, column in combined.items():
        single = np.asarray(timed[name])
        if len(single) != count * len(slots):  # names and centres are the same at all times
            single = np.repeat(single, len(slots))
        columns[name] = [*np.asarray(column).tolist(), *single.tolist()]
    return {**columns, "when": [ALL_TIMES] * count + list(slots) * count}
