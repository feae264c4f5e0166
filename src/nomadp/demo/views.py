"""The collector's estimates as markup: for each query, maps of truth and estimate."""

from dataclasses import dataclass
from html import escape

from nomadp.answers.estimate import Estimate
from nomadp.answers.frame import Frame
from nomadp.answers.legend import legend
from nomadp.answers.scene import Scene, scene_of
from nomadp.answers.sections import html_table
from nomadp.answers.sentences import filter_text, row_label
from nomadp.answers.summary import summary
from nomadp.answers.svg import svg
from nomadp.datasets.city import synthetic_city
from nomadp.demo.projection import FlatProjection
from nomadp.demo.results import Pair, SimulatedSurvey, compared
from nomadp.locations import LocationSet

__all__ = ["View", "draw_views"]

LABELS = {
    "density": "Density",
    "flows": "Flows",
    "hotspots": "Hotspots",
    "trajectories": "Decoded trajectories",
}


@dataclass(frozen=True)
class View:
    """One query on the page."""

    name: str
    markup: str

    @property
    def label(self) -> str:
        return LABELS[self.name]


def draw_views(how: SimulatedSurvey, seed: int, places: int) -> tuple[View, ...]:
    """Draw every view. The maps refer to the page's drawing of streets and river."""
    locations = synthetic_city(seed, places=places, trips=1).locations
    return tuple(
        View(pair.name, _panel(pair, how, locations)) for pair in compared(how, seed, places)
    )


def _panel(pair: Pair, how: SimulatedSurvey, locations: LocationSet) -> str:
    by = "ATLAS" if pair.mechanism == "ATLAS" else f"the frequency oracle “{pair.mechanism}”"
    scene = scene_of(pair.estimate, locations)
    sentence = "" if pair.name == "trajectories" else summary(pair.estimate, scene)
    filter_note = filter_text(pair.estimate, scene)
    return (
        f'<div class="view" id="view-{pair.name}">'
        f'<p class="summary">{escape(f"{pair.comparison} {sentence}".strip())}</p>'
        '<div class="maps">'
        f"{_figure(pair.true, locations, f'{pair.name}-true', 'True', 'nobody sees this')}"
        f"{_figure(pair.estimate, locations, pair.name, 'Estimated', _source(by, how))}"
        f"</div>{legend(scene, f'{pair.name}-key') if scene is not None else ''}"
        f'<div class="filter"><p>{escape(filter_note)}</p></div>'
        "<details><summary>The numbers on the map</summary>"
        f'<div class="rows">{html_table(pair.estimate, scene)}</div></details></div>'
    )


def _source(by: str, how: SimulatedSurvey) -> str:
    return f"from {how.people:,} reports of {by} at ε = {how.epsilon}"


def _figure(table: Estimate, locations: LocationSet, key: str, name: str, note: str) -> str:
    scene = scene_of(table, locations)
    if scene is None:
        return ""
    label = LABELS[table.kind].lower()
    drawn = svg(
        scene,
        f"Map of {label}, {name.lower()}",
        lambda row: row_label(table, row),
        key,
        _ground(scene, locations),
    )
    return (
        f'<figure class="map"><figcaption><b>{escape(name)}</b> <span>{escape(note)}</span>'
        f"</figcaption>{drawn}</figure>"
    )


def _ground(scene: Scene, locations: LocationSet) -> str:
    """Refer to the page's ground, which is drawn in kilometres."""
    return f'<use href="#ground" transform="{_transform(scene.frame, locations)}"/>'


def _transform(frame: Frame, locations: LocationSet) -> str:
    """The transform from kilometres east and north of the middle to points of the picture."""
    flat = FlatProjection.of(locations)
    corners = frame.project(flat.degrees([[0.0, 0.0], [1.0, 1.0]]))
    (x0, y0), (x1, y1) = corners.tolist()
    return f"matrix({x1 - x0:.4f} 0 0 {y1 - y0:.4f} {x0:.2f} {y0:.2f})"
