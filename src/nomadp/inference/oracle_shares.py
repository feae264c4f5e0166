"""Shares from reports of frequency oracles: visits, origins, destinations and trips by zone.

Reports of trips also give the shares of origins and destinations, reports of small zones those
of unions of zones, and timed reports those of all times combined.
"""

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.estimate import Floats
from nomadp.inference.frequencies import Levels, OracleShares, oracle_shares, pair_levels
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.reports.counts import Counts, counts_of
from nomadp.reports.table import AnyReports
from nomadp.zones import Zones, zones_of

__all__ = [
    "oracle_hotspots",
    "oracle_trips",
    "label_pairs",
    "label_places",
    "support_in",
    "zones_for",
    "zones_on",
]


def zones_for(oracle: FrequencyOracle, zones: str | Zones | None) -> Zones:
    """The zones of an estimate: those of the oracle, or unions of them."""
    own = oracle.partition
    if zones is None:
        return own
    target = zones_on(own.locations, zones)
    _zone_of_zone(own, target)  # refuses zones that are no unions
    return target


def zones_on(locations: LocationSet, zones: str | Zones) -> Zones:
    """Zones of this location set, or those that a rule defines on it."""
    partition = zones_of(locations, zones) if isinstance(zones, str) else zones
    if partition.locations != locations:
        raise DomainError(
            "zones must be of the location set that reports were made with",
            code="zones_of_other_locations",
        )
    return partition


def oracle_hotspots(
    oracle: FrequencyOracle,
    reports: AnyReports | Counts,
    zones: Zones,
    at: str | None = None,
    *,
    timed: bool = False,
) -> OracleShares:
    """The share of people in each zone, or in each slot of each zone (slots last) if ``timed``.

    Shares of visits are shares of points: each trajectory reports one of its points at random.
    An oracle of trips has ``starts``, the default, and ``ends``.
    """
    target = label_places(oracle, zones, at)
    groups = [level[target] for level in zones.levels()]
    return _shares(oracle, counts_of(oracle, reports), groups, target, timed=timed)


def label_places(oracle: FrequencyOracle, zones: Zones, at: str | None = None) -> Ints:
    """The zone of each label of an oracle."""
    zone = _zone_of_zone(oracle.partition, zones)
    place, _ = _label_parts(oracle)
    sides = {oracle.name: place}
    if oracle.name == "trips":
        start, end = np.divmod(place, len(oracle.partition))
        sides = {"starts": start, "ends": end}
    if at is not None and at not in sides:
        raise DomainError(
            f"{at} must be reported, but reports of {oracle.name} contain "
            f"{' and '.join(sides)} only",
            code="points_not_queried",
            at=at,
            mechanism=oracle.name,
        )
    target_zones: Ints = zone[sides[at] if at else next(iter(sides.values()))]
    return target_zones


def label_pairs(oracle: FrequencyOracle, zones: Zones) -> Ints:
    """The origin-destination pair of zones of each label of a trips oracle."""
    if oracle.name != "trips":
        raise DomainError(
            "flows need reports of origin-destination pairs, and reports of "
            f"{oracle.name} contain one zone each; use the mechanism trips",
            code="pairs_not_queried",
            mechanism=oracle.name,
        )
    zone = _zone_of_zone(oracle.partition, zones)
    place, _ = _label_parts(oracle)
    start, end = np.divmod(place, len(oracle.partition))
    pair: Ints = zone[start] * len(zones) + zone[end]
    return pair


def oracle_trips(
    oracle: FrequencyOracle,
    reports: AnyReports | Counts,
    zones: Zones,
    *,
    timed: bool = False,
) -> OracleShares:
    """The share of trips from each zone to each; pair ``i * len(zones) + j`` is from i to j."""
    pair = label_pairs(oracle, zones)
    groups = [level[pair] for level in pair_levels(zones.levels(), zones.distance_classes())]
    return _shares(oracle, counts_of(oracle, reports), groups, pair, timed=timed)


def _shares(
    oracle: FrequencyOracle, counts: Counts, groups: list[Ints], target: Ints, *, timed: bool
) -> OracleShares:
    support, total = support_in(oracle, counts)
    _, slot = _label_parts(oracle)
    # Times are the finest level: they split the share of each place.
    if timed:
        groups, target = [*groups, target], target * (slot.max() + 1) + slot
    law = oracle.channel
    return oracle_shares(
        support,
        total,
        float(law.true_chance),
        float(law.other_chance),
        Levels(tuple(groups), _baseline(oracle), target),
    )


def support_in(oracle: FrequencyOracle, counts: Counts) -> tuple[Ints, int]:
    """The number of reports that support each label, and the number of reports."""
    # Reports of all lengths have one law, so their values are counted together.
    columns = [np.zeros((2, 0), dtype=np.int64)]
    columns += [np.stack(pair) for _, *pair in counts.by_length(oracle)]
    values, n_reports = np.concatenate(columns, axis=1)
    return oracle.support_of(values, n_reports), counts.reports(oracle)


def _label_parts(oracle: FrequencyOracle) -> tuple[Ints, Ints]:
    """The place and the slot of each label."""
    slots = 1 if oracle.slots is None else len(oracle.slots.names)
    place, slot = np.divmod(np.arange(oracle.label_count), slots)
    return place, slot


def _baseline(oracle: FrequencyOracle) -> Floats:
    """The uniform baseline: every location and time equally likely, ends independent."""
    size = np.bincount(oracle.partition.of).astype(np.float64)
    if oracle.name == "trips":
        size = np.outer(size, size).reshape(-1)
    # Times are uniform, so a place has the same share in each of its slots.
    place, _ = _label_parts(oracle)
    baseline: Floats = size[place] / size[place].sum()
    return baseline


def _zone_of_zone(own: Zones, target: Zones) -> Ints:
    """The target zone that contains each zone."""
    # The target zone of one location of each zone; all its other locations must agree.
    _, first = np.unique(own.of, return_index=True)
    zone: Ints = target.of[first]
    if not np.array_equal(zone[own.of], target.of):
        raise DomainError(
            f"zones must be those of the reports ({own.rule}) or unions of them, got "
            f"{target.rule}, which divides some of them; choose other zones, or collect again",
            code="zones_not_nested",
            queried=own.rule,
            zones=target.rule,
        )
    return zone
