"""The figure of benchmarks/answers.py: error by number of people, query and epsilon."""

import io
from typing import Any

import numpy as np
from answers import EPSILONS, PEOPLE
from answers_questions import QUESTIONS

from nomadp.paper.panels import canvas, styled
from nomadp.paper.style import INK, SOFT
from nomadp.paper.svg import cleaned

__all__ = ["drawn"]

SCORES = {
    "density": "density (JS distance)",
    "hotspots": "hotspots (1 - recall)",
    "trips": "trips (L1)",
    "lengths": "lengths (L1)",
}
STYLES: dict[str, dict[str, Any]] = {
    "direct smoothed": {"color": "#d55e00", "marker": "D"},
    "direct raw": {"color": "#d55e00", "marker": "D", "linestyle": ":", "mfc": "none"},
    "atlas estimated": {"color": "#5b2a86", "marker": "*", "markersize": 9},
    "atlas counted": {"color": "#5b2a86", "marker": "*", "linestyle": ":", "mfc": "none"},
    "oue": {"color": "#009e73", "marker": "o"},
    "ldptrace": {"color": "#0072b2", "marker": "v"},
    "flat": {"color": INK, "linestyle": (0, (7, 2, 1, 2)), "linewidth": 1.3},
    "no privacy": {"color": SOFT, "linestyle": (0, (1.2, 2.4)), "linewidth": 1.3},
}
"""The styles of the lines. Local hashing coincides with OUE, so only the tables have it."""


def drawn(results: dict[Any, Any], names: dict[str, str]) -> str:
    """The figure of means over the data sets, as reproducible SVG."""
    with styled():
        figure, panels = canvas(len(QUESTIONS) * len(EPSILONS), len(EPSILONS))
        places = [(question, epsilon) for question in QUESTIONS for epsilon in EPSILONS]
        for panel, (question, epsilon) in zip(panels, places, strict=True):
            for name, line_style in STYLES.items():
                line = _line(results, question, epsilon, name)
                panel.plot(PEOPLE, line, label=names[name], **{"markersize": 5, **line_style})
            panel.set(xscale="log", title=f"{SCORES[question]}, ε = {epsilon}")
            panel.set(ylim=(0, None), xlabel="people")
            panel.set_xticks(PEOPLE, ["3,000", "30,000", "300,000", "3 million"])
            panel.minorticks_off()
        lines, labels = panels[0].get_legend_handles_labels()
        figure.legend(lines, labels, loc="outside upper left", ncols=len(STYLES))
        svg = io.StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return cleaned(svg.getvalue(), "answers")


def _line(results: dict[Any, Any], question: str, epsilon: str, name: str) -> list[float]:
    errors = []
    for people in PEOPLE:
        scores = [
            cell[name][question]
            for (_, e, n), cell in results.items()
            if (e, n) == (epsilon, people)
        ]
        mean = float(np.mean(scores))
        errors.append(1 - mean if question == "hotspots" else mean)
    return errors
