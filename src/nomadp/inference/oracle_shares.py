"""What direct questions answer: the zones that people are in, come from and go to.

A question about trips also tells where they start and end, one about small zones tells of
large ones that are made of them, and one about times tells of all times together.
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


def zones_for(question: FrequencyOracle, zones: str | Zones | None) -> Zones:
    """The zones an answer is about: those of the question, or larger ones made of them."""
    own = question.partition
    if zones is None:
        return own
    wanted = zones_on(own.locations, zones)
    _zone_of_zone(own, wanted)
    return wanted


def zones_on(locations: LocationSet, zones: str | Zones) -> Zones:
    """Zones of this location set, or those that a rule makes of it."""
    made = zones_of(locations, zones) if isinstance(zones, str) else zones
    if made.locations != locations:
        raise DomainError(
            "zones must be of the location set that reports were made with",
            code="zones_of_other_locations",
        )
    return made


def oracle_hotspots(
    question: FrequencyOracle,
    reports: AnyReports | Counts,
    zones: Zones,
    at: str | None = None,
    *,
    timed: bool = False,
) -> OracleShares:
    """The share of people in each zone; of every slot of a zone if ``timed``, slots last.

    Of visits it is that of points, of which each journey reports one at random: a sample, too.
    A question about trips tells of ``starts``, which is taken if nothing is said, and ``ends``.
    """
    asked = label_places(question, zones, at)
    groups = [level[asked] for level in zones.levels()]
    return _shares(question, counts_of(question, reports), groups, asked, timed=timed)


def label_places(question: FrequencyOracle, zones: Zones, at: str | None = None) -> Ints:
    """The zone that each label of a question tells of."""
    zone = _zone_of_zone(question.partition, zones)
    place, _ = _label_parts(question)
    sides = {question.name: place}
    if question.name == "trips":
        start, end = np.divmod(place, len(question.partition))
        sides = {"starts": start, "ends": end}
    if at is not None and at not in sides:
        raise DomainError(
            f"{at} must have been asked for, and reports of {question.name} tell of "
            f"{' and '.join(sides)} only",
            code="points_not_queried",
            at=at,
            mechanism=question.name,
        )
    found: Ints = zone[sides[at] if at else next(iter(sides.values()))]
    return found


def label_pairs(question: FrequencyOracle, zones: Zones) -> Ints:
    """The pair of zones that each label of a question about trips tells of."""
    if question.name != "trips":
        raise DomainError(
            "the zones that trips go between must have been asked for together, and reports of "
            f"{question.name} tell of one zone each; ask with trips",
            code="pairs_not_queried",
            mechanism=question.name,
        )
    zone = _zone_of_zone(question.partition, zones)
    place, _ = _label_parts(question)
    start, end = np.divmod(place, len(question.partition))
    pair: Ints = zone[start] * len(zones) + zone[end]
    return pair


def oracle_trips(
    question: FrequencyOracle,
    reports: AnyReports | Counts,
    zones: Zones,
    *,
    timed: bool = False,
) -> OracleShares:
    """The share of trips from each zone to each; pair ``i * len(zones) + j`` is from i to j."""
    pair = label_pairs(question, zones)
    groups = [level[pair] for level in pair_levels(zones.levels(), zones.apart())]
    return _shares(question, counts_of(question, reports), groups, pair, timed=timed)


def _shares(
    question: FrequencyOracle, counts: Counts, groups: list[Ints], asked: Ints, *, timed: bool
) -> OracleShares:
    support, total = support_in(question, counts)
    _, slot = _label_parts(question)
    if timed:
        groups, asked = [*groups, asked], asked * (slot.max() + 1) + slot
    law = question.channel
    return oracle_shares(
        support,
        total,
        float(law.true_chance),
        float(law.other_chance),
        Levels(tuple(groups), _flat(question), asked),
    )


def support_in(question: FrequencyOracle, counts: Counts) -> tuple[Ints, int]:
    """In how many reports each label is supported, and how many reports there are."""
    every = [np.zeros((2, 0), dtype=np.int64)]
    every += [np.stack(pair) for _, *pair in counts.by_length(question)]
    values, often = np.concatenate(every, axis=1)
    return question.support_of(values, often), counts.reports(question)


def _label_parts(question: FrequencyOracle) -> tuple[Ints, Ints]:
    """The place and the slot of each label."""
    slots = 1 if question.slots is None else len(question.slots.names)
    place, slot = np.divmod(np.arange(question.label_count), slots)
    return place, slot


def _flat(question: FrequencyOracle) -> Floats:
    """Any location is as likely, and any time; both ends of a trip independently."""
    held = np.bincount(question.partition.of).astype(np.float64)
    if question.name == "trips":
        held = np.outer(held, held).reshape(-1)
    place, _ = _label_parts(question)
    flat: Floats = held[place] / held[place].sum()
    return flat


def _zone_of_zone(own: Zones, wanted: Zones) -> Ints:
    """In which of the wanted zones each zone lies."""
    _, first = np.unique(own.of, return_index=True)
    zone: Ints = wanted.of[first]
    if not np.array_equal(zone[own.of], wanted.of):
        raise DomainError(
            f"zones must be those that were asked for ({own.rule}) or larger ones made of "
            f"them, got {wanted.rule}, which cuts some up; name others or ask again",
            code="zones_not_nested",
            queried=own.rule,
            zones=wanted.rule,
        )
    return zone
