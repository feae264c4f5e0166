"""A scene as SVG without colours: the style of the page has rules for its classes."""

from collections.abc import Callable, Iterable
from html import escape

import numpy as np

from nomadp.answers.frame import WIDTH
from nomadp.answers.scene import Curve, Scene
from nomadp.answers.steps import HATCHED
from nomadp.geometry import Floats
from nomadp.theme import theme

__all__ = ["arrow_head", "dash_attribute", "hatch_pattern", "svg"]

Name = Callable[[int], str]
"""The tooltip of a row."""


def svg(scene: Scene, label: str, name: Name, key: str, background: str = "") -> str:
    """The scene as an SVG element.

    ``label`` is for screen readers, ``key`` makes ids unique, and ``background`` is markup.
    """
    frame = scene.frame
    parts = [
        f'<svg class="scene" viewBox="0 0 {WIDTH:g} {frame.height:.0f}" role="img" '
        f'aria-label="{escape(label)}" data-home="0 0 {WIDTH:g} {frame.height:.0f}">',
        hatch_pattern(key),
        background,
        '<g class="outlines">',
        *(f'<path d="{_path([ring])}"/>' for ring in scene.outlines),
        '</g><g class="areas">',
        *(
            f'<path class="mark {area.step}" data-row="{area.row}" d="{_path(area.rings)}"'
            f"{_hatched(area.step, key)}>{_title(name(area.row))}</path>"
            for area in scene.areas
        ),
        f'</g><g class="places"><path d="{_dots(scene.places)}"/></g><g class="dots">',
        *(
            f'<circle class="{dot.step}" cx="{dot.at[0]:.1f}" cy="{dot.at[1]:.1f}" '
            f'r="{dot.radius:.1f}"/>'
            if dot.row < 0
            else f'<circle class="mark {dot.step}" data-row="{dot.row}" '
            f'cx="{dot.at[0]:.1f}" cy="{dot.at[1]:.1f}" r="{dot.radius:.1f}"'
            f"{_hatched(dot.step, key)}>{_title(name(dot.row))}</circle>"
            for dot in scene.dots
        ),
        '</g><g class="tracks">',
        *(f'<path d="{_line(track.line)}"/>' for track in scene.tracks),
        '</g><g class="flows">',
        *(_flow(curve, name(curve.row)) for curve in scene.curves),
        f"</g>{_scale_bar(scene)}</svg>",
    ]
    return "".join(parts)


def hatch_pattern(key: str) -> str:
    """The definition of the pattern that fills marks that are too uncertain to show."""
    distance, line_width = theme()["hatch_px"]
    return (
        f'<defs><pattern id="{key}-hatch" width="{distance}" height="{distance}" '
        'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect class="hatch-ground" width="{distance}" height="{distance}"/>'
        f'<path class="hatch-line" d="M0 0V{distance}" stroke-width="{line_width}"/>'
        "</pattern></defs>"
    )


def _hatched(step: str, key: str) -> str:
    return f' fill="url(#{key}-hatch)"' if step == HATCHED else ""


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _path(rings: Iterable[Floats]) -> str:
    return "".join(f"{_line(ring)}Z" for ring in rings)


def _line(points: Floats) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _dots(points: Floats) -> str:
    """Lines without length, whose round caps are dots: one element for thousands of places."""
    return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in np.unique(points.round(1), axis=0))


def _flow(curve: Curve, title: str) -> str:
    """A curve with an arrow head, and a wider invisible curve that is easier to point at."""
    (x1, y1), _ = curve.ends
    bend, corners = curve.bend, arrow_head(curve)
    neck = corners[1:].mean(axis=0)
    path = f"M{x1:.1f} {y1:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {neck[0]:.1f} {neck[1]:.1f}"
    dashed = dash_attribute(curve.width) if curve.is_below_baseline else ""
    return (
        f'<g class="mark flow {curve.certainty}" data-row="{curve.row}">{_title(title)}'
        f'<path class="touch" d="{path}"/>'
        f'<path class="line" d="{path}" stroke-width="{curve.width:.1f}"{dashed}/>'
        f'<path class="head" d="{_line(corners)}Z"/></g>'
    )


def dash_attribute(width: float) -> str:
    """The dashes of flows below the baseline, in proportion to the width of the line."""
    on, off = (f"{part * width:.1f}" for part in theme()["flow_dashes"])
    return f' stroke-dasharray="{on} {off}"'


def arrow_head(curve: Curve) -> Floats:
    """The corners of the arrow head at the end of a flow, the tip first."""
    tip = np.array(curve.ends[1])
    direction = tip - np.array(curve.bend)
    direction = direction / max(float(np.hypot(*direction)), 1e-9)
    least, by_width = theme()["flow_head"]
    size = least + by_width * curve.width
    neck = tip - direction * size
    side = np.array([-direction[1], direction[0]]) * size * 0.5
    return np.array([tip, neck + side, neck - side])


def _scale_bar(scene: Scene) -> str:
    km = scene.frame.scale_bar_km
    y, length = scene.frame.height - 18, km * scene.frame.px_per_km
    label = f"{km:g} km" if km >= 1 else f"{km * 1000:g} m"
    return (
        f'<g class="scale"><path d="M18 {y - 5:.0f}v5h{length:.1f}v-5"/>'
        f'<text x="24" y="{y - 7:.0f}">{label}</text></g>'
    )
