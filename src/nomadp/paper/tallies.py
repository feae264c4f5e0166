"""The figures that are not lines over epsilon alone: both tables, and the frontier."""

import math
from typing import TYPE_CHECKING

from nomadp.mechanisms.pivot.granularity import CANDIDATES
from nomadp.paper.cells import REGISTERED
from nomadp.paper.datasets import SetKey, load, set_label
from nomadp.paper.panels import (
    FLOOR_DASHES,
    canvas,
    draw_curves,
    draw_floors,
    legends,
    score_label,
    shade_worse,
)
from nomadp.paper.reference import direction_rows
from nomadp.paper.results import Results
from nomadp.paper.specs import Experiment
from nomadp.paper.style import FLOOR_LABELS, INK, PAPER, RAMP, SHADE, SOFT, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_frontier", "draw_table_1", "draw_table_2"]

AUDITED = {
    "transcript_loss": "Audited: everything that is drawn",
    "final_loss": "Audited: the report alone",
}
READINGS = {
    "as_printed": "With the table's own arithmetic",
    "by_equation": "By the equation it cites",
}


def draw_table_1(experiment: Experiment, results: Results) -> "Figure":
    """Printed values on the curves of either reading; the chosen number of sectors on top."""
    figure, panels = canvas(1, 2)
    rows = direction_rows()
    epsilons = list(dict.fromkeys(row["epsilon"] for row in rows))
    for panel, (reading, title) in zip(panels, READINGS.items(), strict=True):
        for step, granularity in enumerate(CANDIDATES):
            of = [row for row in rows if row["granularity"] == granularity]
            colour, label = RAMP[step], f"g = {granularity}"
            panel.plot([row[reading] for row in of], color=colour, label=label)
            panel.plot(
                [row["printed"] for row in of],
                linestyle="none",
                marker="osDv"[step],
                markersize=6,
                markerfacecolor="none",
                markeredgecolor=colour,
                label="printed in the paper, each g" if step == len(CANDIDATES) - 1 else None,
            )
        panel.set_xticks(range(len(epsilons)), epsilons)
        panel.set(title=title, xlabel="ε of the whole trajectory", ylim=(0, None))
        panel.set_ylabel("probability that a direction survives")
    legends(figure, panels)
    return figure


def draw_table_2(experiment: Experiment, results: Results) -> "Figure":
    """Every mechanism's count difference, the printed one beside it, and the floors."""
    bases = experiment.bases(results.catalogue)
    columns = min(2, len(bases))
    figure, panels = canvas(-(-len(bases) // columns), columns)
    for panel in panels[len(bases) :]:
        panel.set_visible(False)
    for panel, base in zip(panels, bases, strict=False):
        _count_panel(panel, experiment, results, base)
    legends(figure, panels)
    return figure


def _count_panel(panel: "Axes", experiment: Experiment, results: Results, base: str) -> None:
    curves = results.curves(experiment, base, "acd")
    printed = results.printed_counts(base)
    looks = [look_of(curve.series.mechanism) for curve in curves]
    for k, (curve, look) in enumerate(zip(curves, looks, strict=True)):
        panel.errorbar(
            curve.mean,
            [k],
            xerr=curve.sd,
            color=look.colour,
            marker=look.marker,
            markersize=7,
            markerfacecolor=PAPER if look.dashed else look.colour,
            capsize=2,
        )
        if curve.series.mechanism in printed:
            at = [printed[curve.series.mechanism]]
            panel.plot(at, [k], "x", color=INK, label="printed in the paper")
    for floor, scores in results.floors(SetKey(base)).items():
        panel.axvline(
            scores["acd"],
            color=INK,
            linewidth=1.3,
            linestyle=FLOOR_DASHES[floor],
            label=FLOOR_LABELS[floor],
            zorder=1,
        )
    panel.set_yticks(range(len(looks)), [_short(look.label) for look in looks])
    panel.invert_yaxis()
    panel.set(title=set_label(base), xlabel=score_label("acd"))
    _count_by_factors(panel)


def _count_by_factors(panel: "Axes") -> None:
    """Counts on a logarithmic scale with plain numbers: the constant is far off."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:g}"))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.grid(visible=False, axis="y")
    panel.grid(visible=True, axis="x")


def draw_frontier(experiment: Experiment, results: Results) -> "Figure":
    """Error and range queries of what keeps its promise, and the promise itself, audited."""
    bases = experiment.bases(results.catalogue)
    figure, panels = canvas(len(bases) + 1, 2)
    places = [
        (base, metric)
        for base in bases
        for radii_km in [load(results.catalogue, SetKey(base)).yardstick.radii_km]
        for metric in ("ne", f"prq_{radii_km[1]:g}km")
    ]
    for panel, (base, metric) in zip(panels, places, strict=False):
        curves = [
            curve
            for curve in results.curves(experiment, base, metric)
            if REGISTERED[curve.series.mechanism].private
        ]
        draw_curves(panel, curves, numeric=True)
        x = [float(each) for each in curves[0].x]
        floors = results.floor_curves(experiment, base, metric)
        draw_floors(panel, floors, x)
        shade_worse(panel, floors["constant"], x, below=metric != "ne")
        panel.set(title=set_label(base), ylabel=score_label(metric))
        panel.set_xlabel(experiment.axis.label)
    for panel, kind in zip(panels[-2:], AUDITED, strict=True):
        _loss_panel(panel, experiment, results, kind)
    legends(figure, panels)
    return figure


def _loss_panel(panel: "Axes", experiment: Experiment, results: Results, kind: str) -> None:
    """The exact loss against what is claimed; what is infinite stands at the upper edge."""
    claims = [float(epsilon) for epsilon in results.plan.audited_epsilons]
    found: dict[str, list[float]] = {}
    for audit in experiment.audits(results.plan):
        loss = results.loss(audit)[kind]
        of = found.setdefault(audit.mechanism, [])
        of.append(math.inf if loss == "infinite" else float(loss))
    finite = [loss for losses in found.values() for loss in losses if loss < math.inf]
    top = 1.12 * max(finite + claims)
    panel.fill_between([0, top], [0, top], top, color=SHADE, linewidth=0, zorder=0)
    panel.plot([0, top], [0, top], color=INK, linewidth=1.3, zorder=1)
    for mechanism, losses in found.items():
        look = look_of(mechanism)
        panel.plot(
            claims,
            [min(loss, top) for loss in losses],
            color=look.colour,
            marker=look.marker,
            markersize=5.5,
            linestyle=(0, (4, 2)) if look.dashed else "-",
            markerfacecolor=PAPER if look.dashed else look.colour,
            label=look.label,
            clip_on=False,
        )
    panel.set(title=AUDITED[kind], xlabel="ε claimed", ylabel="exact loss")
    panel.set(xlim=(0, top), ylim=(0, top))
    panel.set_xticks(claims, results.plan.audited_epsilons)
    _note(panel, 0.02, 0.52, "more than claimed")
    if any(loss == math.inf for losses in found.values() for loss in losses):
        _note(panel, 1.012, 1.02, "∞")


def _note(panel: "Axes", x: float, y: float, text: str) -> None:
    look = {"style": "italic", "fontsize": 8.5, "color": SOFT}
    panel.text(x, y, text, look, transform=panel.transAxes, va="top")


def _short(label: str) -> str:
    return label.replace(" (not private)", "")
