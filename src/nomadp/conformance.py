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
    """The exact loss, measured by walking every choice, is within epsilon."""
    for epsilon in EPSILONS:
        for length in LENGTHS[:3]:
            found = measure(make(family_map("random", 4), epsilon), length)
            where = f"at epsilon {epsilon}, length {length}"
            if found.flags or found.spent != {epsilon}:
                raise AssertionError(f"the audit flags {', '.join(found.flags)} {where}")
            # Floats of the same exact numbers.
            if not found.final_loss <= found.transcript_loss + 1e-9 <= epsilon + 1e-9:
                raise AssertionError(f"more than epsilon is lost {where}")


def spends_its_split(make: Make) -> None:
    """What the program draws is what its split says."""
    mechanism = make(_scattered(30), 2)
    for length in LENGTHS:
        met = FirstBranch()
        mechanism.perturb(np.arange(length), met)
        spent = Counter((step, channel.share) for step, channel in met.paid)
        told: Counter[tuple[str, Fraction]] = Counter()
        for step in mechanism.split(length).steps:
            told[step.name, step.share] += step.count
        if spent != told:
            raise AssertionError(f"the split must be what is spent, and is not at {length}")


def draws_alike_for_all(make: Make) -> None:
    """The number of words depends on the length alone."""
    mechanism = make(_scattered(25), 2)
    for length in LENGTHS:
        rows = np.random.default_rng(length).integers(0, 25, (20, length))
        rows[0] = 3  # all points coincide
        counting = [_Counting(seed) for seed in range(len(rows))]
        for row, words in zip(rows, counting, strict=True):
            perturb_one(mechanism, row, words)
        if len({words.used for words in counting}) > 1:
            raise AssertionError("the number of words must depend on the length alone")


def reports_public_locations(make: Make) -> None:
    """As many values as it says, all of its public set, and the same for the same words."""
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
    """Equal values are equal, values are frozen, and the identity covers the whole law."""
    locations = _scattered(9)
    one = make(locations, "0.5")
    others = [one.with_params(epsilon=1), make(_scattered(9, seed=1), "0.5")]
    if one != make(locations, 0.5) or one in others:
        raise AssertionError("mechanisms must be equal if and only if their options are")
    if len({each.identity for each in (one, *others)}) != 3:
        raise AssertionError("the identity must name epsilon and the locations")
    if one.get_params().get("epsilon") != "1/2" or str(locations.lat[0]) in repr(one):
        raise AssertionError("get_params must tell epsilon exactly, and repr no coordinate")
    try:
        one.epsilon = Fraction(9)  # type: ignore[misc]  # what must not be possible
    except FrozenInstanceError:
        return
    raise AssertionError("a mechanism must be a frozen dataclass")


def refuses_what_it_cannot_use(make: Make) -> None:
    """A trajectory outside the set, which is not shown, and an epsilon out of range."""
    mechanism = make(_scattered(40), 3)
    trajectories: list[Any] = [[], [99], [-1], [0, 40], [[0, 1], [1, 0]]]
    for trajectory in trajectories:
        given = mechanism, trajectory, SeededRandom(0).stream(0)
        said = _refusal(DomainError, perturb_one, *given)
        if "99" in said or "-1" in said:
            raise AssertionError("a private location must not be shown")
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


class _Counting(WordStream):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self._inner, self.used = SeededRandom(seed).stream(0), 0

    def _more(self, count: int) -> bytes:
        raise NotImplementedError("words are taken one by one")

    def next(self) -> int:
        self.used += 1
        return self._inner.next()


def _refusal(kind: type[Exception], call: Callable[..., object], *given: Any) -> str:
    """What is said when something is refused, as it must be."""
    try:
        call(*given)
    except kind as refusal:
        return str(refusal)
    raise AssertionError(f"{kind.__name__} must refuse what cannot be used, and nothing did")


def _scattered(size: int, seed: int = 0) -> LocationSet:
    rng = np.random.default_rng(seed)
    ids = [f"p{k}" for k in range(size)]
    return LocationSet.from_columns(ids, rng.uniform(41, 42, size), rng.uniform(-88, -87, size))
