"""What every mechanism is: a frozen public value with an exact law.

A mechanism is a short program over `Choose`. It names the parts it releases, each with the
secret that part reads, and finishes them without seeing the trajectory again: whatever
`finish` does is post-processing and free. The client and the auditor run these same lines.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from fractions import Fraction
from types import UnionType
from typing import Any, ClassVar, Self, Union, get_args, get_origin

import numpy as np

from nomadp.budget import MAX_EPSILON, MIN_EPSILON, Split, as_epsilon
from nomadp.drawing import Choose, Drawing, Part
from nomadp.errors import BudgetError, DomainError, NotPrivateError
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.report_law import Reported, ReportLaw
from nomadp.randomness import SeededRandom, SystemRandom, WordStream

__all__ = [
    "MOST",
    "Mechanism",
    "Range",
    "Report",
    "Reported",
    "SimulatedReport",
    "Trajectory",
    "perturb_one",
    "report_one",
]

Trajectory = Ints
"""Location indices, (n,); the auditor passes (n, inputs), and every step works on all."""

MOST = 2**20
"""Of locations, of points in a trajectory, of journeys: so many weights add up in 63 bits."""
Range = tuple[int, int] | tuple[Fraction, int] | tuple[float, float]
"""The least and the greatest value of an option; whole numbers if both are."""


@dataclass(frozen=True)
class _Drawn:
    """What one trajectory became."""

    mechanism: "Mechanism"
    values: tuple[int, ...]
    """What is reported: locations, or what a direct question releases."""
    number: int | None = None
    """What was released, where that is one number (ATLAS: a row of the atlas)."""

    @property
    def locations(self) -> tuple[int, ...]:
        """Indices into the mechanism's public set, as many as the trajectory has."""
        if self.mechanism.is_oracle:
            raise DomainError(
                f"a report of {self.mechanism.name} is an answer to a direct question and "
                "holds no locations; read its values, or its labels",
                code="report_without_locations",
                mechanism=self.mechanism.name,
            )
        return self.values

    @property
    def labels(self) -> tuple[str, ...]:
        """What the report of a direct question supports; the truth is likelier among it."""
        return self.mechanism.labels_of(self.values)

    @property
    def location_ids(self) -> tuple[str, ...]:
        """The reported locations by their public ids."""
        return tuple(self.mechanism.locations.ids[k] for k in self.locations)


class Report(_Drawn):
    """What one trajectory reports under its mechanism's epsilon: it may leave the device.

    `Mechanism.report` makes it. It has ``mechanism``, ``locations`` (indices), ``location_ids``
    and, for ATLAS, the ``number`` of the row that was released; that of a direct question has
    ``labels``. Both are made of its ``values``.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> report = exp.report(city.trajectories[0])
    >>> len(report.location_ids) == len(city.trajectories[0])
    True
    """


class SimulatedReport(_Drawn):
    """The same, drawn from a seed or not private: for experiments, and no `Report`.

    `Mechanism.simulate` makes it. Whoever knows the seed can test guesses of the trajectory.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> simulated = exp.simulate(city.trajectories[0], seed=1)
    >>> isinstance(simulated, nomadp.Report)
    False
    """


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Perturbs one trajectory at a total cost of epsilon, over all of the same length.

    A frozen public value that `make_mechanism` makes. ``split(length)`` says where epsilon
    goes, ``report(trajectory)`` spends it, ``simulate(trajectory, seed)`` is for experiments;
    a trajectory is a sequence of indices into ``locations``. ``identity`` is all that fixes the
    law as text, and ``with_params`` the same mechanism with other options.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> [(step.name, step.count, str(step.share)) for step in exp.split(3).steps]
    [('point', 3, '4/3')]
    >>> exp.with_params(epsilon="1/2").get_params()
    {'epsilon': '1/2'}
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """The law of (name, version) never changes; a changed law is a new version."""
    private: ClassVar[bool] = True
    """False for what exists only to be measured: its outputs reveal more than epsilon."""
    warning: ClassVar[str] = ""
    is_oracle: ClassVar[bool] = False
    """True for a direct question: its reports are made of labels, not of locations."""
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
            raise BudgetError(
                f"epsilon must be a number, got epsilon={asked}", code="epsilon_out_of_range"
            )
        object.__setattr__(self, "epsilon", as_epsilon(asked))
        self._check_range("locations", len(self.locations))
        for field in fields(self):
            value = self._whole(field)
            # What is left out, or said by a word (a rule), is its mechanism's to check.
            by_default = value is None or isinstance(value, str)
            if by_default and isinstance(field.default, type(value)):
                continue
            if field.name in self.ranges and field.name != "locations":
                self._check_range(field.name, value)

    def _whole(self, field: Field[Any]) -> Any:
        """The value of an option: one of Python's own numbers where its type says int."""
        value, types = getattr(self, field.name), _type_names(field.type)
        if "int" not in types or types & {"float", "Fraction"}:
            return value
        if isinstance(value, np.integer):
            value = int(value)
            object.__setattr__(self, field.name, value)
        if type(value).__name__ not in types and field.name not in self.ranges:
            raise DomainError(
                f"{field.name} must be a whole number, got {field.name}={value!r:.80}",
                code="parameter_not_whole_number",
                parameter=field.name,
            )
        return value

    def _check_range(self, name: str, value: Any) -> None:
        low, high = self.ranges[name]
        whole = isinstance(low, int)
        kinds = int if whole else (int, float, Fraction)
        if isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high:
            return
        kind = "a whole number" if whole else "a number"
        least = f"{float(low):g}" if isinstance(low, Fraction) else low
        if name == "epsilon":
            raise BudgetError(
                f"epsilon must be {kind} from {least} to {high}, got epsilon={value!r}",
                code="epsilon_out_of_range",
                most=high,
            )
        raise DomainError(
            f"{name} must be {kind} from {least} to {high}, got {name}={value!r}",
            code="parameter_out_of_range",
            parameter=name,
            least=low,
            most=high,
        )

    def check_length(self, length: Any) -> None:
        """Refuse a public length outside of `ranges`: what every `split` begins with."""
        self._check_range("length", int(length) if isinstance(length, np.integer) else length)

    @abstractmethod
    def split(self, length: int) -> Split:
        """How epsilon is shared out for a trajectory of this public length."""

    @abstractmethod
    def parts(self, trajectory: Trajectory) -> Sequence[Part[Any]]:
        """What is released: programs independent of each other, each with its secret."""

    @abstractmethod
    def finish(self, released: Sequence[Any], choose: Choose) -> tuple[int, ...]:
        """The reported trajectory, from released values only (post-processing).

        Released values may be arrays, one entry per case: the auditor finishes all at once.
        """

    @property
    def timed(self) -> bool:
        """Whether the hour of a trajectory is read, too."""
        return False

    def read(self, trajectory: Trajectory, hour: Any = None) -> Trajectory:
        """All that the program reads of one person: the trajectory, and nothing besides."""
        return trajectory

    def inputs(self, length: int) -> Trajectory:
        """Everything that may be read of this length, one per column: what is compared."""
        return np.indices((len(self.locations),) * length).reshape(length, -1)

    @property
    def report_size(self) -> int:
        """How many values each entry of a report may take."""
        return len(self.locations)

    def report_offsets(self, offsets: Ints) -> Ints:
        """Where the reports begin of trajectories that begin there: each is as long."""
        return offsets

    def labels_of(self, values: tuple[int, ...]) -> tuple[str, ...]:
        """What a report of such values supports, where it is one of a direct question."""
        raise DomainError(
            f"a report of {self.name} holds locations and no labels; read its location_ids",
            code="report_without_labels",
            mechanism=self.name,
        )

    def report(self, trajectory: Trajectory, hour: int | None = None) -> Report:
        """One report for one trajectory, at the cost of epsilon; each call spends it again.

        The words are fresh ones of the system, and what runs is the audited program itself.
        A question of when needs the ``hour`` of the week (0: Monday from 0 to 1 h). Raises
        `DomainError` for a location outside the set, which it does not show, `NotPrivateError`
        for a form that is not private, and `RandomnessUnavailable`.
        """
        if not self.private:
            raise NotPrivateError(
                f"a report must be private, and {self.name} is for experiments only; "
                f"{self.warning}; use another mechanism, or simulate()",
                code="mechanism_not_private",
                mechanism=self.name,
            )
        return Report(self, *report_one(self, trajectory, SystemRandom().stream(0), hour))

    def simulate(
        self, trajectory: Trajectory, seed: int, hour: int | None = None
    ) -> SimulatedReport:
        """What a report might be, the same for the same seed: for experiments only."""
        words = SeededRandom(seed).bound_to(self.identity).stream(0)
        return SimulatedReport(self, *report_one(self, trajectory, words, hour))

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

    def report_law(self, length: int) -> ReportLaw | None:
        """How reports of this length are read; None where they do not tell what was released.

        With one, reports can be decoded and counted.
        """
        return None

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        # A dataclass writes its own __repr__ unless its class body has one.
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """The options that differ from their defaults; no coordinates."""
        changed = {f.name for f in fields(self) if getattr(self, f.name) != f.default}
        options = {k: v for k, v in self.get_params().items() if k in changed}
        shown = {"epsilon": self.epsilon, "locations": len(self.locations)}
        shown |= {k: v for k, v in options.items() if k != "epsilon"}
        return f"{self.name.upper()}({', '.join(f'{k}={v}' for k, v in shown.items())})"

    def get_params(self) -> dict[str, Any]:
        """The options as plain values; the location set is named by its hash elsewhere."""
        options = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "locations"}
        return {k: str(v) if isinstance(v, Fraction) else v for k, v in options.items()}

    def with_params(self, **changes: Any) -> Self:
        """The same mechanism over the same locations, with other options or another epsilon."""
        return type(self)(**({f.name: getattr(self, f.name) for f in fields(self)} | changes))

    @property
    def identity(self) -> str:
        """Everything that fixes the law, as one line of text."""
        facts = {"mechanism": self.name, "version": self.version, "params": self.get_params()}
        return json.dumps(facts | {"locations": self.locations.sha256}, sort_keys=True)


def _type_names(kind: Any) -> set[str]:
    """What a value may be: the names of a type, or of those it is a union of."""
    if isinstance(kind, str):  # as written where annotations are not evaluated
        names = {name.strip() for name in kind.split("|")}
        return names | ({"NoneType"} if "None" in names else set())
    united = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return {getattr(one, "__name__", "") for one in united}


def perturb_one(
    mechanism: Mechanism, trajectory: Trajectory, words: WordStream, hour: int | None = None
) -> tuple[int, ...]:
    """Draw one report for one trajectory."""
    return report_one(mechanism, trajectory, words, hour)[0]


def report_one(
    mechanism: Mechanism, trajectory: Trajectory, words: WordStream, hour: int | None = None
) -> tuple[tuple[int, ...], int | None]:
    """The same, and the number that was released, where a report is one."""
    indices = np.asarray(trajectory, dtype=np.int64)
    if indices.ndim != 1 or not len(indices):
        raise DomainError(
            "a trajectory must be a sequence of at least one location index",
            code="trajectory_malformed",
        )
    if indices.min() < 0 or indices.max() >= len(mechanism.locations):
        raise DomainError(
            f"every location must be in the public set of {len(mechanism.locations)}; "
            "the value is withheld because it is private",
            code="unknown_locations",
            size=len(mechanism.locations),
        )
    return mechanism.reported(mechanism.read(indices, hour), Drawing(words))
