"""Fast paths that must give the reference's reports: compared with it, report by report.

Each world has other locations, options, lengths, cuts and words, all made from one seed.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.audit.bounds import differing_share
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.base import Mechanism, Reported, report_one
from nomadp.mechanisms.fast.limits import TABLE_LIMIT, cut_after, tables_up_to
from nomadp.mechanisms.paths import fastest, perturb_many
from nomadp.randomness import RandomSource, SeededRandom
from nomadp.trajectory import HOURS, TrajectorySet

__all__ = ["Comparison", "compare"]

_EACH = 250
"""Reports that are compared in a world; every other world draws more than these."""
_DRAWN = 2**13
_LONGEST = 64
_LARGE_EVERY = 6
"""One of so many worlds has more locations than tables hold."""


@dataclass(frozen=True)
class Comparison:
    """How many reports were compared, and how many of them differ."""

    reports: int
    differing: int

    @property
    def share_missed(self) -> float:
        """What larger a share of different reports is found with a probability of 0.99."""
        return differing_share(self.reports)


def compare(like: Mechanism, lengths: tuple[int, ...], reports: int, seed: int) -> Comparison:
    """At least so many reports of mechanisms like this one, in as many worlds as it takes."""
    key = [seed, *like.name.encode(), like.epsilon.numerator, like.epsilon.denominator]
    rng, found = np.random.default_rng(key), Comparison(0, 0)
    randomness = SeededRandom(seed)
    for number in range(max(2, -(-reports // _EACH))):
        mechanism = _another(like, rng, is_large=number % _LARGE_EVERY == 1)
        is_cut = number % 2 == 0
        several = _trajectories(mechanism, lengths, _EACH if is_cut else _DRAWN, rng)
        bound = randomness.bound_to(f"{mechanism.identity} {number}")
        with ExitStack() as limits:
            if is_cut:  # where memory would cut only much more work
                limits.enter_context(cut_after(int(rng.integers(1, _EACH))))
                limits.enter_context(tables_up_to(int(rng.integers(2)) * TABLE_LIMIT))
            drawn = perturb_many(mechanism, several, bound, fastest(mechanism))
        some = np.sort(rng.choice(len(several), _EACH, replace=False))
        some[[0, -1]] = 0, len(several) - 1
        wrong = sum(_differing(mechanism, several, drawn, bound, some))
        found = Comparison(found.reports + len(some), found.differing + wrong)
    return found


def _differing(
    mechanism: Mechanism,
    several: TrajectorySet,
    drawn: Reported,
    randomness: RandomSource,
    some: Ints,
) -> Iterator[bool]:
    """Whether each of some reports is another than the reference's."""
    offsets = mechanism.report_offsets(several.offsets)
    for k in some.tolist():
        hour = None if several.hours is None else int(several.hours[k])
        values, number = report_one(mechanism, several[k], randomness.stream(k), hour)
        same = drawn.locations[offsets[k] : offsets[k + 1]].tolist() == list(values)
        yield not same or (number is not None and _number(drawn, k) != number)


def _number(drawn: Reported, k: int) -> int | None:
    return None if drawn.numbers is None else int(drawn.numbers[k])


def _another(like: Mechanism, rng: np.random.Generator, *, is_large: bool) -> Mechanism:
    """The same mechanism at the same epsilon, over another set and with other options."""
    size = TABLE_LIMIT + 1 if is_large else int(2 ** rng.uniform(1, 9))
    where = rng.uniform((41, -88), (42, -87), (size, 2)).T
    ids = [f"p{k}" for k in range(size)]
    # Books of large sets take long to make; so many zones have labels that no set holds.
    options: dict[str, Any] = {"size": int(2 ** rng.uniform(1, 4 if is_large else 6))}
    options |= {"grid": int(rng.integers(1, 6))}
    options |= {"zones": "grid:16" if is_large else f"grid:{rng.integers(1, 6)}"}
    options |= {"when": (None, "day-part", "weekday")[rng.integers(3)]}
    options |= {"max_step_km": (None, 40.0)[rng.integers(2)]}
    taken = {name: value for name, value in options.items() if hasattr(like, name)}
    return type(like)(
        locations=LocationSet.from_columns(ids, *where), epsilon=like.epsilon, **taken
    )


def _trajectories(
    mechanism: Mechanism, lengths: tuple[int, ...], count: int, rng: np.random.Generator
) -> TrajectorySet:
    """Of the lengths asked for and some others; one of eight stays where it is."""
    others = (2 ** rng.uniform(0, np.log2(_LONGEST), 4)).astype(np.int64)
    length = rng.choice([*lengths, *others.tolist()], count)
    offsets = np.concatenate([[0], np.cumsum(length)])
    locations = rng.integers(0, len(mechanism.locations), offsets[-1])
    stays = np.repeat(rng.random(count) < 1 / 8, length)
    locations = np.where(stays, np.repeat(locations[offsets[:-1]], length), locations)
    hours = rng.integers(0, HOURS, count) if mechanism.timed else None
    return TrajectorySet(offsets, locations, tuple(map(str, range(count))), hours=hours)
