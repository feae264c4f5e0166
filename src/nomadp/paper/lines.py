"""The lines of the figures: which mechanisms, with which options, in which order.

A new mechanism joins the comparisons by its name in `COMPARED`, and its decoded reports by
its name in `DECODED`.
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
"""Whose reports `ne`, `prq` and `frontier` also show decoded.

Not `table2`: decoded points gather at the centre of what is possible where a report says
little, so counting them is no way to estimate counts.
"""

AS_PUBLISHED = ("tp-as-published-not-private", "atp-as-published-not-private")
"""The paper's own form of its mechanisms, for its own numbers."""

PAPER_RADII_KM = {"nyc": (5.0, 10.0, 15.0, 20.0), "cle": (2.0, 4.0, 6.0, 8.0)}
RADIUS_SHARES = (0.1, 0.2, 0.3, 0.4)
"""Of the diameter, on sets for which the paper names no radii; NYC's are these."""

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
    """Empty means the mechanism's own."""
    step: int | None = None
    """The position of a parameter among its values, which decides the colour."""
    variant: int = 0
    """Of one mechanism, told apart by dashes and markers."""
    spent: float = 1.0
    """The share of epsilon that it is given."""
    decoded: bool = False
    """Drawn is the estimate from each report, beside the report as it is."""

    def setting(self, dataset: SetKey, epsilon: str) -> Setting:
        given = epsilon if self.spent == 1 else f"{self.spent * float(epsilon):g}"
        return Setting(dataset, self.mechanism, self.options, given, self.decoded)


Lines = Callable[[Dataset], tuple[Series, ...]]
"""The lines of a set's panel; a study of radii has other ones for other sets."""


def mechanisms(*names: str) -> Lines:
    return lambda dataset: tuple(Series(name) for name in names)


def answers(*names: str) -> tuple[Series, ...]:
    """What each mechanism reports, and right after it what is decoded from that."""
    return tuple(
        Series(name, decoded=decoded)
        for name in names
        for decoded in ((False, True) if name in DECODED else (False,))
    )


EVERY_ANSWER = answers(*COMPARED, *AS_PUBLISHED)
"""The lines of `ne` and `prq`."""


PRIVATE_RADIUS = "R private and calibrated"
ONE_DIRECTION, BOTH_DIRECTIONS = "uni-directional", "bi-directional"
"""Labels by which results are looked up, too."""


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
        Series(name, label=f"{name.upper()}, {words}", variant=variant, spent=spent)
        for name in ("tp", "atp")
        for variant, (words, spent) in enumerate(BUDGETS.items())
    )


def merges(dataset: Dataset) -> tuple[Series, ...]:
    return tuple(
        Series(name, options, f"{name.upper()}, {words}", variant=variant)
        for name in ("tp", "atp")
        for variant, (options, words) in enumerate(MERGES.items())
    )
