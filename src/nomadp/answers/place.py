"""The share of visits at each location or in each area: hotspots and density."""

from typing import Any, NamedTuple

import numpy as np

from nomadp.answers.areas import LOCATIONS, Areas, areas_of
from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import LEVEL, Terms, about, missing
from nomadp.answers.poisoning import fit_poisoning, oracle_poisoning_of
from nomadp.answers.shapes import shapes_of
from nomadp.answers.share_columns import ShareColumns, withheld_for
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
    "ANY",
    "oracle_poisoning",
    "density",
    "hotspots",
    "place_poisoning",
    "timed_labels",
    "with_times",
]

ANY = "any"
"""In the column ``when``: all times of day combined."""
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
    """The share of visits at each location, or in each of some ``areas``, with its uncertainty.

    ``model`` is the result of `fit`; a query costs no further privacy. ``areas`` are
    ``locations`` (the default), a rule such as grid:16 or h3:8, `Zones`, or a GeoDataFrame of
    polygons. The default for a frequency oracle is its own zones; larger areas made of them
    are possible, too. ``at`` is visits, starts or ends: by default what the oracle asked for,
    or the starts of trips.

    Every row has its ``share``, the standard error ``std_error``, the limits ``ci_low`` and
    ``ci_high`` of a confidence interval at ``level``, the ``baseline``, its ``rank``, the
    adjusted ``p_value`` of the difference from the baseline, and whether that is
    ``significant``. With an ATLAS codebook of fewer than 64 codewords, intervals and p-values
    are empty, and ``about["no_intervals"]`` gives the reason. ``terms`` set the minimum batch
    size. Raises `DomainError` for what the reports do not contain.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> visits = nomadp.make_mechanism("visits", city.locations, epsilon=4, zones="grid:3")
    >>> reports = nomadp.perturb_set(visits, city.trajectories, nomadp.SeededRandom(1))
    >>> table = nomadp.hotspots(nomadp.fit(visits, reports))
    >>> len(table), f"{sum(table['share']):.3f}", table.about["reports"]
    (7, '1.000', 100)
    """
    options = _Options(areas_of(mechanism_of(model), areas, LOCATIONS), at, level)
    return _shares_at("hotspots", model, options, terms)


def density(
    model: Model,
    areas: str | Zones | GeoObject | None = None,
    *,
    at: str | None = None,
    level: float = LEVEL,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """The same as `hotspots` for areas only: by default a grid of 16 by 16 cells.

    ``model``, ``areas``, ``at``, ``level`` and ``terms`` are those of `hotspots`. Raises
    `DomainError` for single locations and for what the reports do not contain.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.density(nomadp.fit(brr, reports), "grid:2").about["areas"]
    'grid:2'
    """
    options = _Options(areas_of(mechanism_of(model), areas, GRID), at, level)
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
    too_few = missing(kind, mechanism, model.counts, terms, (areas.named, *COLUMNS))
    if too_few is not None:
        return too_few
    shares, timed, withheld = visit_shares(model, areas.zones, at), None, None
    if not isinstance(mechanism, FrequencyOracle):
        withheld = withheld_for(visit_tally(model, areas.zones, at)[0])
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
    return Estimate(kind, columns, about(kind, model, terms, **facts), shapes)


def _columns(mechanism: Mechanism, areas: Areas, estimates: ShareColumns) -> dict[str, Any]:
    lat, lng = areas.centres
    names = {areas.named: list(areas.names), "lat": lat, "lng": lng}
    columns = {**names, **_ranked(estimates, estimates.shares)}
    if isinstance(mechanism, FrequencyOracle) and estimates.timed is not None:
        timed = {**names, **_ranked(estimates, estimates.timed)}
        columns = with_times(mechanism, columns, timed)
    return {**columns, **estimates.tests}


def _ranked(estimates: ShareColumns, shares: Shares) -> dict[str, Any]:
    rank = np.empty(len(shares.values), dtype=np.int64)
    rank[np.argsort(-shares.values, kind="stable")] = np.arange(1, len(rank) + 1)
    return {**estimates.numbers(shares), "rank": rank}


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
        place = label_places(mechanism, areas.zones, at)
        return oracle_poisoning(mechanism, place, shares, timed)
    asked = visit_tally(model, areas.zones, at)
    return fit_poisoning(model, asked, len(shares.values), shares.shrinkage_weight)


def oracle_poisoning(
    oracle: FrequencyOracle, share_of: Ints, shares: Shares, timed: Shares | None
) -> dict[str, Any]:
    """The same for a frequency oracle: ``share_of`` is the share that each label counts for."""
    found = oracle_poisoning_of(oracle, share_of, shares.values)
    if timed is None:
        return found
    each = oracle_poisoning_of(oracle, timed_labels(oracle, share_of), timed.values)
    return found | {side: max(found[side], each[side]) for side in ("increase", "decrease")}


def timed_labels(oracle: FrequencyOracle, share_of: Ints) -> Ints:
    """The share, by area and time of day, that each label counts for."""
    slots = 1 if oracle.slots is None else len(oracle.slots.names)
    slot = np.arange(oracle.label_count) % slots
    return share_of * slots + slot


def with_times(
    oracle: FrequencyOracle, together: dict[str, Any], each: dict[str, Any]
) -> dict[str, Any]:
    """All times of day combined, then each time: rows of every area, slots last."""
    slots = () if oracle.slots is None else oracle.slots.names
    count = len(next(iter(together.values())))
    found: dict[str, Any] = {}
    for name, column in together.items():
        more = np.asarray(each[name])
        more = more if len(more) == count * len(slots) else np.repeat(more, len(slots))
        found[name] = [*np.asarray(column).tolist(), *more.tolist()]
    return {**found, "when": [ANY] * count + list(slots) * count}
