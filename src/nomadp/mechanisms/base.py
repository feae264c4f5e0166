"""What every mechanism is: a frozen public value with an exact law.

A mechanism is a short program over `Choose`. It names the parts that it releases, each with the
secret that the part reads, and combines them without seeing the trajectory again. Whatever
`finish` does is post-processing, which costs no privacy budget. The client and the auditor run
these same lines.
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
"""Location indices, (n,). The auditor passes (n, inputs); every step handles all columns."""

MOST = 2**20
"""Maximum number of locations, points or codewords. The weights of an exponential law, at most
2^24 e^10 < 2^39 each, then add up to less than 2^63."""
Range = tuple[int, int] | tuple[Fraction, int] | tuple[float, float]
"""The smallest and largest value of an option; integers if both are."""


@dataclass(frozen=True)
class _Drawn:
    """The report of one trajectory."""

    mechanism: "Mechanism"
    """The mechanism that drew the report."""
    values: tuple[int, ...]
    """Reported locations, or the labels that a frequency oracle releases."""
    number: int | None = None
    """The released value, where it is a single number (ATLAS: the index of a codeword)."""

    @property
    def locations(self) -> tuple[int, ...]:
        """The reported locations, as indices into the public set: one for each point.

        Raises `DomainError` for the report of a frequency oracle.
        """
        if self.mechanism.is_oracle:
            raise DomainError(
                f"a report of {self.mechanism.name} must be read as labels, because a "
                "frequency oracle reports no locations; use its labels or values",
                code="report_without_locations",
                mechanism=self.mechanism.name,
            )
        return self.values

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that a frequency oracle's report supports.

        The true label is more likely to be among them than any other label. Raises
        `DomainError` for the report of any other mechanism.
        """
        return self.mechanism.labels_of(self.values)

    @property
    def location_ids(self) -> tuple[str, ...]:
        """The public ids of the reported locations; raises `DomainError` like ``locations``."""
        return tuple(self.mechanism.locations.ids[k] for k in self.locations)


class Report(_Drawn):
    """The private report of one trajectory, which may leave the device.

    `Mechanism.report` draws it. It has ``mechanism``, ``locations`` (indices), ``location_ids``
    and, for ATLAS, the ``number`` of the released codeword. The report of a frequency oracle
    has ``labels`` instead of locations. Both are derived from its ``values``.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> report = exp.report(city.trajectories[0])
    >>> len(report.location_ids) == len(city.trajectories[0])
    True
    """


class SimulatedReport(_Drawn):
    """A report drawn from a seed, or by a mechanism that is not private: for experiments.

    `Mechanism.simulate` draws it. It is not a `Report`, because anyone who knows the seed can
    test guesses of the trajectory.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> simulated = exp.simulate(city.trajectories[0], seed=1)
    >>> isinstance(simulated, nomadp.Report)
    False
    """


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Perturbs whole trajectories under epsilon-local differential privacy.

    For any two trajectories of the same length, the probabilities of any report differ by at
    most a factor of e^epsilon. `make_mechanism` constructs mechanisms; they are immutable and
    public. A trajectory is a sequence of indices into ``locations``.

    ``report(trajectory)`` draws a private report, ``simulate(trajectory, seed)`` one for
    experiments, and ``split(length)`` shows how epsilon is divided among the random steps.
    ``identity`` is the text that fixes the probability law, and ``with_params`` returns the
    same mechanism with other options.

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
    """False for mechanisms that exist only for comparison: they reveal more than epsilon."""
    warning: ClassVar[str] = ""
    is_oracle: ClassVar[bool] = False
    """True for a frequency oracle: its reports contain labels instead of locations."""
    ranges: ClassVar[Mapping[str, Range]] = {
        "epsilon": (MIN_EPSILON, MAX_EPSILON),
        "locations": (1, MOST),
        "length": (1, MOST),
    }
    """The ranges for which the arithmetic is proved: of numeric options, the number of
    locations and the number of points. Values outside are refused. (`Split` and the laws
    also refuse a share below `MIN_SHARE`, or one too large for 64-bit words to resolve.)"""

    epsilon: Fraction
    """The privacy budget of one report of a whole trajectory, exactly."""
    locations: LocationSet
    """The public location set."""

    def __post_init__(self) -> None:
        epsilon: Any = self.epsilon
        if isinstance(epsilon, bool):
            raise BudgetError(
                f"epsilon must be a number, got epsilon={epsilon}", code="epsilon_out_of_range"
            )
        object.__setattr__(self, "epsilon", as_epsilon(epsilon))
        self._check_range("locations", len(self.locations))
        for field in fields(self):
            value = self._whole(field)
            # A default, or a rule given as text, is checked by the mechanism itself.
            is_rule = value is None or isinstance(value, str)
            if is_rule and isinstance(field.default, type(value)):
                continue
            if field.name in self.ranges and field.name != "locations":
                self._check_range(field.name, value)

    def _whole(self, field: Field[Any]) -> Any:
        """The value of an option; numpy integers become Python's, as JSON requires."""
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
        """Raise `DomainError` unless ``length`` is a whole number in the range of `ranges`.

        Every `split` begins with this check.
        """
        self._check_range("length", int(length) if isinstance(length, np.integer) else length)

    @abstractmethod
    def split(self, length: int) -> Split:
        """How epsilon is divided among the steps for a trajectory of this public length.

        Raises `DomainError` if the length is out of range, and `BudgetError` if epsilon is too
        small or too large to be divided among that many draws.
        """

    @abstractmethod
    def parts(self, trajectory: Trajectory) -> Sequence[Part[Any]]:
        """The steps that read a ``trajectory``: independent programs, each with its secret."""

    @abstractmethod
    def finish(self, released: Sequence[Any], choose: Choose) -> tuple[int, ...]:
        """Compute the reported trajectory from released values only (post-processing).

        Args:
            released: The values that the `parts` released, in their order. The auditor passes
                arrays with one entry per case, to compute all cases at once.
            choose: Makes random choices, which read no secret.

        Returns:
            The location indices of the report, or the numbers that a frequency oracle reports.
        """

    @property
    def timed(self) -> bool:
        """Whether the mechanism also reads the hour of a trajectory."""
        return False

    def read(self, trajectory: Trajectory, hour: Any = None) -> Trajectory:
        """Everything that the program reads about one person: the trajectory, and any hour."""
        return trajectory

    def inputs(self, length: int) -> Trajectory:
        """All possible inputs of this length, one per column: the auditor compares them."""
        return np.indices((len(self.locations),) * length).reshape(length, -1)

    @property
    def report_size(self) -> int:
        """Number of values that each entry of a report may take."""
        return len(self.locations)

    def report_offsets(self, offsets: Ints) -> Ints:
        """The offsets of the reports of trajectories with these ``offsets``.

        A report has the length of its trajectory, except for frequency oracles.
        """
        return offsets

    def labels_of(self, values: tuple[int, ...]) -> tuple[str, ...]:
        """The labels that a report with these values supports.

        Raises `DomainError` unless the mechanism is a frequency oracle.
        """
        raise DomainError(
            f"a report of {self.name} has locations and no labels; use its location_ids",
            code="report_without_labels",
            mechanism=self.name,
        )

    def report(self, trajectory: Trajectory, hour: int | None = None) -> Report:
        """Draw a private report of one trajectory. Each call uses epsilon again.

        The report is drawn by the audited program, with fresh randomness of the system.

        Args:
            trajectory: The private trajectory: indices into ``locations``, in order.
            hour: The hour of the week (0: Monday, 0 to 1 h), for mechanisms that read it.

        Returns:
            The report.

        Raises:
            DomainError: The trajectory is empty, an index is outside the location set, or a
                required hour is missing or invalid. The error shows no private values.
            NotPrivateError: The mechanism is not private.
            RandomnessUnavailable: The system provides no randomness.
        """
        if not self.private:
            raise NotPrivateError(
                f"a report must be private, got {self.name}, which is for experiments only; "
                f"{self.warning}; use another mechanism, or simulate()",
                code="mechanism_not_private",
                mechanism=self.name,
            )
        return Report(self, *report_one(self, trajectory, SystemRandom().stream(0), hour))

    def simulate(
        self, trajectory: Trajectory, seed: int, hour: int | None = None
    ) -> SimulatedReport:
        """Draw a report from a seed, for experiments only.

        Args:
            trajectory: Indices into ``locations``, in order.
            seed: Any integer. The same seed gives the same report.
            hour: The hour of the week (0: Monday, 0 to 1 h), for mechanisms that read it.

        Returns:
            The simulated report, which cannot be sent.

        Raises:
            DomainError: The trajectory is empty, an index is outside the location set, or a
                required hour is missing.
        """
        stream = SeededRandom(seed).bound_to(self.identity).stream(0)
        return SimulatedReport(self, *report_one(self, trajectory, stream, hour))

    def perturb(self, trajectory: Trajectory, choose: Choose) -> tuple[int, ...]:
        """The reported trajectory, whose random choices ``choose`` makes."""
        return self.reported(trajectory, choose)[0]

    def reported(
        self, trajectory: Trajectory, choose: Choose
    ) -> tuple[tuple[int, ...], int | None]:
        """The reported trajectory, and the released number if there is just one (ATLAS)."""
        # Only `parts` read the trajectory. `finish` gets what they released, so it is
        # post-processing (Theorem 2 of the paper).
        released = choose.each(self.parts(trajectory))
        return self.finish(released, choose), self.report_number(released)

    def report_number(self, released: Sequence[Any]) -> int | None:
        """The released number, if there is just one (ATLAS: the index of the codeword)."""
        return None

    def report_law(self, length: int) -> ReportLaw | None:
        """How reports of this length are decoded and counted.

        None if a report does not determine what was released.
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
        values: dict[str, Any] = {"epsilon": self.epsilon, "locations": len(self.locations)}
        values |= {k: repr(v) for k, v in options.items() if k != "epsilon"}
        return f"{self.name.upper()}({', '.join(f'{k}={v}' for k, v in values.items())})"

    def get_params(self) -> dict[str, Any]:
        """The options as plain values, without the location set."""
        options = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "locations"}
        return {k: str(v) if isinstance(v, Fraction) else v for k, v in options.items()}

    def with_params(self, **changes: Any) -> Self:
        """A copy of this mechanism with other options or another epsilon.

        Raises `DomainError` or `BudgetError` if a value is out of range.
        """
        return type(self)(**({f.name: getattr(self, f.name) for f in fields(self)} | changes))

    @property
    def identity(self) -> str:
        """The text that fixes the probability law: name, version, options, location set."""
        facts = {"mechanism": self.name, "version": self.version, "params": self.get_params()}
        return json.dumps(facts | {"locations": self.locations.sha256}, sort_keys=True)


def _type_names(kind: Any) -> set[str]:
    """The name of a type, or the names of the members of a union."""
    if isinstance(kind, str):  # as written where annotations are not evaluated
        names = {name.strip() for name in kind.split("|")}
        return names | ({"NoneType"} if "None" in names else set())
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return {getattr(member, "__name__", "") for member in members}


def perturb_one(
    mechanism: Mechanism, trajectory: Trajectory, words: WordStream, hour: int | None = None
) -> tuple[int, ...]:
    """Draw one report of one trajectory."""
    return report_one(mechanism, trajectory, words, hour)[0]


def report_one(
    mechanism: Mechanism, trajectory: Trajectory, words: WordStream, hour: int | None = None
) -> tuple[tuple[int, ...], int | None]:
    """Draw one report; returns it, and the released number if there is just one (ATLAS)."""
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
