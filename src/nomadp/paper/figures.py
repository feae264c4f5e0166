"""Draw one figure for each experiment with matplotlib, as PNG and SVG."""

import io
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from nomadp.mechanisms import kind_of
from nomadp.mechanisms.pivot.granularity import CANDIDATES
from nomadp.paper import panels as parts
from nomadp.paper.datasets import SetKey, load, set_label
from nomadp.paper.reference import direction_rows
from nomadp.paper.results import Results
from nomadp.paper.specs import Experiment
from nomadp.paper.style import INK, RAMP, SHADE, SOFT, plot_style_of
from nomadp.paper.svg import cleaned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "rendered"]

AUDITED = {
    "transcript_loss": "Audited: everything that is drawn",
    "final_loss": "Audited: the report alone",
}
READINGS = {
    "as_printed": "With the table's own arithmetic",
    "by_equation": "By the equation it cites",
}


def rendered(experiment: Experiment, results: Results) -> tuple[bytes, str]:
    """The figure of an experiment as PNG and as SVG; the same numbers give the same bytes."""
    with parts.styled():
        figure = draw(experiment, results)
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.set_layout_engine("none")  # keep the layout of the PNG in the SVG
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return png.getvalue(), cleaned(svg.getvalue(), experiment.name)


def draw(experiment: Experiment, results: Results) -> "Figure":
    special: dict[str, Callable[[Experiment, Results], Figure]] = {
        "table1": _draw_table_1,
        "table2": _draw_table_2,
        "frontier": _draw_frontier,
    }
    return special.get(experiment.name, _draw_panels)(experiment, results)


def _draw_panels(experiment: Experiment, results: Results) -> "Figure":
    """A panel for each data set and score."""
    places = [
        (base, metric)
        for base in experiment.bases(results.catalogue)
        for metric in results.metrics(experiment, base)
    ]
    figure, panels = parts.canvas(len(places), 3 if experiment.metric == "prq" else 2)
    for panel, (base, metric) in zip(panels, places, strict=True):
        _draw_lines(panel, experiment, results, base, metric)
        radius = metric.removeprefix("prq_").removesuffix("km")
        within = f", within {radius} km" if metric.startswith("prq_") else ""
        panel.set_title(set_label(base) + within)
    parts.legends(figure, panels, separate=_panels_differ(experiment, results))
    return figure


def _draw_lines(
    panel: "Axes", experiment: Experiment, results: Results, base: str, metric: str
) -> None:
    """Draw the lines and baselines of one set, and shade the scores worse than the constant.

    In an experiment with audits, draw only private mechanisms.
    """
    curves = [
        curve
        for curve in results.curves(experiment, base, metric)
        if not experiment.audited or kind_of(curve.series.mechanism).private
    ]
    numeric = not experiment.axis.variation
    parts.draw_curves(panel, curves, numeric=numeric)
    baselines = results.baseline_curves(experiment, base, metric)
    x = [float(tick) if numeric else float(k) for k, tick in enumerate(curves[0].x)]
    parts.draw_baselines(panel, baselines, x)
    parts.shade_worse(panel, baselines["constant"], x, below=metric.startswith("prq_"))
    panel.set(ylabel=parts.score_label(metric), xlabel=experiment.axis.label)


def _panels_differ(experiment: Experiment, results: Results) -> bool:
    """Whether some panels have lines that others do not have."""
    lines: dict[str, set[str]] = {}
    for point in results.placed(experiment):
        lines.setdefault(point.base, set()).add(point.series.label)
    return len(set(map(frozenset, lines.values()))) > 1


def _draw_table_1(experiment: Experiment, results: Results) -> "Figure":
    """Draw the printed values over the curves of both ways to compute them."""
    figure, panels = parts.canvas(2, 2)
    rows = direction_rows()
    epsilons = list(dict.fromkeys(row["epsilon"] for row in rows))
    for panel, (reading, title) in zip(panels, READINGS.items(), strict=True):
        for step, granularity in enumerate(CANDIDATES):
            column = [row for row in rows if row["granularity"] == granularity]
            colour, label = RAMP[step], f"g = {granularity}"
            panel.plot([row[reading] for row in column], color=colour, label=label)
            panel.plot(
                [row["printed"] for row in column],
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
    parts.legends(figure, panels)
    return figure


def _draw_table_2(experiment: Experiment, results: Results) -> "Figure":
    """Draw each mechanism's count difference, the printed one, and the baselines."""
    bases = experiment.bases(results.catalogue)
    figure, panels = parts.canvas(len(bases), 2)
    for panel, base in zip(panels, bases, strict=True):
        _count_panel(panel, experiment, results, base)
    parts.legends(figure, panels)
    return figure


def _count_panel(panel: "Axes", experiment: Experiment, results: Results, base: str) -> None:
    curves = results.curves(experiment, base, "acd")
    printed = results.printed_counts(base)
    plot_styles = [plot_style_of(curve.series.mechanism) for curve in curves]
    for k, (curve, plot_style) in enumerate(zip(curves, plot_styles, strict=True)):
        marks = parts.marks_of(plot_style, 7)
        panel.errorbar(curve.mean, [k], xerr=curve.sd, capsize=2, **marks)
        if curve.series.mechanism in printed:
            at = [printed[curve.series.mechanism]]
            panel.plot(at, [k], "x", color=INK, label="printed in the paper")
    for baseline, scores in results.baselines(SetKey(base)).items():
        panel.axvline(scores["acd"], zorder=1, **parts.baseline_line(baseline))
    panel.set_yticks(
        range(len(plot_styles)),
        [plot_style.label.replace(" (not private)", "") for plot_style in plot_styles],
    )
    panel.invert_yaxis()
    panel.set(title=set_label(base), xlabel=parts.score_label("acd"))
    _set_log_scale(panel)


def _set_log_scale(panel: "Axes") -> None:
    """Set a logarithmic scale with plain numbers; the constant is far from all others."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:g}"))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.grid(visible=False, axis="y")
    panel.grid(visible=True, axis="x")


def _draw_frontier(experiment: Experiment, results: Results) -> "Figure":
    """Draw error and range queries of the private mechanisms, and all audited losses."""
    bases = experiment.bases(results.catalogue)
    figure, panels = parts.canvas(2 * len(bases) + 2, 2)
    places = [
        (base, metric)
        for base in bases
        for radii_km in [load(results.catalogue, SetKey(base)).yardstick.radii_km]
        for metric in ("ne", f"prq_{radii_km[1]:g}km")
    ]
    for panel, (base, metric) in zip(panels, places, strict=False):
        _draw_lines(panel, experiment, results, base, metric)
        panel.set_title(set_label(base))
    for panel, kind in zip(panels[-2:], AUDITED, strict=True):
        _loss_panel(panel, experiment, results, kind)
    parts.legends(figure, panels)
    return figure


def _loss_panel(panel: "Axes", experiment: Experiment, results: Results, kind: str) -> None:
    """Draw the exact loss against the claimed epsilon; infinite losses are at the top."""
    claims = [float(epsilon) for epsilon in results.plan.audited_epsilons]
    losses_of: dict[str, list[float]] = {}
    for audit in experiment.audits(results.plan):
        loss = results.of(audit)[kind]
        losses = losses_of.setdefault(audit.mechanism, [])
        losses.append(math.inf if loss == "infinite" else float(loss))
    finite = [loss for losses in losses_of.values() for loss in losses if loss < math.inf]
    top = 1.12 * max(finite + claims)
    panel.fill_between([0, top], [0, top], top, color=SHADE, linewidth=0, zorder=0)
    panel.plot([0, top], [0, top], color=INK, linewidth=1.3, zorder=1)
    for mechanism, losses in losses_of.items():
        plot_style = plot_style_of(mechanism)
        panel.plot(
            claims,
            [min(loss, top) for loss in losses],
            linestyle=(0, (4, 2)) if plot_style.dashed else "-",
            label=plot_style.label,
            clip_on=False,
            **parts.marks_of(plot_style, 5.5),
        )
    panel.set(title=AUDITED[kind], xlabel="ε claimed", ylabel="exact loss")
    panel.set(xlim=(0, top), ylim=(0, top))
    panel.set_xticks(claims, results.plan.audited_epsilons)
    _note(panel, 0.02, 0.52, "more than claimed")
    if any(loss == math.inf for losses in losses_of.values() for loss in losses):
        _note(panel, 1.012, 1.02, "∞")


def _note(panel: "Axes", x: float, y: float, text: str) -> None:
    text_style = {"style": "italic", "fontsize": 8.5, "color": SOFT}
    panel.text(x, y, text, text_style, transform=panel.transAxes, va="top")
