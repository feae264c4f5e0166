"""What every mechanism is: a frozen public value with an exact law.

A mechanism is a short program over `Choose`. It names the parts it releases, each with the
secret that part reads, and finishes them without seeing the trajectory again: whatever
`finish` does is post-processing and free. The client and the auditor run these same lines.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from nomadp.budget import MAX_EPSILON, MIN_EPSILON, Split, as_epsilon
from nomadp.drawing import Choose, Drawing, Task
from nomadp.errors import BudgetError, DomainError
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.randomness import WordStream

__all__ = ["MOST", "Mechanism", "Range", "Reported", "Trajectory", "perturb_one", "report_one"]

Trajectory = Ints
"""Location indices, (n,); the auditor passes (n, inputs), and every step works on all."""


MOST = 2**20
"""Of locations, of points in a trajectory, of journeys: so many weights add up in 63 bits."""
Range = tuple[int, int] | tuple[Fraction, int] | tuple[float, float]
"""The least and the greatest value of an option; whole numbers if both are."""


class Reported(NamedTuple):
    """What several trajectories report, one after the other."""

    locations: Ints
    numbers: Ints | None
    """One for each report, where a mechanism releases one (see `report_number`)."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Perturbs one trajectory at a total cost of epsilon, over all of the same length."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """The law of (name, version) never changes; a changed law is a new version."""
    private: ClassVar[bool] = True
    """False for what exists only to be measured: its outputs reveal more than epsilon."""
    warning: ClassVar[str] = ""
    ranges: ClassVar[Mapping[str, Range]] = {
        "epsilon": (MIN_EPSILON, MAX_EPSILON),
        "locations": (1, MOST),
        "length": (1, MOST),
    }
    """Where the arithmetic is proved: for numbers among the options, the number of locations
    and that of a trajectory's points. Nothing beyond is drawn. (A share may not fall below
    `MIN_SHARE` either, nor outgrow what words keep apart: `Split` and the laws refuse it.)"""

    epsilon: Fraction
    locations: LocationSet

    def __post_init__(self) -> None:
        asked: Any = self.epsilon
        if isinstance(asked, bool):
            raise BudgetError(f"epsilon must be a number, got epsilon={asked}")
        object.__setattr__(self, "epsilon", as_epsilon(asked))
        self._check_range("locations", len(self.locations))
        for field in fields(self):
            value = getattr(self, field.name)
            # What is left out, or said by a word (a rule), is its mechanism's to check.
            by_default = value is None or isinstance(value, str)
            if by_default and isinstance(field.default, type(value)):
                continue
            if field.name in self.ranges and field.name != "locations":
                self._check_range(field.name, value)

    def _check_range(self, name: str, value: Any) -> None:
        low, high = self.ranges[name]
        whole = isinstance(low, int)
        kinds = int if whole else (int, float, Fraction)
        if isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high:
            return
        kind = "a whole number" if whole else "a number"
        error = BudgetError if name == "epsilon" else DomainError
        least = f"{float(low):g}" if isinstance(low, Fraction) else low
        raise error(f"{name} must be {kind} from {least} to {high}, got {name}={value!r}")

    def check_length(self, length: Any) -> None:
        """Refuse a public length outside of `ranges`: what every `split` begins with."""
        self._check_range("length", int(length) if isinstance(length, np.integer) else length)

    @abstractmethod
    def split(self, length: int) -> Split:
        """How epsilon is shared out for a trajectory of this public length."""

    @abstractmethod
    def parts(self, trajectory: Trajectory) -> Sequence[Task[Any]]:
        """What is released: programs independent of each other, each with its secret."""

    @abstractmethod
    def finish(self, released: Sequence[Any], choose: Choose) -> tuple[int, ...]:
        """The reported trajectory, from released values only (post-processing).

        Released values may be arrays, one entry per case: the auditor finishes all at once.
        """

    def perturb(self, trajectory: Trajectory, choose: Choose) -> tuple[int, ...]:
        """The reported trajectory: as many locations as the true one."""
        return self.reported(trajectory, choose)[0]

    def reported(
        self, trajectory: Trajectory, choose: Choose
    ) -> tuple[tuple[int, ...], int | None]:
        """The same, and the number that was released, where a report is one."""
        released = choose.each(self.parts(trajectory))
        return self.finish(released, choose), self.report_number(released)

    def report_number(self, released: Sequence[Any]) -> int | None:
        """The one number that a report is, where it is one (ATLAS: a row of the atlas)."""
        return None

    def get_params(self) -> dict[str, Any]:
        """The options as plain values; the location set is named by its hash elsewhere."""
        options = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "locations"}
        return {k: str(v) if isinstance(v, Fraction) else v for k, v in options.items()}

    def with_params(self, **changes: Any) -> Self:
        return type(self)(**({f.name: getattr(self, f.name) for f in fields(self)} | changes))

    @property
    def identity(self) -> str:
        """Everything that fixes the law, as one line of text."""
        facts = {"mechanism": self.name, "version": self.version, "params": self.get_params()}
        return json.dumps(facts | {"locations": self.locations.sha256}, sort_keys=True)


def perturb_one(
    mechanism: Mechanism, trajectory: Trajectory, words: WordStream
) -> tuple[int, ...]:
    """Draw one report for one trajectory."""
    return report_one(mechanism, trajectory, words)[0]


def report_one(
    mechanism: Mechanism, trajectory: Trajectory, words: WordStream
) -> tuple[tuple[int, ...], int | None]:
    """The same, and the number that was released, where a report is one."""
    indices = np.asarray(trajectory, dtype=np.int64)
    if indices.ndim != 1 or not len(indices):
        raise DomainError("a trajectory must be a sequence of at least one location index")
    if indices.min() < 0 or indices.max() >= len(mechanism.locations):
        raise DomainError(
            f"every location must be in the public set of {len(mechanism.locations)}; "
            "the value is withheld because it is private"
        )
    return mechanism.reported(indices, Drawing(words))
