"""Epsilon in exact rationals: what a whole trajectory may cost, and how it is shared out.

Budgets are fractions, never floats: 0.1 means one tenth, shares add up to the whole or
the split refuses to exist, and a printed loss is rounded up, never down.
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Rational

from nomadp.errors import BudgetError, InvalidArgument

__all__ = [
    "MAX_EPSILON",
    "MIN_EPSILON",
    "MIN_SHARE",
    "Split",
    "Step",
    "as_epsilon",
    "as_fraction",
    "exp_lower",
    "exp_upper",
    "format_epsilon",
    "posterior_bounds",
    "shown",
]

MAX_EPSILON = 20
"""Beyond this e^epsilon outgrows the 64-bit weights, and 4.8e8 to 1 is no promise anyway."""

DECIMALS_MAX = 30
"""Far finer than anybody promises, and coarse enough for floats to follow."""
TEXT_MAX = 80
_NUMBER = re.compile(
    r"[-+]?(\d+/\d+|(\d+\.?\d*|\.\d+)(e[-+]?\d{1,4})?)", re.ASCII | re.IGNORECASE
)
MIN_EPSILON = Fraction(1, 10**6)
MIN_SHARE = Fraction(1, 2**28)
"""What a single draw may cost at least: the 2^-30 that laws give away must stay below it."""

_EXP_BITS = 160  # fixed-point precision of exp_lower: far below the 2^-30 the laws give away


def as_epsilon(value: int | float | str | Fraction) -> Fraction:
    """The exact budget a person means: the float 0.1 and the text "0.1" are both one tenth.

    ``value`` is a number or its text, above 0 and at most 20, of a whole trajectory. Raises
    `BudgetError` for anything else.

    >>> import nomadp
    >>> nomadp.as_epsilon(0.1), nomadp.as_epsilon("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    epsilon = as_fraction(value)
    if epsilon is None or not 0 < epsilon <= MAX_EPSILON:
        raise BudgetError(
            f"epsilon must be a number above 0 and at most {MAX_EPSILON}, "
            f"got epsilon={shown(value)}",
            code="epsilon_out_of_range",
            most=MAX_EPSILON,
        )
    if epsilon.denominator > 10**DECIMALS_MAX:
        raise BudgetError(
            f"epsilon must have at most {DECIMALS_MAX} decimals, got epsilon={shown(value)}",
            code="epsilon_too_precise",
            decimals=DECIMALS_MAX,
        )
    return epsilon


def as_fraction(value: object) -> Fraction | None:
    """The number a person means, exactly; None if it is none.

    Python would also read 1_0 as ten, and digits of other scripts as ours; a typing error must
    not buy another epsilon.
    """
    if isinstance(value, str | float | Decimal):
        value = str(value).strip()
        if len(value) > TEXT_MAX or not _NUMBER.fullmatch(value):
            return None
    elif not isinstance(value, Rational):
        return None
    try:
        return Fraction(value)
    except ZeroDivisionError:
        return None


def shown(value: object) -> str:
    """A value that was given, no longer than a line."""
    try:
        text = str(value)
    except ValueError:  # Python prints no number of thousands of digits
        return "a huge number"
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}..."


@lru_cache(maxsize=4096)
def exp_lower(x: Fraction) -> Fraction:
    """A rational lower bound of e^x for x >= 0, within a relative 2^-150."""
    if x < 0:
        raise InvalidArgument(f"exp_lower needs x >= 0, got x={x}", code="exponent_negative")
    term = total = 1 << _EXP_BITS
    k = 0
    # Every term of the series is positive and every division floors, so the sum stays below.
    while term:
        k += 1
        term = term * x.numerator // (x.denominator * k)
        total += term
    return Fraction(total, 1 << _EXP_BITS)


def exp_upper(x: Fraction) -> Fraction:
    """A rational upper bound of e^x for x >= 0, within a relative 2^-99."""
    return exp_lower(x) * (1 + Fraction(1, 2**100))


def posterior_bounds(odds: Fraction) -> dict[str, str]:
    """What a suspicion can grow to at most at such odds, both in percent, rounded up."""
    posterior_bounds = Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)
    grown = {p: p * odds / (p * odds + 1 - p) for p in posterior_bounds}
    return {f"{float(100 * p):g}": format_epsilon(100 * q, digits=1) for p, q in grown.items()}


def format_epsilon(value: Fraction | float, digits: int = 6) -> str:
    """A decimal that is never below the value: a guarantee may only be rounded up."""
    if value == math.inf:
        return "infinite"
    scale = 10**digits
    up = math.ceil(Fraction(value) * scale)
    text = f"{up // scale}.{up % scale:0{digits}d}"
    return text.rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Step:
    """``count`` draws of one kind, each allowed ``share`` of epsilon."""

    name: str
    copy: int
    """Which of the two copies of the trajectory it reads; 0 when there is only one."""
    count: int
    share: Fraction

    @property
    def total(self) -> Fraction:
        return self.count * self.share


@dataclass(frozen=True)
class Split:
    """How one epsilon is shared out over all draws a mechanism makes for one trajectory."""

    epsilon: Fraction
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if any(step.count < 1 for step in self.steps):
            raise BudgetError(
                "every step of a split must draw at least once", code="step_without_draws"
            )
        if any(step.share < MIN_SHARE for step in self.steps):
            raise BudgetError(
                "every draw of a split must be allowed at least 2^-28 of privacy loss, got "
                f"{float(min(step.share for step in self.steps)):.2g}; use a larger epsilon or "
                "shorter trajectories",
                code="share_too_small",
                share=float(min(step.share for step in self.steps)),
            )
        spent = sum((step.total for step in self.steps), Fraction())
        if spent != self.epsilon:
            shares = ", ".join(f"{step.name}={step.total}" for step in self.steps)
            raise BudgetError(
                f"shares must add up to epsilon={self.epsilon}, got {shares} (sum {spent})",
                code="shares_do_not_add_up",
                epsilon=str(self.epsilon),
                total=str(spent),
            )

    def shares(self, copy: int = 0) -> dict[str, Fraction]:
        """What one draw of each step may cost in this copy."""
        return {step.name: step.share for step in self.steps if step.copy == copy}
