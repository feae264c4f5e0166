"""The parts of all figures: panels with lines, baselines, and one legend above them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nomadp.paper import style
from nomadp.paper.lines import Series
from nomadp.paper.results import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "canvas",
    "draw_curves",
    "draw_baselines",
    "baseline_line",
    "legends",
    "marks_of",
    "score_label",
    "series_label",
    "shade_worse",
    "styled",
]

BASELINE_DASHES = {
    "constant": (0, (5, 3)),
    "uniform": (0, (1.2, 2.4)),
    "flat": (0, (7, 2, 1, 2)),
}
PANEL_INCHES = (4.5, 3.0)
LEGEND_INCHES, ROW_INCHES = 0.7, 0.21
ALONE_INCHES = 6.8
"""The width of a single panel, whose legend would not fit into the usual width."""
LABEL_INCHES, CHARACTER_INCHES = 0.62, 0.078
WORSE = "worse than the best constant"
VARIANT_DASHES = ("-", (0, (4, 2)), (0, (1.5, 1.5)))
DECODED_DASHES = (0, (6, 1.5, 1.5, 1.5))
MARKERS = "osDv"


@contextmanager
def styled() -> Iterator[None]:
    """Apply our matplotlib settings inside a ``with`` block."""
    import matplotlib

    with matplotlib.rc_context(style.rc_params()):
        yield


def canvas(count: int, columns: int) -> "tuple[Figure, list[Axes]]":
    """Create a figure of equally large panels, row by row, with room for a legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = -(-count // columns)
    width, height = PANEL_INCHES
    size = (ALONE_INCHES if count == 1 else width * columns), height * rows + LEGEND_INCHES
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.07, h_pad=0.09)  # type: ignore[union-attr, call-arg]
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in panels[count:]:
        panel.set_visible(False)
    return figure, panels[:count]


def draw_curves(panel: "Axes", curves: Sequence[Curve], *, numeric: bool) -> None:
    """Draw means with error bars of one standard deviation."""
    ticks = curves[0].x if curves else ()
    x = [float(tick) for tick in ticks] if numeric else list(range(len(ticks)))
    for curve in curves:
        panel.errorbar(x, curve.mean, yerr=curve.sd, **_line(curve.series))
    panel.set_xticks(x, ticks)
    panel.margins(x=0.04)


def draw_baselines(panel: "Axes", scores: dict[str, list[float]], x: Sequence[float]) -> None:
    """Draw the no-information baselines."""
    for name, values in scores.items():
        panel.plot(x, values, zorder=1.5, **baseline_line(name))


def baseline_line(name: str) -> dict[str, Any]:
    dashes, label = BASELINE_DASHES[name], style.BASELINE_LABELS[name]
    return {"color": style.INK, "linewidth": 1.3, "linestyle": dashes, "label": label}


def marks_of(plot_style: style.PlotStyle, size: float) -> dict[str, Any]:
    """matplotlib's options of a marker; those of the published form are hollow."""
    face = style.PAPER if plot_style.dashed else plot_style.colour
    shape = {"marker": plot_style.marker, "markersize": size}
    return {"color": plot_style.colour, "markerfacecolor": face, **shape}


def shade_worse(panel: "Axes", scores: list[float], x: Sequence[float], *, below: bool) -> None:
    """Shade the scores that are worse than a baseline, and keep the limits of the axes."""
    low, high = panel.get_ylim()
    left, right = panel.get_xlim()
    # Extend the baseline horizontally to both edges of the panel.
    ends = [left, *x, right], [scores[0], *scores, scores[-1]]
    panel.fill_between(
        *ends, low if below else high, color=style.SHADE, linewidth=0, zorder=0, label=WORSE
    )
    panel.set(ylim=(low, high), xlim=(left, right))


def legends(figure: "Figure", panels: Sequence["Axes"], *, separate: bool = False) -> None:
    """Add one legend above the panels, baselines last.

    With ``separate``, lines that are not in every panel go into a legend inside their panel.
    """
    handles_of = {panel: _handles(panel) for panel in panels if panel.get_visible()}
    named = dict(pair for handles in handles_of.values() for pair in handles.items())
    above = [
        label
        for label in named
        if not separate or all(label in handles for handles in handles_of.values())
    ]
    last = [label for label in (*style.BASELINE_LABELS.values(), WORSE) if label in above]
    order = [label for label in above if label not in last] + last
    columns = _columns_that_fit(order, figure.get_figwidth())
    if len(panels) == 1:  # the panel would have to shrink for the legend
        figure.set_figheight(PANEL_INCHES[1] + ROW_INCHES * -(-len(order) // columns))
    figure.legend(
        [named[label] for label in order],
        order,
        loc="outside upper left",
        ncols=columns,
        handlelength=2.4,
        columnspacing=1.8,
        labelspacing=0.4,
    )
    for panel, handles in handles_of.items():
        own = [label for label in handles if label not in above]
        if own:
            panel.legend(
                [handles[label] for label in own],
                own,
                fontsize=8,
                ncols=2,
                loc="lower right",
                bbox_to_anchor=(1, 0.08),
            )


def _columns_that_fit(labels: Sequence[str], width_inches: float) -> int:
    """The largest number of columns of a legend, filled column by column, that fits."""
    for columns in range(len(labels), 1, -1):
        rows = -(-len(labels) // columns)
        widest = [max(map(len, labels[k : k + rows])) for k in range(0, len(labels), rows)]
        if sum(LABEL_INCHES + CHARACTER_INCHES * count for count in widest) < width_inches:
            return len(widest)
    return 1


def _handles(panel: "Axes") -> dict[str, Any]:
    """The handle of each label in a legend: for an error bar, the line without whiskers."""
    handles, labels = panel.get_legend_handles_labels()
    lines = [getattr(handle, "lines", (handle,))[0] for handle in handles]
    return dict(zip(labels, lines, strict=True))


def series_label(series: Series) -> str:
    """The label in legends and tables; a mechanism's name alone means its reports."""
    label = series.label or style.plot_style_of(series.mechanism).label
    return f"{label} decoded" if series.decoded else label


def score_label(metric: str) -> str:
    """The label of a score on axes and in tables."""
    if metric.startswith("prq_"):
        return f"points within {metric.removeprefix('prq_').removesuffix('km')} km, %"
    if metric.startswith("recall_at_"):
        return f"recall of the {metric.removeprefix('recall_at_')} busiest places"
    return {
        "ne": "normalised error (NE)",
        "error_km": "mean error, km",
        "acd": "mean count difference (ACD)",
        "density_js": "density (Jensen-Shannon)",
        "flow_l1": "trips between areas (L1)",
        "step_w1_km": "step lengths (Wasserstein, km)",
    }[metric]


def _line(series: Series) -> dict[str, Any]:
    """matplotlib's options of a line; decoded reports differ only in their dashes."""
    plot_style = style.plot_style_of(series.mechanism)
    plain = series.step is None and not series.variant
    colour = (
        plot_style.colour if series.step is None else style.RAMP[series.step % len(style.RAMP)]
    )
    hollow = plot_style.dashed or series.variant > 0
    dashes: Any = VARIANT_DASHES[1 if plot_style.dashed else series.variant]
    if series.decoded:
        dashes = DECODED_DASHES
    return {
        "label": series_label(series),
        "color": colour,
        "marker": plot_style.marker if plain else MARKERS[series.step or series.variant],
        "linestyle": dashes,
        "markersize": 8 if plot_style.marker == "*" else 5,
        "markerfacecolor": style.PAPER if hollow else colour,
        "markeredgecolor": colour if hollow else style.PAPER,
        "markeredgewidth": 1.2 if hollow else 0.7,
        "elinewidth": 1.0,
        "capsize": 2.0,
        "zorder": 3 if series.mechanism in ("tp", "atp", "atlas") else 2.5,
    }
