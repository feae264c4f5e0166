"""Maps of estimates as a matplotlib figure, drawn from the same scenes as the page."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from nomadp.answers.frame import WIDTH
from nomadp.answers.numbers import percent
from nomadp.answers.scene import Scene, scene_of
from nomadp.answers.sentences import filter_text, headline
from nomadp.answers.steps import HATCHED, UNKNOWN
from nomadp.answers.summary import summary
from nomadp.answers.svg import arrow_head
from nomadp.errors import SchemaError
from nomadp.extras import require
from nomadp.locations import LocationSet
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["draw_maps"]

INCHES = 7.2
DPI = 160
BELOW, LINE = 0.85, 0.14
"""In inches: the space below a map, and a line of text above it."""
INK, SOFT, PAPER = (theme()["light"][name] for name in ("ink", "soft", "paper"))
PX = 72 * INCHES / WIDTH
"""Typographic points (1/72 inch) in one pixel of the scene."""


def draw_maps(path: Path, tables: "Sequence[Estimate]", locations: LocationSet | None) -> None:
    """Write a PNG with one map below another; estimates without places are left out."""
    require("plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scenes = [(table, scene_of(table, locations)) for table in tables]
    drawn = [(table, scene) for table, scene in scenes if scene is not None]
    if not drawn:
        raise SchemaError(
            "a figure needs an estimate with places and rows, got "
            f"{tables[0].kind} without them",
            code="nothing_to_draw",
            answer=tables[0].kind,
        )
    captions = [_caption(table, scene) for table, scene in drawn]
    heights = [
        INCHES * scene.frame.height / WIDTH + BELOW + _caption_inches(caption)
        for (_, scene), caption in zip(drawn, captions, strict=True)
    ]
    figure = Figure(figsize=(INCHES, sum(heights)), dpi=DPI, facecolor=PAPER)
    FigureCanvasAgg(figure)
    top = sum(heights)
    for (table, scene), height, caption in zip(drawn, heights, captions, strict=True):
        bottom, map_height = top - height + BELOW, height - BELOW - _caption_inches(caption)
        axes = figure.add_axes((0.02, bottom / sum(heights), 0.96, map_height / sum(heights)))
        _draw_scene(axes, scene)
        _draw_text(axes, table, scene, caption)
        top -= height
    figure.savefig(path, format="png", metadata={"Software": "NomaDP"})


def _draw_scene(axes: Any, scene: Scene) -> None:
    colour = theme()["light"]
    axes.set(
        xlim=(0, WIDTH), ylim=(scene.frame.height, 0), aspect="equal", xticks=[], yticks=[]
    )
    axes.set_facecolor(colour["map"])
    for side in axes.spines.values():
        side.set_color(colour["rule"])
    for ring in scene.outlines:
        axes.plot(*ring.T, color=colour["edge"], linewidth=0.6, zorder=1)
    for area in scene.areas:
        axes.add_patch(_area_patch(area.rings, **_style(area.step), zorder=2))
    axes.scatter(*scene.places.T, s=1.6, color=colour["place"], linewidths=0, zorder=3)
    _draw_dots(axes, scene)
    for track in scene.tracks:
        axes.plot(*track.line.T, color=colour["accent"], linewidth=0.7, alpha=0.5, zorder=4)
    _draw_flows(axes, scene)
    km, y = scene.frame.scale_bar_km, scene.frame.height - 16
    axes.plot([18, 18 + km * scene.frame.px_per_km], [y, y], color=SOFT, linewidth=1)
    axes.text(20, y - 6, f"{km:g} km", color=SOFT, fontsize=7)


def _draw_dots(axes: Any, scene: Scene) -> None:
    """Draw all dots of a colour at once, the colour of the largest dots last."""
    groups: dict[str, list[Any]] = {}
    for dot in scene.dots:
        groups.setdefault(dot.step, []).append(dot)
    for step, dots in sorted(groups.items(), key=lambda group: group[1][-1].radius):
        style = {"facecolor": SOFT} if step == "node" else _style(step)
        x, y = zip(*(dot.at for dot in dots), strict=True)
        sizes = [(2 * dot.radius * PX) ** 2 for dot in dots]
        axes.scatter(x, y, s=sizes, linewidths=0.4, **style, zorder=4)


def _area_patch(rings: Sequence[Any], **style: Any) -> Any:
    import numpy as np
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    codes = [
        code
        for ring in rings
        for code in (
            Outline.MOVETO,
            *[Outline.LINETO] * (len(ring) - 2),
            Outline.CLOSEPOLY,
        )
    ]
    return PathPatch(Outline(np.concatenate(rings), codes), **style)


def _style(step: str) -> dict[str, Any]:
    colour = theme()["light"]
    if step == HATCHED:
        return {"facecolor": colour["map"], "edgecolor": colour["hatch"], "hatch": "/////"}
    return {"facecolor": colour[step], "edgecolor": colour["map"]}


def _draw_flows(axes: Any, scene: Scene) -> None:
    from matplotlib.patches import FancyArrowPatch, PathPatch, Polygon
    from matplotlib.path import Path as Outline

    for curve in scene.curves:
        start, end = curve.ends
        path = Outline(
            [start, curve.bend, end], [Outline.MOVETO, Outline.CURVE3, Outline.CURVE3]
        )
        certainty = theme()["certainty"].get(curve.certainty, {"opacity": 0.35})
        style = {"color": theme()["light"]["flow"], "alpha": certainty["opacity"], "zorder": 5}
        if curve.is_below_baseline:  # a separate patch for the head, which has no dashes
            dashes = {"linestyle": (0, tuple(theme()["flow_dashes"])), "capstyle": "butt"}
            width = curve.width * PX
            axes.add_patch(PathPatch(path, fill=False, linewidth=width, **dashes, **style))
            axes.add_patch(Polygon(arrow_head(curve), linewidth=0, **style))
            continue
        axes.add_patch(
            FancyArrowPatch(
                path=path,
                arrowstyle=f"-|>,head_length={2 + curve.width * PX:.1f},"
                f"head_width={1 + 0.6 * curve.width * PX:.1f}",
                linewidth=curve.width * PX,
                mutation_scale=1,
                **style,
                shrinkA=0,
                shrinkB=0,
            )
        )


def _caption(table: "Estimate", scene: Scene) -> str:
    """The text between the title and the map."""
    about = table.about
    epsilon = f"ε = {about['epsilon']}" if "epsilon" in about else ""
    reports = f"{about['reports']:,} reports" if "reports" in about else ""
    facts = ", ".join(filter(None, (reports, epsilon, str(about.get("mechanism", "")))))
    return f"{fill(summary(table, scene), 120)}\n{facts}"


def _caption_inches(caption: str) -> float:
    """The height of the caption and the title."""
    return 0.42 + LINE * (caption.count("\n") + 1)


def _draw_text(axes: Any, table: "Estimate", scene: Scene, caption: str) -> None:
    axes_units = {"transform": axes.transAxes, "clip_on": False}
    inch = 1 / (INCHES * scene.frame.height / WIDTH)  # in heights of the axes
    title = 1 + (_caption_inches(caption) - 0.24) * inch
    axes.text(0, title, headline(table), fontsize=14, family="serif", color=INK, **axes_units)
    axes.text(0, 1 + 0.1 * inch, caption, fontsize=8, color=SOFT, **axes_units)
    has_legend = scene.has_shades and scene.steps is not None
    note = filter_text(table, scene)
    if scene.curves:
        has_intervals = scene.steps is None or scene.steps.has_intervals
        note += f" Wider: more trips{'; fainter: less certain' if has_intervals else ''}."
    note, left = (fill(note, 78), 0.42) if has_legend else (fill(note, 128), 0.0)
    if has_legend:
        _draw_legend(axes, scene)
    axes.text(left, -0.12 * inch, note, fontsize=7, color=SOFT, va="top", **axes_units)


def _draw_legend(axes: Any, scene: Scene) -> None:
    """Draw one row of steps for each certainty, and a hatched box beside them."""
    from matplotlib.patches import Rectangle

    inch = WIDTH / INCHES
    cell, row, top = 0.42 * inch, 0.12 * inch, scene.frame.height + 0.12 * inch

    def box(x: float, y: float, width: float, height: float, step: str) -> None:
        patch = Rectangle((x, y), width, height, clip_on=False, linewidth=0.5, **_style(step))
        axes.add_patch(patch)

    rules = theme()["certainty"]
    if scene.steps is not None and not scene.steps.has_intervals:
        rules = {UNKNOWN: rules[UNKNOWN]}
    for line, (certainty, rule) in enumerate(rules.items()):
        width = 4 * cell / rule["steps"]
        for k in range(rule["steps"]):
            box(k * width, top + line * row, width, row, f"{certainty}-{k + 1}")
    edges = scene.steps.edges if scene.steps is not None else ()
    for k, edge in enumerate(edges):
        x, y = (k + 1) * cell, top + (len(rules) + 0.9) * row
        axes.text(
            x, y, percent(float(edge)), fontsize=6, color=SOFT, ha="center", clip_on=False
        )
    if scene.steps is not None and HATCHED in scene.steps.names:
        box(4.5 * cell, top, cell, 3 * row, HATCHED)
        style = {"fontsize": 6, "color": SOFT, "ha": "center"}
        axes.text(5 * cell, top + 3.9 * row, "too uncertain", **style)
