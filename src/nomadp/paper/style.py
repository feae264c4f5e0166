"""The label, colour and marker of each mechanism, in every figure and table.

The colours are those of all pages (`theme.json`): the palette of Okabe and Ito, which readers
with colour vision deficiency can distinguish, as far as it goes. Markers distinguish the rest.
"""

from dataclasses import dataclass, replace
from typing import Any

from nomadp.theme import theme

__all__ = [
    "BASELINE_LABELS",
    "INK",
    "PLOT_STYLES",
    "PAPER",
    "RAMP",
    "RULE",
    "SHADE",
    "SOFT",
    "PlotStyle",
    "theme_css",
    "label_of",
    "plot_style_of",
    "rc_params",
]

_LIGHT = theme()["light"]
PAPER, INK, SOFT = _LIGHT["paper"], _LIGHT["ink"], _LIGHT["soft"]
RULE, SHADE = _LIGHT["rule"], _LIGHT["shade"]
FAMILY = "-as-published-not-private"
BASELINE_LABELS = {
    "constant": "best constant (no information)",
    "uniform": "uniform answer (no information)",
    "flat": "equal counts (no information)",
}


@dataclass(frozen=True)
class PlotStyle:
    label: str
    colour: str
    marker: str
    dashed: bool = False


PLOT_STYLES = {
    "exp": PlotStyle("EXP", _LIGHT["exp"], "o"),
    "brr": PlotStyle("BRR", _LIGHT["brr"], "s"),
    "l-srr": PlotStyle("L-SRR", _LIGHT["l-srr"], "p"),
    "ngram": PlotStyle("NGRAM", _LIGHT["ngram"], "v"),
    "cgm": PlotStyle("CGM", _LIGHT["cgm"], "P"),
    "tracs-c": PlotStyle("TraCS-C", _LIGHT["tracs-c"], "<"),
    "tracs-d": PlotStyle("TraCS-D", _LIGHT["tracs-d"], ">"),
    "tp": PlotStyle("TP", _LIGHT["tp"], "^"),
    "atp": PlotStyle("ATP", _LIGHT["atp"], "D"),
    "atlas": PlotStyle("ATLAS", _LIGHT["atlas"], "*"),
}
RAMP = tuple(_LIGHT[f"ramp-{k}"] for k in (1, 2, 3, 4))
"""Light to dark, for the values of a parameter."""


def plot_style_of(mechanism: str) -> PlotStyle:
    """The style of a mechanism; published forms are the strict ones, dashed and hollow."""
    base = mechanism.removesuffix(FAMILY)
    plot_style = PLOT_STYLES.get(base, PlotStyle(base.upper(), SOFT, "x"))
    if base == mechanism:
        return plot_style
    return replace(
        plot_style, label=f"{plot_style.label} as published (not private)", dashed=True
    )


def label_of(mechanism: str) -> str:
    return plot_style_of(mechanism).label


def theme_css() -> str:
    """CSS that replaces the light colours of an SVG drawing by those of the page's theme.

    The selectors name no ancestor, because elements repeated with <use> have none.
    """
    inks = ("paper", "ink", "soft", "rule", "shade")
    named = [*inks, *PLOT_STYLES, *(f"ramp-{k}" for k in (1, 2, 3, 4))]
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
        "text.parse_math": False,  # the name of a data set may contain a dollar sign
        "xtick.major.size": 3,
        "ytick.major.size": 0,
        "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same everywhere
        "lines.linewidth": 1.7,
        "svg.fonttype": "none",  # keep text as text, not as outlines
        "svg.hashsalt": "nomadp",  # ids are the same in every run
        "savefig.dpi": 150,
    }
