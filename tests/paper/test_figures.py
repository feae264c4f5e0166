"""Figures render, from the same numbers to the same bytes, and show what they should."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nomadp.paper.datasets import Catalogue
from nomadp.paper.figures import draw, rendered
from nomadp.paper.lines import AS_PUBLISHED
from nomadp.paper.panels import WORSE, styled
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS
from nomadp.paper.style import BASELINE_LABELS, PLOT_STYLES, label_of
from nomadp.paper.tasks import Paper

pytestmark = pytest.mark.slow  # CI runs it

pytest.importorskip("matplotlib", reason="matplotlib is not installed (the extra plot)")


@pytest.fixture(autouse=True)
def style() -> Iterator[None]:
    with styled():
        yield


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_a_figure_in_both_formats(
    name: str, written: dict[str, Path]
) -> None:
    assert written[f"{name}.png"].read_bytes().startswith(b"\x89PNG")
    assert written[f"{name}.svg"].read_text().startswith("<svg")


def test_the_same_numbers_give_the_same_bytes(
    results: Results, written: dict[str, Path]
) -> None:
    png, svg = rendered(EXPERIMENTS["directions"], results)
    assert png == written["directions.png"].read_bytes()
    assert svg == written["directions.svg"].read_text()


def test_ne_shows_every_mechanism_and_both_baselines(written: dict[str, Path]) -> None:
    text = re.findall(r"<text[^>]*>([^<]*)</text>", written["ne.svg"].read_text())
    assert {look.label for look in PLOT_STYLES.values()} <= set(text)
    assert {BASELINE_LABELS["constant"], BASELINE_LABELS["uniform"]} <= set(text)
    assert WORSE in text


@pytest.mark.parametrize("name", ["ne", "prq", "frontier"])
def test_decoded_reports_look_like_siblings_of_the_reports(name: str, results: Results) -> None:
    panel = draw(EXPERIMENTS[name], results).axes[0]
    shown = {bars.get_label(): bars.lines[0] for bars in panel.containers}
    for label in ("BRR", "ATLAS"):
        reported, decoded = shown[label], shown[f"{label} decoded"]
        assert reported.get_color() == decoded.get_color()
        assert reported.get_marker() == decoded.get_marker()
        assert (reported.get_linestyle(), decoded.get_linestyle()) == ("-", "--")
        baselines = [
            line for line in panel.get_lines() if line.get_label() in BASELINE_LABELS.values()
        ]
        assert len(baselines) == 2


def test_no_legend_is_wider_than_its_figure_or_covers_a_panel(results: Results) -> None:
    for name in ("ne", "frontier"):
        figure = draw(EXPERIMENTS[name], results)
        figure.canvas.draw()
        legend = figure.legends[0].get_window_extent()
        assert legend.x1 <= figure.bbox.x1
        assert all(legend.y0 >= panel.get_tightbbox().y1 for panel in figure.axes)


@pytest.mark.parametrize("name", ["ne", "table2"])
def test_a_single_set_of_ones_own_is_not_covered_by_the_legend(
    name: str, paper: Paper, data: Path
) -> None:
    north = Catalogue(data / "north", paper.plan.trajectories)
    alone = Results(north, paper.plan, paper.store)
    figure = draw(EXPERIMENTS[name], alone)
    figure.canvas.draw()
    (panel,) = figure.axes
    legend = figure.legends[0].get_window_extent()
    assert legend.x1 <= figure.bbox.x1
    assert legend.y0 >= panel.get_tightbbox().y1
    assert panel.get_window_extent().height >= 1.5 * figure.dpi


def test_lines_have_error_bars(results: Results) -> None:
    panel = draw(EXPERIMENTS["directions"], results).axes[0]
    bars = [container for container in panel.containers if container.has_yerr]
    assert len(bars) == 2


def test_panels_are_sets_and_scores(results: Results) -> None:
    titles = [panel.get_title(loc="left") for panel in draw(EXPERIMENTS["prq"], results).axes]
    assert titles == [
        f"{name}, within {radius} km" for name in ("north", "south") for radius in (1, 2, 4)
    ]


def test_radii_of_a_set_are_named_in_its_own_panel(results: Results) -> None:
    for panel in draw(EXPERIMENTS["radius"], results).axes:
        assert [text.get_text()[:3] for text in panel.get_legend().get_texts()] == ["R ="] * 4


def test_an_infinite_loss_is_drawn_at_the_edge(results: Results) -> None:
    figure = draw(EXPERIMENTS["frontier"], results)
    transcript = figure.axes[-2]
    (published,) = (
        line for line in transcript.get_lines() if line.get_label() == label_of(AS_PUBLISHED[0])
    )
    assert published.get_ydata()[0] == transcript.get_ylim()[1]
    assert "∞" in [text.get_text() for text in transcript.texts]


def test_drawing_leaves_the_users_settings_alone(results: Results) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    rendered(EXPERIMENTS["length"], results)
    assert dict(matplotlib.rcParams) == before
