"""Where people are: the share of visits at each location, or in each area."""

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
from nomadp.inference.hotspots import asked_of, visit_shares, visit_tally
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
"""As a time: all of them together."""
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

    ``model`` is the result of `fit`, and asking costs nothing more. Areas are ``locations``, a
    rule such as grid:16 or h3:8, `Zones`, or a frame of GeoPandas with polygons; by default
    single locations, and for a direct question its own zones, which may also be asked for
    larger ones made of them. ``at`` is visits, starts or ends: what was asked, or of trips
    their starts, if it is left out. Every row has ``share``, ``std_error``, the
    ``ci_low`` and ``ci_high`` of its confidence interval at ``level``, its ``rank``, the
    ``baseline``, and whether the difference is ``significant``. Of an ATLAS codebook with
    fewer than 64 codewords ``ci_low``, ``ci_high`` and ``significant`` are empty, and
    ``about["no_intervals"]`` gives the reason. ``about`` has the rest, ``terms`` say of how few
    reports nothing is told. Raises `DomainError` for what reports do not tell of.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> visits = nomadp.make_mechanism("visits", city.locations, epsilon=4, zones="grid:3")
    >>> reports = nomadp.perturb_set(visits, city.trajectories, nomadp.SeededRandom(1))
    >>> table = nomadp.hotspots(nomadp.fit(visits, reports))
    >>> len(table), f"{sum(table['share']):.3f}", table.about["reports"]
    (7, '1.000', 100)
    """
    asked = _Asked(areas_of(mechanism_of(model), areas, LOCATIONS), at, level)
    return _answered("hotspots", model, asked, terms)


def density(
    model: Model,
    areas: str | Zones | GeoObject | None = None,
    *,
    at: str | None = None,
    level: float = LEVEL,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """The same as `hotspots`, over a grid or cells of H3: grid:16 by default.

    ``model``, ``areas``, ``at``, ``level`` and ``terms`` are as there. Raises `DomainError`
    for single locations, which have no density, and for what reports do not tell of.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.density(nomadp.fit(brr, reports), "grid:2").about["areas"]
    'grid:2'
    """
    asked = _Asked(areas_of(mechanism_of(model), areas, GRID), at, level)
    if asked.areas.zones is None:
        raise DomainError(
            "a density is one of areas, got locations; use grid:N, h3:R or zones",
            code="zones_required",
        )
    return _answered("density", model, asked, terms)


class _Asked(NamedTuple):
    areas: Areas
    at: str | None
    level: float


def _answered(kind: str, model: Model, asked: _Asked, terms: Terms) -> Estimate:
    areas, at, level = asked
    check_level(level)
    mechanism = model.mechanism
    few = missing(kind, mechanism, model.counts, terms, (areas.named, *COLUMNS))
    if few is not None:
        return few
    shares, timed, withheld = visit_shares(model, areas.zones, at), None, None
    if not isinstance(mechanism, FrequencyOracle):
        withheld = withheld_for(visit_tally(model, areas.zones, at)[0])
    elif mechanism.slots and areas.zones is not None:
        timed = oracle_hotspots(mechanism, model.counts, areas.zones, at, timed=True)
    estimates = ShareColumns(shares, timed, level, withheld)
    said = {
        "areas": areas.rule,
        "at": asked_of(mechanism, at),
        "shrinkage_weight": shares.shrinkage_weight,
        **estimates.reliability,
        "poisoning_1pct": place_poisoning(model, areas, at, shares, timed=timed),
    }
    shapes = None if areas.zones is None else shapes_of(areas.zones)
    columns = _columns(mechanism, areas, estimates)
    return Estimate(kind, columns, about(kind, model, terms, **said), shapes)


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
    """How far fakes move any share, of all times together and of each."""
    mechanism = model.mechanism
    if isinstance(mechanism, FrequencyOracle) and areas.zones is not None:
        place = label_places(mechanism, areas.zones, at)
        return oracle_poisoning(mechanism, place, shares, timed)
    asked = visit_tally(model, areas.zones, at)
    return fit_poisoning(model, asked, len(shares.values), shares.shrinkage_weight)


def oracle_poisoning(
    question: FrequencyOracle, asked: Ints, shares: Shares, timed: Shares | None
) -> dict[str, Any]:
    """Of a direct question: ``asked`` is the share that each label belongs to."""
    found = oracle_poisoning_of(question, asked, shares.values)
    if timed is None:
        return found
    each = oracle_poisoning_of(question, timed_labels(question, asked), timed.values)
    return found | {side: max(found[side], each[side]) for side in ("increase", "decrease")}


def timed_labels(question: FrequencyOracle, asked: Ints) -> Ints:
    """Which share of a place and a time each label belongs to."""
    slots = 1 if question.slots is None else len(question.slots.names)
    slot = np.arange(question.label_count) % slots
    return asked * slots + slot


def with_times(
    question: FrequencyOracle, together: dict[str, Any], each: dict[str, Any]
) -> dict[str, Any]:
    """All times together, then each: rows of every area, slots last."""
    slots = () if question.slots is None else question.slots.names
    count = len(next(iter(together.values())))
    found: dict[str, Any] = {}
    for name, column in together.items():
        more = np.asarray(each[name])
        more = more if len(more) == count * len(slots) else np.repeat(more, len(slots))
        found[name] = [*np.asarray(column).tolist(), *more.tolist()]
    return {**found, "when": [ANY] * count + list(slots) * count}
