"""One figure for each experiment, drawn with matplotlib and kept as PNG and SVG."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from nomadp.paper.datasets import set_label
from nomadp.paper.panels import (
    canvas,
    draw_curves,
    draw_floors,
    legends,
    score_label,
    shade_worse,
    styled,
)
from nomadp.paper.results import Results
from nomadp.paper.specs import Experiment
from nomadp.paper.svg import cleaned
from nomadp.paper.tallies import draw_frontier, draw_table_1, draw_table_2

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "rendered"]


def rendered(experiment: Experiment, results: Results) -> tuple[bytes, str]:
    """The figure of an experiment as PNG and as SVG; the same bytes from the same numbers."""
    with styled():
        figure = draw(experiment, results)
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.set_layout_engine("none")  # as it is now, in both
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return png.getvalue(), cleaned(svg.getvalue(), experiment.name)


def draw(experiment: Experiment, results: Results) -> "Figure":
    drawn: dict[str, Callable[[Experiment, Results], Figure]] = {
        "table1": draw_table_1,
        "table2": draw_table_2,
        "frontier": draw_frontier,
    }
    return drawn.get(experiment.name, _draw_panels)(experiment, results)


def _draw_panels(experiment: Experiment, results: Results) -> "Figure":
    """A panel for each data set and score, with the floors and what is worse than them."""
    places = [
        (base, metric)
        for base in experiment.bases(results.catalogue)
        for metric in results.metrics(experiment, base)
    ]
    columns = 3 if experiment.metric == "prq" else min(2, len(places))
    figure, panels = canvas(-(-len(places) // columns), columns)
    for panel in panels[len(places) :]:
        panel.set_visible(False)
    numeric = not experiment.axis.variation
    for panel, (base, metric) in zip(panels, places, strict=False):
        curves = results.curves(experiment, base, metric)
        draw_curves(panel, curves, numeric=numeric)
        floors = results.floor_curves(experiment, base, metric)
        x = (
            [float(e) for e in curves[0].x]
            if numeric
            else [*map(float, range(len(curves[0].x)))]
        )
        draw_floors(panel, floors, x)
        shade_worse(panel, floors["constant"], x, below=metric.startswith("prq_"))
        panel.set(
            title=_title(base, metric), ylabel=score_label(metric), xlabel=experiment.axis.label
        )
    legends(figure, panels, apart=_differ(experiment, results))
    return figure


def _differ(experiment: Experiment, results: Results) -> bool:
    """Whether panels have lines of their own."""
    lines: dict[str, set[str]] = {}
    for each in results.placed(experiment):
        lines.setdefault(each.base, set()).add(each.series.label)
    return len(set(map(frozenset, lines.values()))) > 1


def _title(base: str, metric: str) -> str:
    radius = metric.removeprefix("prq_").removesuffix("km")
    return set_label(base) + (f", within {radius} km" if metric.startswith("prq_") else "")
