"""Origin-destination flows: the share of trips from each area to each."""

from typing import Any

from nomadp.answers.areas import resolve_areas
from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import LEVEL, Terms, estimate_facts, too_few_reports
from nomadp.answers.place import combined_and_timed, timed_oracle_poisoning
from nomadp.answers.poisoning import fit_poisoning
from nomadp.answers.shapes import shapes_of
from nomadp.answers.share_columns import ShareColumns, reason_without_intervals
from nomadp.errors import DomainError
from nomadp.formats.zone_files import GeoObject
from nomadp.inference.estimate import check_level
from nomadp.inference.hotspots import flow_shares, flow_tally
from nomadp.inference.model import Model, mechanism_of
from nomadp.inference.oracle_shares import label_pairs, oracle_trips
from nomadp.inference.shares import Shares
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.zones import Zones

__all__ = ["flow_poisoning", "flows"]

COLUMNS = (
    "origin",
    "destination",
    "flow",
    "std_error",
    "ci_low",
    "ci_high",
    "baseline",
    "p_value",
    "significant",
)
GRID = "grid:4"


def flows(
    model: Model,
    areas: str | Zones | GeoObject | None = None,
    *,
    level: float = LEVEL,
    terms: Terms = Terms(),  # noqa: B008 - frozen
) -> Estimate:
    """The share of trips from each area to each, with its uncertainty.

    A trip goes from the first to the last point of a trajectory. ``model`` is the result of
    `fit`. ``areas``, ``level`` and ``terms`` are those of `hotspots`; the default areas are
    grid:4, or the zones of the frequency oracle. Raises `DomainError` for reports that do not
    contain whole trajectories or trips: those of ATLAS and of the oracle ``trips`` do.

    >>> import nomadp
    >>> places = nomadp.synthetic_city(seed=1, places=50, trips=1).locations
    >>> people = nomadp.TrajectorySet.from_lists([[0, 5], [3, 7]] * 20, size=50)
    >>> trips = nomadp.make_mechanism("trips", places, epsilon=8, zones="grid:2")
    >>> reports = nomadp.perturb_set(trips, people, nomadp.SeededRandom(1))
    >>> table = nomadp.flows(nomadp.fit(trips, reports))
    >>> len(table), table["origin"][1], table["destination"][1]
    (16, 'r0_c0', 'r0_c1')
    """
    check_level(level)
    mechanism = mechanism_of(model)
    zones = _checked_zones(resolve_areas(mechanism, areas, GRID).zones)
    too_few = too_few_reports("flows", mechanism, model.counts, terms, COLUMNS)
    if too_few is not None:
        return too_few
    estimates = _share_columns(model, zones, level)
    shares, timed = estimates.shares, estimates.timed
    columns = _columns(mechanism, zones, estimates)
    facts = {
        "areas": zones.rule,
        "shrinkage_weight": shares.shrinkage_weight,
        **estimates.reliability,
        "poisoning_1pct": flow_poisoning(model, zones, shares, timed=timed),
    }
    about = estimate_facts("flows", model, terms, **facts)
    return Estimate("flows", columns, about, shapes_of(zones))


def _checked_zones(zones: Zones | None) -> Zones:
    if zones is None:
        raise DomainError(
            "areas of flows must be grid:N, h3:R or zones, got locations",
            code="zones_required",
        )
    return zones


def _share_columns(model: Model, zones: Zones, level: float) -> ShareColumns:
    mechanism, shares = model.mechanism, flow_shares(model, zones)
    if not isinstance(mechanism, FrequencyOracle):
        withheld = reason_without_intervals(flow_tally(model, zones)[0])
        return ShareColumns(shares, None, level, withheld)
    timed = None
    if mechanism.slots:
        timed = oracle_trips(mechanism, model.counts, zones, timed=True)
    return ShareColumns(shares, timed, level, None)


def _columns(mechanism: Mechanism, zones: Zones, estimates: ShareColumns) -> dict[str, Any]:
    # Rows are sorted by origin, then by destination, like the shares of flows.
    names = {
        "origin": [name for name in zones.names for _ in zones.names],
        "destination": list(zones.names) * len(zones),
    }
    columns: dict[str, Any] = {**names, **estimates.value_columns(estimates.shares, "flow")}
    if isinstance(mechanism, FrequencyOracle) and estimates.timed is not None:
        timed = {**names, **estimates.value_columns(estimates.timed, "flow")}
        columns = combined_and_timed(mechanism, columns, timed)
    return {**columns, **estimates.significance_columns}


def flow_poisoning(
    model: Model, zones: Zones, shares: Shares, *, timed: Shares | None = None
) -> dict[str, Any]:
    """How far 1 % of invalid reports can move any flow, combined or at one time of day."""
    mechanism = model.mechanism
    if isinstance(mechanism, FrequencyOracle):
        return timed_oracle_poisoning(mechanism, label_pairs(mechanism, zones), shares, timed)
    return fit_poisoning(
        model, flow_tally(model, zones), len(shares.values), shares.shrinkage_weight
    )
