"""The lines of the figures: mechanisms with their options, in the order of the legend.

To include a new mechanism in the comparisons, add its name to `COMPARED`. To include its
decoded reports, add it to `DECODED`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nomadp.paper.cells import Options, Setting
from nomadp.paper.datasets import Dataset, SetKey

__all__ = [
    "AS_PUBLISHED",
    "COMPARED",
    "DECODED",
    "EVERY_ANSWER",
    "Lines",
    "Series",
    "answers",
    "fixed_and_adaptive_radius",
    "granularities",
    "mechanisms",
    "merges",
    "one_and_two_directions",
    "whole_and_half_budget",
]

COMPARED = (
    *("exp", "brr", "l-srr", "ngram", "cgm", "tracs-c", "tracs-d"),
    *("tp", "atp", "atlas"),
)
"""The mechanisms of `ne`, `prq`, `table2` and `frontier`."""

DECODED = ("brr", "atlas")
"""The mechanisms whose decoded reports `ne`, `prq` and `frontier` also show.

`table2` does not: if a report has little information, its decoded points are close to the
centre of all possible ones, so their counts are poor estimates of visit counts.
"""

AS_PUBLISHED = ("tp-as-published-not-private", "atp-as-published-not-private")
"""The mechanisms exactly as the paper defines them, to reproduce its numbers."""

PAPER_RADII_KM = {"nyc": (5.0, 10.0, 15.0, 20.0), "cle": (2.0, 4.0, 6.0, 8.0)}
RADIUS_SHARES = (0.1, 0.2, 0.3, 0.4)
"""Shares of the diameter, for sets without radii in the paper; NYC's radii have these."""

BUDGETS = {"all of ε": 1.0, "ε/2, as the algorithms divide it": 0.5}
MERGES: dict[Options, str] = {
    (): "fair coin",
    (("merge", "first-index"),): "lowest index",
    (("merge", "direction"),): "directed copy",
}


@dataclass(frozen=True)
class Series:
    """One line of a figure: a mechanism with options."""

    mechanism: str
    options: Options = ()
    label: str = ""
    """Empty for the label of the mechanism."""
    step: int | None = None
    """The index of a parameter's value, which determines the colour."""
    variant: int = 0
    """The index of a mechanism's variant, which determines the dashes and the marker."""
    budget: float = 1.0
    """The share of epsilon that the mechanism uses."""
    decoded: bool = False
    """Whether the line is of the decoded reports instead of the reports."""

    def setting(self, dataset: SetKey, epsilon: str) -> Setting:
        used = epsilon if self.budget == 1 else f"{self.budget * float(epsilon):g}"
        return Setting(dataset, self.mechanism, self.options, used, self.decoded)


Lines = Callable[[Dataset], tuple[Series, ...]]
"""The lines of a data set's panel; the radii of a study depend on the set."""


def mechanisms(*names: str) -> Lines:
    return lambda dataset: tuple(Series(name) for name in names)


def answers(*names: str) -> tuple[Series, ...]:
    """A line for the reports of each mechanism, followed by one for the decoded reports."""
    return tuple(
        Series(name, decoded=decoded)
        for name in names
        for decoded in ((False, True) if name in DECODED else (False,))
    )


EVERY_ANSWER = answers(*COMPARED, *AS_PUBLISHED)
"""The lines of `ne` and `prq`."""


PRIVATE_RADIUS = "R private and calibrated"
ONE_DIRECTION, BOTH_DIRECTIONS = "uni-directional", "bi-directional"
"""These labels also identify lines in `findings.lowest`."""


def fixed_and_adaptive_radius(dataset: Dataset) -> tuple[Series, ...]:
    widest_km = dataset.locations.diameter_km
    shares = tuple(float(f"{share * widest_km:.2g}") for share in RADIUS_SHARES)
    radii_km = PAPER_RADII_KM.get(dataset.key.base, shares)
    fixed = (
        Series("atp", (("radius_km", radius_km),), f"R = {radius_km:g} km", step)
        for step, radius_km in enumerate(radii_km)
    )
    return *fixed, Series("atp", label=PRIVATE_RADIUS)


def one_and_two_directions(dataset: Dataset) -> tuple[Series, ...]:
    return (
        Series("atp", (("directions", "preceding"),), ONE_DIRECTION, 1),
        Series("atp", label=BOTH_DIRECTIONS),
    )


def granularities(dataset: Dataset) -> tuple[Series, ...]:
    fixed = (
        Series("atp", (("granularity", g),), f"g = {g}", step)
        for step, g in enumerate((2, 4, 6, 12))
    )
    return *fixed, Series("atp", label="g by the rule of Table 1")


def whole_and_half_budget(dataset: Dataset) -> tuple[Series, ...]:
    """Algorithms 2 and 3, read literally, are the same mechanisms at half the epsilon."""
    return tuple(
        Series(name, label=f"{name.upper()}, {label}", variant=variant, budget=budget)
        for name in ("tp", "atp")
        for variant, (label, budget) in enumerate(BUDGETS.items())
    )


def merges(dataset: Dataset) -> tuple[Series, ...]:
    return tuple(
        Series(name, options, f"{name.upper()}, {label}", variant=variant)
        for name in ("tp", "atp")
        for variant, (options, label) in enumerate(MERGES.items())
    )
