"""What each mechanism is called and looks like, in every figure and table.

Colours are those of every page (`theme.json`): Okabe and Ito's where there are enough of them.
A marker tells each apart where colour cannot.
"""

from dataclasses import dataclass, replace
from typing import Any

from nomadp.theme import theme

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
    "exchanged_css",
    "label_of",
    "look_of",
    "rc_params",
]

_LIGHT = theme()["light"]
PAPER, INK, SOFT = _LIGHT["paper"], _LIGHT["ink"], _LIGHT["soft"]
RULE, SHADE = _LIGHT["rule"], _LIGHT["shade"]
FAMILY = "-as-published-not-private"
FLOOR_LABELS = {
    "constant": "best constant (no information)",
    "uniform": "uniform answer (no information)",
    "flat": "uniform baseline (no information)",
}


@dataclass(frozen=True)
class Look:
    label: str
    colour: str
    marker: str
    dashed: bool = False


LOOKS = {
    "exp": Look("EXP", _LIGHT["exp"], "o"),
    "brr": Look("BRR", _LIGHT["brr"], "s"),
    "l-srr": Look("L-SRR", _LIGHT["l-srr"], "p"),
    "ngram": Look("NGRAM", _LIGHT["ngram"], "v"),
    "cgm": Look("CGM", _LIGHT["cgm"], "P"),
    "tracs-c": Look("TraCS-C", _LIGHT["tracs-c"], "<"),
    "tracs-d": Look("TraCS-D", _LIGHT["tracs-d"], ">"),
    "tp": Look("TP", _LIGHT["tp"], "^"),
    "atp": Look("ATP", _LIGHT["atp"], "D"),
    "atlas": Look("ATLAS", _LIGHT["atlas"], "*"),
}
RAMP = tuple(_LIGHT[f"ramp-{k}"] for k in (1, 2, 3, 4))
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


def exchanged_css() -> str:
    """For drawings in a page: what was drawn in the light colours has those of the theme.

    A rule names no ancestor: the marks that a drawing repeats have none.
    """
    inks = ("paper", "ink", "soft", "rule", "shade")
    named = [*inks, *LOOKS, *(f"ramp-{k}" for k in (1, 2, 3, 4))]
    return "".join(
        f'[{part}="{_LIGHT[name]}"]{{{part}:var(--{name})}}\n'
        for name in named
        for part in ("fill", "stroke")
    )


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
