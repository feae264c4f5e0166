"""The privacy guarantee of a mechanism in words, and how its epsilon is split over draws."""

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from nomadp.budget import Split, exp_upper, format_epsilon, posterior_bounds
from nomadp.errors import DomainError
from nomadp.mechanisms import Mechanism

__all__ = ["NOT_COVERED", "Explanation", "explain"]

NOT_COVERED = (
    "the number of points: a report has as many as its trajectory",
    "timestamps and user ids: reports do not contain them",
    "repetition: every report of the same trajectory uses epsilon again",
)
_IDS = "user ids, and times other than the one that the query asks for"


@dataclass(frozen=True)
class Explanation:
    """The privacy guarantee of a mechanism for a trajectory of one length."""

    mechanism: Mechanism
    length: int
    """The number of points of the trajectory."""

    @property
    def split(self) -> Split:
        """The share of epsilon of every draw."""
        return self.mechanism.split(self.length)

    @property
    def odds_at_most(self) -> str | None:
        """e^epsilon, rounded up; None if the mechanism guarantees nothing."""
        return format_epsilon(self._odds, digits=2) if self.mechanism.private else None

    @property
    def guarantee(self) -> str:
        """The guarantee in a sentence."""
        if not self.mechanism.private:
            return f"none; {self.mechanism.warning.rstrip('.')}"
        same_length = "" if self.mechanism.is_oracle else " of this length"
        return (
            f"for any two trajectories{same_length}, every report is at most "
            f"e^epsilon = {self.odds_at_most} times as likely from one as from the other"
        )

    @property
    def posterior_bounds(self) -> dict[str, str] | None:
        """Upper bounds on the posterior probability of a guess, by its prior probability.

        Both are in percent: someone who was 10 % sure of a guess before seeing the report can
        become at most ``posterior_bounds["10"]`` % sure after it. Bounds are rounded up. None
        if the mechanism guarantees nothing.
        """
        return posterior_bounds(self._odds) if self.mechanism.private else None

    def __str__(self) -> str:
        mechanism, points = self.mechanism, "point" if self.length == 1 else "points"
        lines = [
            f"{mechanism.name} version {mechanism.version} at epsilon {mechanism.epsilon}, "
            f"{self.length} {points}",
            "",
            *_split_table(self.split),
            "",
            f"Guarantee: {self.guarantee}.",
        ]
        if self.posterior_bounds is not None:
            lines.append(_posterior_sentence(self.posterior_bounds))
        return "\n".join([*lines, "Not covered:", *(f"  - {x}" for x in self.not_covered)])

    def as_dict(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism.name,
            "mechanism_version": self.mechanism.version,
            "params": self.mechanism.get_params(),
            "private": self.mechanism.private,
            "length": self.length,
            "steps": [
                {
                    **asdict(step),
                    "share_at_most": format_epsilon(step.share),
                    "total": step.total,
                }
                for step in self.split.steps
            ],
            "total": sum((step.total for step in self.split.steps), Fraction()),
            "odds_at_most": self.odds_at_most,
            "guarantee": self.guarantee,
            "posterior_bounds": self.posterior_bounds,
            "not_covered": list(self.not_covered),
        }

    @property
    def not_covered(self) -> tuple[str, ...]:
        """What the guarantee does not cover, such as the length of a trajectory.

        For frequency oracles it covers the length, and with a time division also the time.
        """
        length, times, again = NOT_COVERED
        if self.mechanism.is_oracle:
            return (times, again) if not self.mechanism.timed else (_IDS, again)
        return length, times, again

    @property
    def _odds(self) -> Fraction:
        return exp_upper(self.mechanism.epsilon)


def explain(mechanism: Mechanism, length: int) -> Explanation:
    """State the privacy guarantee of a mechanism. Print the result to read it.

    For the utility of a mechanism, see `simulate_utility`.

    Args:
        mechanism: The mechanism.
        length: The number of points of a trajectory.

    Returns:
        The `Explanation`: the guarantee in words, the split of epsilon over all draws, and
        upper bounds on how sure somebody can become of a guess, in percent.

    Raises:
        DomainError: The length is below 1.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=1)
    >>> explanation = nomadp.explain(exp, length=2)
    >>> explanation.odds_at_most, explanation.posterior_bounds["10"]
    ('2.72', '23.2')
    >>> [(step.name, step.count, str(step.share)) for step in explanation.split.steps]
    [('point', 2, '1/2')]
    """
    if length < 1:
        raise DomainError(
            f"a trajectory must have at least 1 point, got length={length}",
            code="length_out_of_range",
            length=length,
        )
    return Explanation(mechanism, length)


def _split_table(split: Split) -> list[str]:
    """The share and the total of each step, as lines of an aligned table."""
    header = ("step", "copy", "draws", "each", "(at most)", "together", "(at most)")
    rows = [
        (
            step.name,
            str(step.copy or "-"),
            str(step.count),
            str(step.share),
            format_epsilon(step.share),
            str(step.total),
            format_epsilon(step.total),
        )
        for step in split.steps
    ]
    total = sum((step.total for step in split.steps), Fraction())
    draws = str(sum(step.count for step in split.steps))
    table = [header, *rows, ("total", "", draws, "", "", str(total), format_epsilon(total))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
        for row in table
    ]


def _posterior_sentence(bounds: dict[str, str]) -> str:
    (prior, posterior), *others = bounds.items()
    rest = "; ".join(f"from {low} % to {high} %" for low, high in others)
    return (
        f"Someone who is {prior} % sure of a guess can become at most {posterior} % sure after "
        f"seeing the report (likewise {rest})."
    )
