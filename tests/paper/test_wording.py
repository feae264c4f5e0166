"""What the report of the paper's experiments says of results that are made up."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from made_up_results import PLAN
from page_text import PageText

import nomadp
from nomadp.paper.report import amount, render
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS

Wording = Callable[..., None]

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1pt" height="1pt"/>'


def test_what_the_report_says(made_up: Results, wording: Wording) -> None:
    every = list(EXPERIMENTS.values())
    drawings = dict.fromkeys(EXPERIMENTS, SVG)
    text = str(PageText(render(every, made_up, drawings)))
    lines = text.split("\n")
    heads = {row for row in lines if " | " in row and not _is_of_numbers(row)}
    told = {line: None for line in lines if " | " not in line or line in heads}  # each once
    shown = [line for line in told if line[1:-1] not in told]
    wording("paper", "report", "\n".join(shown), hide={nomadp.__version__: "VERSION"})


def _is_of_numbers(row: str) -> bool:
    """A row of a table that has a number in its second cell."""
    cell = row.split(" | ")[1]
    return cell[:1].isdigit() or cell[:1] in "-∞"


def test_how_much_was_run(made_up: Results, wording: Wording) -> None:
    whole = replace(made_up, plan=replace(PLAN, trajectories=None))
    wording("paper", "amount", f"{amount(made_up)}\n{amount(whole)}")


@pytest.mark.slow
def test_what_figures_say(made_up: Results, wording: Wording) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (the extra plot)")
    from matplotlib.text import Text

    from nomadp.paper.figures import draw

    told = []
    for experiment in EXPERIMENTS.values():
        texts = {each.get_text() for each in draw(experiment, made_up).findobj(Text)}
        words = {each.replace("\n", " ") for each in texts if re.search(r"[a-z]{2}", each)}
        words -= {each for each in words if re.fullmatch(r"[A-Zg] = [\d.]+( km)?", each)}
        told += [experiment.name, *(f"  {each}" for each in sorted(words))]
    wording("paper", "figures", "\n".join(told))
