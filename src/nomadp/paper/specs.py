"""Every figure and table of the paper as a value: what is drawn, over what, on which data.

An experiment only names settings; they are computed once however many experiments name them.
"""

from dataclasses import dataclass
from typing import Any, Literal

from nomadp.analysis.measures import Yardstick
from nomadp.mechanisms import PUBLISHED, kind_of
from nomadp.paper import lines
from nomadp.paper.cells import Audit, Cell, Floors, Setting, Work
from nomadp.paper.datasets import Catalogue, SetKey, load
from nomadp.paper.lines import COMPARED, Lines, Series

__all__ = ["EXPERIMENTS", "FIXED_EPSILON", "FULL", "QUICK", "Experiment", "Placed", "Plan"]


@dataclass(frozen=True)
class Plan:
    """The paper's own amounts by default."""

    runs: int = 5
    """Repetitions of every cell, each with its own seed."""
    epsilons: tuple[str, ...] = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
    trajectories: int | None = None
    """At most so many of each data set, taken evenly; None means all of them."""
    audited_epsilons: tuple[str, ...] = ("0.5", "1", "2", "4", "6", "8", "10")
    audited_length: int = 2
    audited_published: tuple[str, ...] = tuple(PUBLISHED)
    """Forms that are not private, audited to show how much they are not."""


FULL = Plan()
QUICK = Plan(
    runs=2,
    epsilons=("1", "4", "10"),
    trajectories=150,
    audited_epsilons=("1", "4"),
    audited_published=("tp-as-published-not-private",),
)
"""The same experiments, small enough to look at while one waits."""

PARAMETERS = "the figure of parameters, panels"
SIZES = "the figure of sizes, panel"
FIXED_EPSILON = "4"
"""Where the paper varies something else."""


@dataclass(frozen=True)
class Axis:
    """What varies along a figure: epsilon, or a variation of the data set."""

    variation: str
    label: str
    values: tuple[float | None, ...] = ()


EPSILON = Axis("", "ε of the whole trajectory")
SHARE = Axis("share", "most visited share of the locations", (0.1, 0.25, 0.5, 1.0))
LENGTH = Axis("length", "points of a trajectory", (3.0, 4.0, 5.0, 6.0, 7.0, 8.0))
SPEED = Axis("speed", "reach between two points, km/h", (1.0, 2.0, 4.0, 8.0, 16.0, None))


@dataclass(frozen=True)
class Placed:
    """A setting and its place in a figure: which set's panel, which line, where along it."""

    base: str
    series: Series
    x: str
    setting: Setting


@dataclass(frozen=True)
class Experiment:
    """One row of the paper's results."""

    name: str
    title: str
    paper: str
    """Where it is in the paper."""
    sets: Literal["all", "pair", "campus", "none"] = "all"
    lines: Lines = lambda dataset: ()
    axis: Axis = EPSILON
    metric: Literal["ne", "prq", "acd"] = "ne"
    epsilons: tuple[str, ...] | None = None
    """None means the plan's."""
    audited: bool = False

    def bases(self, catalogue: Catalogue) -> tuple[str, ...]:
        """The sets that each get a panel."""
        match self.sets:
            case "all":
                return catalogue.names
            case "pair":
                return catalogue.pair
            case "campus":
                return (catalogue.campus,)
            case "none":
                return ()

    def metrics(self, yardstick: Yardstick) -> tuple[str, ...]:
        """The scores that are shown; the range query has one for each radius."""
        if self.metric != "prq":
            return (self.metric,)
        return tuple(f"prq_{radius_km:g}km" for radius_km in yardstick.radii_km)

    def place(self, catalogue: Catalogue, plan: Plan) -> list[Placed]:
        """All settings."""
        return [
            Placed(base, series, x, series.setting(key, epsilon))
            for base in self.bases(catalogue)
            for series in self.lines(load(catalogue, SetKey(base)))
            for x, key, epsilon in self._along(base, plan)
        ]

    def works(self, catalogue: Catalogue, plan: Plan) -> list[Work]:
        """All that has to be computed: floors, repetitions of every setting, audits."""
        settings = dict.fromkeys(each.setting for each in self.place(catalogue, plan))
        keys = dict.fromkeys(setting.dataset for setting in settings)
        cells = [Cell(setting, k) for setting in settings for k in range(plan.runs)]
        return [*map(Floors, keys), *cells, *self.audits(plan)]

    def audits(self, plan: Plan) -> list[Audit]:
        if not self.audited:
            return []
        names = [name for name in COMPARED if kind_of(name).private]
        return [
            Audit(name, epsilon, plan.audited_length)
            for name in (*names, *plan.audited_published)
            for epsilon in plan.audited_epsilons
        ]

    def _along(self, base: str, plan: Plan) -> list[tuple[str, SetKey, str]]:
        if not self.axis.variation:
            epsilons = self.epsilons or plan.epsilons
            return [(epsilon, SetKey(base), epsilon) for epsilon in epsilons]
        variation = self.axis.variation
        return [
            (_tick(variation, value), _varied(base, variation, value), FIXED_EPSILON)
            for value in self.axis.values
        ]


def _varied(base: str, variation: str, value: float | None) -> SetKey:
    """All of the locations are the set itself, and its cells can be shared."""
    return (
        SetKey(base) if (variation, value) == ("share", 1.0) else SetKey(base, variation, value)
    )


def _tick(variation: str, value: float | None) -> str:
    if value is None:
        return "any"
    return f"{100 * value:g} %" if variation == "share" else f"{value:g}"


_TOLD = {
    "ne": ("Error against ε", "the figure of NE"),
    "prq": ("Points nearly right against ε", "the figure of PRQ"),
    "radius": ("A fixed radius against a private one", f"{PARAMETERS} a and d"),
    "directions": ("Directions from one side or from both", f"{PARAMETERS} b and e"),
    "granularity": ("How finely directions are cut", f"{PARAMETERS} c and f"),
    "budget": (
        "All of ε, or the half that the algorithms use",
        "Algorithms 2 and 3 against section 6.1.2",
    ),
    "merge": ("How the two copies become one", "not in the paper, whose rule decides nothing"),
    "locations": ("The size of the location set", f"{SIZES} a"),
    "length": ("The length of a trajectory", f"{SIZES} b"),
    "reach": ("How far one step can go", f"{SIZES} c"),
    "table1": ("The probability that a direction survives", "Table 1"),
    "table2": ("Counts of visits", "Table 2"),
    "frontier": ("Utility against privacy budget", "not in the paper"),
}
"""Titles, and where it is in the paper."""
_EVERY = {"lines": lambda dataset: lines.EVERY_ANSWER}
_SIZES = {"lines": lines.mechanisms("exp", "tp", "atp")}
_COUNTED = lines.mechanisms(*COMPARED, *lines.AS_PUBLISHED)
_RUN: dict[str, dict[str, Any]] = {
    "ne": _EVERY,
    "prq": {**_EVERY, "metric": "prq"},
    "radius": {"sets": "pair", "lines": lines.fixed_and_adaptive_radius},
    "directions": {"sets": "pair", "lines": lines.one_and_two_directions},
    "granularity": {"sets": "pair", "lines": lines.granularities},
    "budget": {"sets": "pair", "lines": lines.whole_and_half_budget},
    "merge": {"sets": "pair", "lines": lines.merges},
    "locations": {**_SIZES, "sets": "pair", "axis": SHARE},
    "length": {**_SIZES, "sets": "campus", "axis": LENGTH},
    "reach": {**_SIZES, "sets": "campus", "axis": SPEED},
    "table1": {"sets": "none"},
    "table2": {"lines": _COUNTED, "metric": "acd", "epsilons": (FIXED_EPSILON,)},
    "frontier": {"lines": lambda dataset: lines.answers(*COMPARED), "audited": True},
}

EXPERIMENTS = {name: Experiment(name, *_TOLD[name], **_RUN[name]) for name in _TOLD}
"""By name, in the order of the report."""
