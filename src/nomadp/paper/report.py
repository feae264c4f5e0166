"""One self-contained HTML file that reads like the results section of a paper.

Nothing runs in it, and the figures are drawn into the page itself.
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
from nomadp.paper.style import exchanged_css
from nomadp.paper.svg import embedded

__all__ = ["amount", "render"]

LEADING = {"ne": 0, "table2": 0, "frontier": 1}
"""Which sentence of which experiment stands at the top."""


def render(
    experiments: Sequence[Experiment], results: Results, drawings: Mapping[str, str]
) -> str:
    """The report on these experiments, each with its drawing as SVG."""
    named = {experiment.name: experiment for experiment in experiments}
    sections = [_section(each, results, drawings[each.name]) for each in experiments]
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
    return page("nomadp.paper", markup, text, extra_style=exchanged_css())


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
    """What to know before the details: the sentences that matter most."""
    told = {name: verdict(named[name], results) for name in LEADING if name in named}
    first = [sentences[LEADING[name]] for name, sentences in told.items()]
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
        '<div class="prose"><p>Beyond the paper: how many of the busiest places are found, how '
        "the density, the trips between areas and the lengths of steps compare, counted from "
        "the reports as they are. Marked is what an answer without information gets as well."
        f"</p></div>{''.join(scores)}</section>"
    )


def _claims(results: Results, complete: Sequence[str]) -> str:
    found = claims(results, complete)
    if not found:
        return ""
    return (
        '<section class="band" id="claims" aria-labelledby="claims-title">'
        '<h2 id="claims-title">What the paper concludes, and what we find</h2>'
        f'<div class="claims">{tables.claim_table(found)}</div></section>'
    )


def _contents(experiments: Sequence[Experiment]) -> str:
    links = [(each.name, each.title) for each in experiments]
    items = (f'<li><a href="#{escape(n)}">{escape(title)}</a></li>' for n, title in links)
    return f"<ol>{''.join(items)}</ol>"


def amount(results: Results) -> str:
    """How much was run, said so that nobody takes a look for a measurement."""
    plan = results.plan
    some = "all" if plan.trajectories is None else f"at most {plan.trajectories}"
    size = f"{plan.runs} runs, {some} trajectories of each set, ε = {', '.join(plan.epsilons)}"
    return size if plan.trajectories is None else f"A quick look, not a measurement: {size}"
