"""Privacy budgets in exact rationals, and how they are divided among random steps.

Budgets are fractions, never floats: 0.1 means one tenth. A `Split` whose shares do not add up
to epsilon cannot be constructed, and a printed loss is rounded up, never down.
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
"""Beyond this, e^epsilon does not fit the 64-bit weights; odds of 4.8e8 to 1 protect nobody."""

DECIMALS_MAX = 30
"""Finer than any useful epsilon, and coarse enough for floats to approximate."""
TEXT_MAX = 80
_NUMBER = re.compile(
    r"[-+]?(\d+/\d+|(\d+\.?\d*|\.\d+)(e[-+]?\d{1,4})?)", re.ASCII | re.IGNORECASE
)
MIN_EPSILON = Fraction(1, 10**6)
MIN_SHARE = Fraction(1, 2**28)
"""Smallest share of a single draw: the slack of 2^-30 that laws reserve must stay below it."""

_EXP_BITS = 160  # fixed-point precision of exp_lower: far below the laws' slack of 2^-30


def as_epsilon(value: int | float | str | Fraction) -> Fraction:
    """Convert a number or its text to an exact epsilon: 0.1 and "0.1" are both one tenth.

    Args:
        value: The budget of a whole trajectory: above 0 and at most 20.

    Returns:
        The exact fraction.

    Raises:
        BudgetError: The value is not a number in this range.

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
    """The exact value of a number or its text; None if it is not a number.

    Python also reads 1_0 as ten, and accepts digits of other scripts. Both are refused here: a
    typing error must not change epsilon.
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
    """A given value as text for messages, at most a line long."""
    try:
        text = str(value)
    except ValueError:  # Python refuses to print thousands of digits
        return "a huge number"
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}..."


@lru_cache(maxsize=4096)
def exp_lower(x: Fraction) -> Fraction:
    """A rational lower bound of e^x for x >= 0, within a relative 2^-150."""
    if x < 0:
        raise InvalidArgument(f"exp_lower needs x >= 0, got x={x}", code="exponent_negative")
    term = total = 1 << _EXP_BITS
    k = 0
    # The Taylor series in fixed point. All terms are positive and every division rounds down,
    # so the partial sum is a lower bound. Rounding one term down by a unit lowers the sum by at
    # most e^x units, and up to x = 20 (`MAX_EPSILON`) there are 127 terms: less than 2^-153.
    while term:
        k += 1
        term = term * x.numerator // (x.denominator * k)
        total += term
    return Fraction(total, 1 << _EXP_BITS)


def exp_upper(x: Fraction) -> Fraction:
    """A rational upper bound of e^x for x >= 0, within a relative 2^-99."""
    # exp_lower is within a relative 2^-150, so raising it by 2^-100 exceeds e^x.
    return exp_lower(x) * (1 + Fraction(1, 2**100))


def posterior_bounds(odds: Fraction) -> dict[str, str]:
    """Upper bounds of posterior probabilities, by prior probability; in percent, rounded up.

    Someone who is p % sure of a guess can become at most that sure after seeing the report.
    """
    priors = Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)
    # Bayes' theorem, with the largest likelihood ratio that the guarantee allows.
    posteriors = {p: p * odds / (p * odds + 1 - p) for p in priors}
    return {
        f"{float(100 * p):g}": format_epsilon(100 * q, digits=1) for p, q in posteriors.items()
    }


def format_epsilon(value: Fraction | float, digits: int = 6) -> str:
    """A decimal that is never below the value: guarantees are rounded up."""
    if value == math.inf:
        return "infinite"
    scale = 10**digits
    # The fraction of a float is its exact binary value, so rounding up is exact, too.
    up = math.ceil(Fraction(value) * scale)
    text = f"{up // scale}.{up % scale:0{digits}d}"
    return text.rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Step:
    """``count`` draws of one kind, each with privacy loss at most ``share``."""

    name: str
    copy: int
    """Which of two copies of the trajectory it reads; 0 if there is only one."""
    count: int
    """The number of draws."""
    share: Fraction
    """The largest privacy loss of one draw."""

    @property
    def total(self) -> Fraction:
        return self.count * self.share


@dataclass(frozen=True)
class Split:
    """How epsilon is divided among all draws that a mechanism makes for one trajectory.

    Sequential composition: the shares of all draws add up to epsilon exactly.
    """

    epsilon: Fraction
    """The privacy budget of the whole trajectory."""
    steps: tuple[Step, ...]
    """The kinds of draws, each with its number and its share."""

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
        # Sequential composition (Theorem 1 of the paper) adds the shares. In exact rationals,
        # "adds up to epsilon" needs no tolerance.
        total = sum((step.total for step in self.steps), Fraction())
        if total != self.epsilon:
            shares = ", ".join(f"{step.name}={step.total}" for step in self.steps)
            raise BudgetError(
                f"shares must add up to epsilon={self.epsilon}, got {shares} (sum {total})",
                code="shares_do_not_add_up",
                epsilon=str(self.epsilon),
                total=str(total),
            )

    def shares(self, copy: int = 0) -> dict[str, Fraction]:
        """The largest privacy loss of one draw, by step, in this ``copy`` of the trajectory."""
        return {step.name: step.share for step in self.steps if step.copy == copy}
