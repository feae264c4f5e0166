"""Conformance checks for every mechanism, ours and those of other packages.

Each check takes a function that makes the mechanism, such as
``partial(nomadp.make_mechanism, "exp")``, and raises `AssertionError` with a message if it
fails. You can call them from any test runner.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.audit import measure
from nomadp.audit.maps import family_map
from nomadp.audit.walk import FirstBranch
from nomadp.errors import BudgetError, DomainError
from nomadp.locations import LocationSet
from nomadp.mechanisms.base import Mechanism, perturb_one
from nomadp.randomness import SeededRandom, WordStream

__all__ = ["CHECKS", "Make", "check_conformance"]

Make = Callable[[LocationSet, Any], Mechanism]
"""Makes a mechanism for a location set and an epsilon."""

EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(4))
LENGTHS = (1, 2, 3, 8)


def check_conformance(make: Make, coarse: Make | None = None) -> None:
    """Run all `CHECKS` on the mechanism that ``make(locations, epsilon)`` returns.

    This takes about a second. ``coarse`` makes the mechanism with as few cells as possible; use
    it if enumerating all choices on a map of four locations takes too long otherwise. Raises
    `AssertionError` if a check fails.

    >>> from functools import partial
    >>> import nomadp
    >>> nomadp.check_conformance(partial(nomadp.make_mechanism, "exp"))
    """
    for check in CHECKS:
        check(coarse if coarse is not None and check is keeps_epsilon else make)


def keeps_epsilon(make: Make) -> None:
    """The exact privacy loss, computed by enumerating every choice, is at most epsilon."""
    for epsilon in EPSILONS:
        for length in LENGTHS[:3]:
            result = measure(make(family_map("random", 4), epsilon), length)
            case = f"at epsilon {epsilon}, length {length}"
            if result.flags or result.spent != {epsilon}:
                raise AssertionError(f"the audit flags {', '.join(result.flags)} {case}")
            # A report is post-processing of the transcript, so it cannot lose more. The
            # tolerance is for rounding: these are floats of exact numbers.
            if not result.final_loss <= result.transcript_loss + 1e-9 <= epsilon + 1e-9:
                raise AssertionError(f"the privacy loss exceeds epsilon {case}")


def spends_its_split(make: Make) -> None:
    """The program draws exactly the steps of its split, each with its share of epsilon."""
    mechanism = make(_random_locations(30), 2)
    for length in LENGTHS:
        branch = FirstBranch()
        mechanism.perturb(np.arange(length), branch)
        drawn = Counter((step, channel.share) for step, channel in branch.paid)
        declared: Counter[tuple[str, Fraction]] = Counter()
        for step in mechanism.split(length).steps:
            declared[step.name, step.share] += step.count
        if drawn != declared:
            raise AssertionError(
                f"the draws must match the split, and do not at length {length}"
            )


def draws_alike_for_all(make: Make) -> None:
    """The number of words depends only on the length.

    Otherwise the time that a device takes would reveal something about the trajectory.
    """
    mechanism = make(_random_locations(25), 2)
    for length in LENGTHS:
        rows = np.random.default_rng(length).integers(0, 25, (20, length))
        rows[0] = 3  # all points coincide
        streams = [_CountingStream(seed) for seed in range(len(rows))]
        for row, stream in zip(rows, streams, strict=True):
            perturb_one(mechanism, row, stream)
        if len({stream.used for stream in streams}) > 1:
            raise AssertionError("the number of words must depend only on the length")


def reports_public_locations(make: Make) -> None:
    """Reports have the declared size and domain, and equal words give equal reports."""
    mechanism = make(_random_locations(40), 3)
    for length in LENGTHS:
        first, second = (
            perturb_one(mechanism, np.arange(length), SeededRandom(1).stream(0)) for _ in "ab"
        )
        if first != second:
            raise AssertionError("the same words must give the same report")
        size, entries = mechanism.report_size, mechanism.report_offsets(np.array([0, length]))
        in_domain = all(type(entry) is int and 0 <= entry < size for entry in first)
        if len(first) != entries[-1] or not in_domain:
            raise AssertionError(f"{entries[-1]} whole numbers below {size} must be reported")


def is_a_value(make: Make) -> None:
    """Equal options make equal mechanisms, which are frozen; the identity covers the law."""
    locations = _random_locations(9)
    one = make(locations, "0.5")
    others = [one.with_params(epsilon=1), make(_random_locations(9, seed=1), "0.5")]
    if one != make(locations, 0.5) or one in others:
        raise AssertionError("mechanisms must be equal if and only if their options are")
    if len({mechanism.identity for mechanism in (one, *others)}) != 3:
        raise AssertionError("the identity must name epsilon and the locations")
    if one.get_params().get("epsilon") != "1/2" or str(locations.lat[0]) in repr(one):
        raise AssertionError("get_params must have the exact epsilon, and repr no coordinate")
    try:
        one.epsilon = Fraction(9)  # type: ignore[misc]  # must fail
    except FrozenInstanceError:
        return
    raise AssertionError("a mechanism must be a frozen dataclass")


def refuses_what_it_cannot_use(make: Make) -> None:
    """It refuses unknown locations without showing them, and an epsilon out of range."""
    mechanism = make(_random_locations(40), 3)
    trajectories: list[Any] = [[], [99], [-1], [0, 40], [[0, 1], [1, 0]]]
    for trajectory in trajectories:
        arguments = mechanism, trajectory, SeededRandom(0).stream(0)
        message = _message_of(DomainError, perturb_one, *arguments)
        if "99" in message or "-1" in message:
            raise AssertionError("a private location must not be shown")
    for epsilon in (0, -1, float("nan"), 1e6):
        _message_of(BudgetError, make, _random_locations(5), epsilon)


CHECKS: tuple[Callable[[Make], None], ...] = (
    keeps_epsilon,
    spends_its_split,
    draws_alike_for_all,
    reports_public_locations,
    is_a_value,
    refuses_what_it_cannot_use,
)


class _CountingStream(WordStream):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self._inner, self.used = SeededRandom(seed).stream(0), 0

    def _more(self, count: int) -> bytes:
        raise NotImplementedError("words are taken one by one")

    def next(self) -> int:
        self.used += 1
        return self._inner.next()


def _message_of(kind: type[Exception], call: Callable[..., object], *arguments: Any) -> str:
    """The message of the error that the call must raise."""
    try:
        call(*arguments)
    except kind as refusal:
        return str(refusal)
    raise AssertionError(f"{kind.__name__} must be raised for such arguments, and nothing was")


def _random_locations(size: int, seed: int = 0) -> LocationSet:
    rng = np.random.default_rng(seed)
    ids = [f"p{k}" for k in range(size)]
    return LocationSet.from_columns(ids, rng.uniform(41, 42, size), rng.uniform(-88, -87, size))
