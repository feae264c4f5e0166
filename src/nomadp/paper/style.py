"""What each mechanism is called and looks like, in every figure and table.

Data colours are Okabe and Ito's where there are enough of them, and the demonstration's for
the mechanisms it shows; a marker tells each apart where colour cannot.
"""

from dataclasses import dataclass, replace
from typing import Any

__all__ = [
    "FLOOR_LABELS",
    "INK",
    "LOOKS",
    "PAPER",
    "RAMP",
    "RULE",
    "SHADE",
    "SOFT",
    "Look",
    "label_of",
    "look_of",
    "rc_params",
]

PAPER, INK, SOFT, RULE, SHADE = "#faf8f3", "#1c2127", "#626a73", "#e2ddd1", "#f2ede1"
FAMILY = "-as-published-not-private"
FLOOR_LABELS = {
    "constant": "best constant (no information)",
    "uniform": "uniform answer (no information)",
    "flat": "flat estimate (no information)",
}


@dataclass(frozen=True)
class Look:
    label: str
    colour: str
    marker: str
    dashed: bool = False


LOOKS = {
    "exp": Look("EXP", "#009e73", "o"),
    "brr": Look("BRR", "#cc79a7", "s"),
    "l-srr": Look("L-SRR", "#882255", "p"),
    "ngram": Look("NGRAM", "#e69f00", "v"),
    "cgm": Look("CGM", "#8a8378", "P"),
    "tracs-c": Look("TraCS-C", "#56b4e9", "<"),
    "tracs-d": Look("TraCS-D", "#999933", ">"),
    "tp": Look("TP", "#0072b2", "^"),
    "atp": Look("ATP", "#d55e00", "D"),
    "atlas": Look("ATLAS", "#5b2a86", "*"),
}
RAMP = ("#b9b2e0", "#8d82c9", "#6353ab", "#332288")
"""Light to dark, for the steps of a parameter."""


def look_of(mechanism: str) -> Look:
    """The published form looks like the strict one, dashed and hollow."""
    base = mechanism.removesuffix(FAMILY)
    look = LOOKS.get(base, Look(base.upper(), SOFT, "x"))
    if base == mechanism:
        return look
    return replace(look, label=f"{look.label} as published (not private)", dashed=True)


def label_of(mechanism: str) -> str:
    return look_of(mechanism).label


def rc_params() -> dict[Any, Any]:
    """matplotlib's settings: the same on every machine."""
    return {
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), PAPER),
        **dict.fromkeys(
            ("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), SOFT
        ),
        **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
        **dict.fromkeys(("axes.linewidth", "grid.linewidth"), 0.8),
        **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 9),
        **dict.fromkeys(("axes.labelsize", "font.size"), 9.5),
        **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.grid.axis": "y",
        "grid.color": RULE,
        "text.color": INK,
        "text.parse_math": False,  # the name of a data set may hold a dollar
        "xtick.major.size": 3,
        "ytick.major.size": 0,
        "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same everywhere
        "lines.linewidth": 1.7,
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "nomadp",
        "savefig.dpi": 150,
    }
