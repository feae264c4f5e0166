"""Compare fast paths that must return the reference's reports with it, report by report.

The comparisons run in random cases. Each has its own locations, options, trajectories, block
sizes and random words, all from one seed.
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
from nomadp.mechanisms.dispatch import fastest, perturb_many
from nomadp.mechanisms.fast.limits import TABLE_LIMIT, cut_after, tables_up_to
from nomadp.randomness import RandomSource, SeededRandom
from nomadp.trajectory import HOURS, TrajectorySet

__all__ = ["Comparison", "compare"]

_COMPARED = 250
"""Reports that are compared in a case. The reference is slow, so it draws no others."""
_DRAWN = 2**13
"""Reports that the fast path draws in every second case, where many are drawn together."""
_LONGEST = 64
_LARGE_EVERY = 6
"""Every sixth case has more locations than tables hold, which makes it slow."""


@dataclass(frozen=True)
class Comparison:
    """How many reports were compared, and how many of them differ."""

    reports: int
    differing: int

    @property
    def share_missed(self) -> float:
        """The largest share of differing reports that the comparison could have missed."""
        return differing_share(self.reports)


def compare(like: Mechanism, lengths: tuple[int, ...], reports: int, seed: int) -> Comparison:
    """Compare at least ``reports`` reports of mechanisms like this one, in random cases."""
    key = [seed, *like.name.encode(), like.epsilon.numerator, like.epsilon.denominator]
    rng, result = np.random.default_rng(key), Comparison(0, 0)
    randomness = SeededRandom(seed)
    for case in range(max(2, -(-reports // _COMPARED))):
        mechanism = _random_like(like, rng, is_large=case % _LARGE_EVERY == 1)
        # Fast paths draw in blocks that fit into memory, and replace tables of large sets by an
        # index. Every second case lowers both limits, so that small samples cross them.
        is_cut = case % 2 == 0
        trajectories = _trajectories(mechanism, lengths, _COMPARED if is_cut else _DRAWN, rng)
        bound = randomness.bound_to(f"{mechanism.identity} {case}")
        with ExitStack() as limits:
            if is_cut:
                limits.enter_context(cut_after(int(rng.integers(1, _COMPARED))))
                limits.enter_context(tables_up_to(int(rng.integers(2)) * TABLE_LIMIT))
            drawn = perturb_many(mechanism, trajectories, bound, fastest(mechanism))
        # A uniform sample without replacement, and always the first and the last report.
        sample = np.sort(rng.choice(len(trajectories), _COMPARED, replace=False))
        sample[[0, -1]] = 0, len(trajectories) - 1
        differing = sum(_differs(mechanism, trajectories, drawn, bound, sample))
        result = Comparison(result.reports + len(sample), result.differing + differing)
    return result


def _differs(
    mechanism: Mechanism,
    trajectories: TrajectorySet,
    drawn: Reported,
    randomness: RandomSource,
    sample: Ints,
) -> Iterator[bool]:
    """For each report of the sample, whether it differs from the reference's."""
    offsets = mechanism.report_offsets(trajectories.offsets)
    for k in sample.tolist():
        hour = None if trajectories.hours is None else int(trajectories.hours[k])
        values, number = report_one(mechanism, trajectories[k], randomness.stream(k), hour)
        same = drawn.locations[offsets[k] : offsets[k + 1]].tolist() == list(values)
        yield not same or (number is not None and _number(drawn, k) != number)


def _number(drawn: Reported, k: int) -> int | None:
    return None if drawn.numbers is None else int(drawn.numbers[k])


def _random_like(like: Mechanism, rng: np.random.Generator, *, is_large: bool) -> Mechanism:
    """The same mechanism at the same epsilon, over random locations and with random options."""
    # Sizes are log-uniform: most errors occur with few locations, some only with many.
    size = TABLE_LIMIT + 1 if is_large else int(2 ** rng.uniform(1, 9))
    lat, lng = rng.uniform((41, -88), (42, -87), (size, 2)).T
    ids = [f"p{k}" for k in range(size)]
    # Large sets get small codebooks, because large ones take long to construct, and many zones:
    # their labels are too many for subset selection, so projective geometry response is tested.
    options: dict[str, Any] = {"size": int(2 ** rng.uniform(1, 4 if is_large else 6))}
    options |= {"grid": int(rng.integers(1, 6))}
    options |= {"zones": "grid:16" if is_large else f"grid:{rng.integers(1, 6)}"}
    options |= {"when": (None, "day-part", "weekday")[rng.integers(3)]}
    options |= {"max_step_km": (None, 40.0)[rng.integers(2)]}
    taken = {name: value for name, value in options.items() if hasattr(like, name)}
    return type(like)(
        locations=LocationSet.from_columns(ids, lat, lng), epsilon=like.epsilon, **taken
    )


def _trajectories(
    mechanism: Mechanism, lengths: tuple[int, ...], count: int, rng: np.random.Generator
) -> TrajectorySet:
    """Random trajectories of the given lengths and some others; one in eight never moves."""
    others = (2 ** rng.uniform(0, np.log2(_LONGEST), 4)).astype(np.int64)
    length = rng.choice([*lengths, *others.tolist()], count)
    offsets = np.concatenate([[0], np.cumsum(length)])
    locations = rng.integers(0, len(mechanism.locations), offsets[-1])
    stays = np.repeat(rng.random(count) < 1 / 8, length)
    locations = np.where(stays, np.repeat(locations[offsets[:-1]], length), locations)
    hours = rng.integers(0, HOURS, count) if mechanism.timed else None
    return TrajectorySet(offsets, locations, tuple(map(str, range(count))), hours=hours)
