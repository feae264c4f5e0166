"""The table of simulated utility that ``explain`` and ``plan`` print."""

from fractions import Fraction

from nomadp.analysis.utility import Utility
from nomadp.cli.output import print_table, say

__all__ = ["print_utility"]

ESTIMATORS = {
    "decoded": "decoded (nomadp decode)",
    "reported": "reported",
    "without noise": "control points, without noise",
    "constant": "best constant (no information)",
}


def print_utility(utility: Utility, epsilon: Fraction | int) -> None:
    """One row per estimator: its error, and the percentage of points within each radius."""
    points = f"{utility.length} point{'' if utility.length == 1 else 's'}"
    say(
        f"Utility at epsilon {float(epsilon):g}, simulated on {utility.walks} public "
        f"random-walk trajectories of {points}; the largest distance on this map "
        f"is {utility.diameter_km:.3g} km:"
    )
    print_table(
        [
            "estimate",
            "error km",
            "std error",
            "NE",
            *(f"% in {r:g} km" for r in utility.radii_km),
        ],
        [
            [
                ESTIMATORS[name],
                f"{quality.error_km:.3f}",
                f"{quality.std_error_km:.3f}",
                f"{quality.normalised_error:.4f}",
                *(f"{percent:.1f}" for percent in quality.within_percent),
            ]
            for name, quality in utility.answers.items()
        ],
    )
    say(_caveats(utility))


def _caveats(utility: Utility) -> str:
    text = (
        "Random walks are not people: the utility of real reports depends on where people go. "
        'No real trajectory was read. "std error" is the standard error of the simulation.'
    )
    if "without noise" in utility.answers:
        text += (
            " A long random walk turns at 16 points. The fewer turns a trajectory has, the "
            "better its control points describe it."
        )
    return text
