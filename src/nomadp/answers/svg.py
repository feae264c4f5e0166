"""A scene as SVG that brings nothing but classes: the page's style gives it colours."""

from collections.abc import Callable, Iterable
from html import escape

import numpy as np

from nomadp.answers.frame import WIDTH
from nomadp.answers.scene import Curve, Scene
from nomadp.answers.steps import HATCHED
from nomadp.geometry import Floats
from nomadp.theme import theme

__all__ = ["dashes", "hatch", "head", "svg"]

Name = Callable[[int], str]
"""What a row is called when it is pointed at."""


def svg(scene: Scene, label: str, name: Name, key: str, ground: str = "") -> str:
    """``label`` is what is read out; ``key`` keeps ids apart; ``ground`` lies beneath."""
    frame = scene.frame
    parts = [
        f'<svg class="scene" viewBox="0 0 {WIDTH:g} {frame.height:.0f}" role="img" '
        f'aria-label="{escape(label)}" data-home="0 0 {WIDTH:g} {frame.height:.0f}">',
        hatch(key),
        ground,
        '<g class="outlines">',
        *(f'<path d="{_path([ring])}"/>' for ring in scene.outlines),
        '</g><g class="areas">',
        *(
            f'<path class="mark {each.step}" data-row="{each.row}" d="{_path(each.rings)}"'
            f"{_hatched(each.step, key)}>{_title(name(each.row))}</path>"
            for each in scene.areas
        ),
        f'</g><g class="places"><path d="{_dots(scene.places)}"/></g><g class="dots">',
        *(
            f'<circle class="{each.step}" cx="{each.at[0]:.1f}" cy="{each.at[1]:.1f}" '
            f'r="{each.radius:.1f}"/>'
            if each.row < 0
            else f'<circle class="mark {each.step}" data-row="{each.row}" '
            f'cx="{each.at[0]:.1f}" cy="{each.at[1]:.1f}" r="{each.radius:.1f}"'
            f"{_hatched(each.step, key)}>{_title(name(each.row))}</circle>"
            for each in scene.dots
        ),
        '</g><g class="tracks">',
        *(f'<path d="{_line(each.line)}"/>' for each in scene.tracks),
        '</g><g class="flows">',
        *(_flow(each, name(each.row)) for each in scene.curves),
        f"</g>{_scale_bar(scene)}</svg>",
    ]
    return "".join(parts)


def hatch(key: str) -> str:
    """What fills a mark of which there is too little to say."""
    apart, wide = theme()["hatch_px"]
    return (
        f'<defs><pattern id="{key}-hatch" width="{apart}" height="{apart}" '
        'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect class="hatch-ground" width="{apart}" height="{apart}"/>'
        f'<path class="hatch-line" d="M0 0V{apart}" stroke-width="{wide}"/></pattern></defs>'
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
    """Round caps of lines without length: thousands of places in one element."""
    return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in np.unique(points.round(1), axis=0))


def _flow(curve: Curve, title: str) -> str:
    """A curve, and a head where it ends; a wider one, unseen, is there to be touched."""
    (x1, y1), _ = curve.ends
    bend, corners = curve.bend, head(curve)
    neck = corners[1:].mean(axis=0)
    path = f"M{x1:.1f} {y1:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {neck[0]:.1f} {neck[1]:.1f}"
    dashed = dashes(curve.width) if curve.is_less else ""
    return (
        f'<g class="mark flow {curve.certainty}" data-row="{curve.row}">{_title(title)}'
        f'<path class="touch" d="{path}"/>'
        f'<path class="line" d="{path}" stroke-width="{curve.width:.1f}"{dashed}/>'
        f'<path class="head" d="{_line(corners)}Z"/></g>'
    )


def dashes(width: float) -> str:
    """Of what is less than flat: on and off, by the width of the line."""
    on, off = (f"{part * width:.1f}" for part in theme()["flow_dashes"])
    return f' stroke-dasharray="{on} {off}"'


def head(curve: Curve) -> Floats:
    """The corners of what shows where a flow ends, the tip first."""
    tip = np.array(curve.ends[1])
    way = tip - np.array(curve.bend)
    way = way / max(float(np.hypot(*way)), 1e-9)
    least, by_width = theme()["flow_head"]
    size = least + by_width * curve.width
    neck, side = tip - way * size, np.array([-way[1], way[0]]) * size * 0.5
    return np.array([tip, neck + side, neck - side])


def _scale_bar(scene: Scene) -> str:
    km = scene.frame.bar_km
    y, length = scene.frame.height - 18, km * scene.frame.km
    said = f"{km:g} km" if km >= 1 else f"{km * 1000:g} m"
    return (
        f'<g class="scale"><path d="M18 {y - 5:.0f}v5h{length:.1f}v-5"/>'
        f'<text x="24" y="{y - 7:.0f}">{said}</text></g>'
    )
