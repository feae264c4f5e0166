"""The report: one self-contained HTML file, similar to the results section of a paper.

It contains no scripts, and its figures are inline SVG.
"""

from collections.abc import Mapping, Sequence
from html import escape

import nomadp
from nomadp.page import page, paragraphs
from nomadp.paper import tables
from nomadp.paper.claims import claims
from nomadp.paper.results import Results
from nomadp.paper.sentences import verdict
from nomadp.paper.specs import FIXED_EPSILON, Experiment
from nomadp.paper.style import theme_css
from nomadp.paper.svg import embedded

__all__ = ["amount", "render"]

LEADING = {"ne": 0, "table2": 0, "frontier": 1}
"""The sentences at the top of the report: an experiment, and the index of its sentence."""


def render(
    experiments: Sequence[Experiment], results: Results, drawings: Mapping[str, str]
) -> str:
    """The HTML page on these experiments; ``drawings`` has the SVG of each."""
    named = {experiment.name: experiment for experiment in experiments}
    sections = [
        _section(experiment, results, drawings[experiment.name]) for experiment in experiments
    ]
    markup = {
        "contents": _contents(experiments),
        "opening": _opening(named, results),
        "datasets": tables.dataset_table(results),
        "claims": _claims(results, list(named)),
        "scores": _scores(results) if "ne" in named else "",
        "sections": "".join(sections),
    }
    kind = "simulated data" if results.catalogue.simulated else "data from files"
    text = {"version": nomadp.__version__, "kind": kind, "amount": amount(results)}
    return page("nomadp.paper", markup, text, extra_style=theme_css())


def _section(experiment: Experiment, results: Results, drawing: str) -> str:
    name, title = escape(experiment.name), escape(experiment.title)
    described = f"{experiment.title}: the numbers are in the table below the figure"
    return (
        f'<section class="band" id="{name}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{title}</h2>'
        f'<p class="eyebrow">{name} · {escape(experiment.paper)}</p>'
        f'<div class="prose">{paragraphs(verdict(experiment, results))}</div>'
        f"<figure>{embedded(drawing, described)}</figure>"
        f"<details><summary>The numbers ({name}.csv, {name}.json)</summary>"
        f"{_tables(experiment, results)}</details></section>"
    )


def _tables(experiment: Experiment, results: Results) -> str:
    if experiment.name == "table1":
        return tables.direction_table()
    numbers = tables.curve_tables(experiment, results)
    return numbers + (tables.audit_table(experiment, results) if experiment.audited else "")


def _opening(named: Mapping[str, Experiment], results: Results) -> str:
    """The summary at the top: the most important sentences, and the first table."""
    first = [
        verdict(named[name], results)[index] for name, index in LEADING.items() if name in named
    ]
    beaten = tables.beaten_table(results) if "ne" in named else ""
    return f'<div class="short"><div class="opening">{paragraphs(first)}</div>{beaten}</div>'


def _scores(results: Results) -> str:
    if FIXED_EPSILON not in results.plan.epsilons:
        return ""
    scores = (
        tables.score_table(results, base, FIXED_EPSILON) for base in results.catalogue.names
    )
    return (
        '<section class="band" id="scores" aria-labelledby="scores-title">'
        f'<h2 id="scores-title">Every score at ε = {FIXED_EPSILON}</h2>'
        '<div class="prose"><p>Scores that the paper does not have: the recall of the busiest '
        "places, and the errors of the density, of the trips between areas and of the step "
        "lengths. They are computed from reports without decoding. Scores that are no better "
        "than an answer without information are marked."
        f"</p></div>{''.join(scores)}</section>"
    )


def _claims(results: Results, complete: Sequence[str]) -> str:
    judged = claims(results, complete)
    if not judged:
        return ""
    return (
        '<section class="band" id="claims" aria-labelledby="claims-title">'
        '<h2 id="claims-title">The conclusions of the paper, and our results</h2>'
        f'<div class="claims">{tables.claim_table(judged)}</div></section>'
    )


def _contents(experiments: Sequence[Experiment]) -> str:
    links = [(experiment.name, experiment.title) for experiment in experiments]
    items = (f'<li><a href="#{escape(n)}">{escape(title)}</a></li>' for n, title in links)
    return f"<ol>{''.join(items)}</ol>"


def amount(results: Results) -> str:
    """The size of the run; a quick run is marked, so that nobody cites its numbers."""
    plan = results.plan
    count = "all" if plan.trajectories is None else f"at most {plan.trajectories}"
    size = f"{plan.runs} runs, {count} trajectories of each set, ε = {', '.join(plan.epsilons)}"
    return size if plan.trajectories is None else f"A quick look, not a measurement: {size}"
