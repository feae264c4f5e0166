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
    """Check that a mechanism keeps the rules of all mechanisms, in about a second.

    Args:
        make: Makes the mechanism from a location set and an epsilon.
        coarse: The same with as few cells as possible, for mechanisms whose choices on a map of
            four locations take too long to enumerate.

    Raises:
        AssertionError: A check failed.

    >>> from functools import partial
    >>> import nomadp
    >>> nomadp.check_conformance(partial(nomadp.make_mechanism, "exp"))
    """
    for check in CHECKS:
        check(coarse if coarse is not None and check is keeps_epsilon else make)


def keeps_epsilon(make: Make) -> None:
    """The exact loss, by enumerating every choice, is within epsilon."""
    for epsilon in EPSILONS:
        for length in LENGTHS[:3]:
            measured = measure(make(family_map("random", 4), epsilon), length)
            case = f"at epsilon {epsilon}, length {length}"
            if measured.flags or measured.spent != {epsilon}:
                raise AssertionError(f"the audit flags {', '.join(measured.flags)} {case}")
            # The flags are decided exactly; losses are floats, so allow for rounding.
            if not measured.final_loss <= measured.transcript_loss + 1e-9 <= epsilon + 1e-9:
                raise AssertionError(f"the loss exceeds epsilon {case}")


def spends_its_split(make: Make) -> None:
    """The program draws the steps of its split, each with the stated share and count."""
    mechanism = make(_scattered(30), 2)
    for length in LENGTHS:
        path = FirstBranch()
        mechanism.perturb(np.arange(length), path)
        drawn = Counter((step, channel.share) for step, channel in path.private_draws)
        stated: Counter[tuple[str, Fraction]] = Counter()
        for step in mechanism.split(length).steps:
            stated[step.name, step.share] += step.count
        if drawn != stated:
            raise AssertionError(f"the draws must be those of the split at length {length}")


def draws_alike_for_all(make: Make) -> None:
    """The number of random words depends on the length alone.

    The time of a report grows with its draws, so any other dependence is a side channel.
    """
    mechanism = make(_scattered(25), 2)
    for length in LENGTHS:
        trajectories = np.random.default_rng(length).integers(0, 25, (20, length))
        trajectories[0] = 3  # all points coincide
        streams = [_CountingStream(seed) for seed in range(len(trajectories))]
        for trajectory, stream in zip(trajectories, streams, strict=True):
            perturb_one(mechanism, trajectory, stream)
        if len({stream.used for stream in streams}) > 1:
            raise AssertionError("the number of words must depend on the length alone")


def reports_public_locations(make: Make) -> None:
    """Reports have the stated number of values, all in range, and follow from the words."""
    mechanism = make(_scattered(40), 3)
    for length in LENGTHS:
        first, again = (
            perturb_one(mechanism, np.arange(length), SeededRandom(1).stream(0)) for _ in "ab"
        )
        if first != again:
            raise AssertionError("the same words must give the same report")
        size, entries = mechanism.report_size, mechanism.report_offsets(np.array([0, length]))
        inside = all(type(place) is int and 0 <= place < size for place in first)
        if len(first) != entries[-1] or not inside:
            raise AssertionError(f"{entries[-1]} whole numbers below {size} must be reported")


def is_a_value(make: Make) -> None:
    """Mechanisms compare by value and are frozen, and the identity covers the whole law."""
    locations = _scattered(9)
    mechanism = make(locations, "0.5")
    others = [mechanism.with_params(epsilon=1), make(_scattered(9, seed=1), "0.5")]
    if mechanism != make(locations, 0.5) or mechanism in others:
        raise AssertionError("mechanisms must be equal if and only if their options are")
    if len({other.identity for other in (mechanism, *others)}) != 3:
        raise AssertionError("the identity must depend on epsilon and the locations")
    epsilon = mechanism.get_params().get("epsilon")
    if epsilon != "1/2" or str(locations.lat[0]) in repr(mechanism):
        raise AssertionError("get_params must have the exact epsilon, and repr no coordinate")
    try:
        mechanism.epsilon = Fraction(9)  # type: ignore[misc]  # must be impossible
    except FrozenInstanceError:
        return
    raise AssertionError("a mechanism must be a frozen dataclass")


def refuses_what_it_cannot_use(make: Make) -> None:
    """Invalid trajectories and epsilons are refused, and errors do not show locations."""
    mechanism = make(_scattered(40), 3)
    trajectories: list[Any] = [[], [99], [-1], [0, 40], [[0, 1], [1, 0]]]
    for trajectory in trajectories:
        stream = SeededRandom(0).stream(0)
        message = _refusal(DomainError, perturb_one, mechanism, trajectory, stream)
        if "99" in message or "-1" in message:
            raise AssertionError("an error must not contain a private location")
    for epsilon in (0, -1, float("nan"), 1e6):
        _refusal(BudgetError, make, _scattered(5), epsilon)


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


def _refusal(kind: type[Exception], call: Callable[..., object], *arguments: Any) -> str:
    """The message of the exception that the call must raise."""
    try:
        call(*arguments)
    except kind as refusal:
        return str(refusal)
    raise AssertionError(f"invalid arguments must raise {kind.__name__}, and nothing did")


def _scattered(size: int, seed: int = 0) -> LocationSet:
    rng = np.random.default_rng(seed)
    ids = [f"p{k}" for k in range(size)]
    return LocationSet.from_columns(ids, rng.uniform(41, 42, size), rng.uniform(-88, -87, size))
