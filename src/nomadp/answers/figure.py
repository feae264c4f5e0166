"""The maps of answers as a figure of matplotlib, drawn from the same scenes as the page."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from nomadp.answers.frame import WIDTH
from nomadp.answers.numbers import percent
from nomadp.answers.scene import Scene, scene_of
from nomadp.answers.sentences import filter_words, headline
from nomadp.answers.steps import HATCHED, UNKNOWN
from nomadp.answers.summary import summary
from nomadp.answers.svg import head
from nomadp.errors import SchemaError
from nomadp.extras import require
from nomadp.locations import LocationSet
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["draw"]

INCHES = 7.2
DPI = 160
BELOW, LINE = 0.85, 0.14
"""In inches: what stands under a map, and a line of what stands over it."""
INK, SOFT, PAPER = (theme()["light"][name] for name in ("ink", "soft", "paper"))
PX = 72 * INCHES / WIDTH
"""Points of print in a point of the scene."""


def draw(path: Path, tables: "Sequence[Estimate]", locations: LocationSet | None) -> None:
    """One map beneath another; answers that are of no place are left out."""
    require("plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scenes = [(each, scene_of(each, locations)) for each in tables]
    drawn = [(table, scene) for table, scene in scenes if scene is not None]
    if not drawn:
        raise SchemaError(
            f"a figure needs an answer with places and rows, got {tables[0].kind} without",
            code="nothing_to_draw",
            answer=tables[0].kind,
        )
    above = [_above(table, scene) for table, scene in drawn]
    heights = [
        INCHES * scene.frame.height / WIDTH + BELOW + _top(words)
        for (_, scene), words in zip(drawn, above, strict=True)
    ]
    figure = Figure(figsize=(INCHES, sum(heights)), dpi=DPI, facecolor=PAPER)
    FigureCanvasAgg(figure)
    top = sum(heights)
    for (table, scene), height, words in zip(drawn, heights, above, strict=True):
        inside = top - height + BELOW, height - BELOW - _top(words)
        axes = figure.add_axes((0.02, inside[0] / sum(heights), 0.96, inside[1] / sum(heights)))
        _draw_scene(axes, scene)
        _draw_words(axes, table, scene, words)
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
        axes.add_patch(_area(area.rings, **_paint(area.step), zorder=2))
    axes.scatter(*scene.places.T, s=1.6, color=colour["place"], linewidths=0, zorder=3)
    _draw_dots(axes, scene)
    for track in scene.tracks:
        axes.plot(*track.line.T, color=colour["accent"], linewidth=0.7, alpha=0.5, zorder=4)
    _draw_flows(axes, scene)
    km, y = scene.frame.bar_km, scene.frame.height - 16
    axes.plot([18, 18 + km * scene.frame.km], [y, y], color=SOFT, linewidth=1)
    axes.text(20, y - 6, f"{km:g} km", color=SOFT, fontsize=7)


def _draw_dots(axes: Any, scene: Scene) -> None:
    """All of a colour at once; the colours of the greatest are on top."""
    groups: dict[str, list[Any]] = {}
    for dot in scene.dots:
        groups.setdefault(dot.step, []).append(dot)
    for step, dots in sorted(groups.items(), key=lambda each: each[1][-1].radius):
        paint = {"facecolor": SOFT} if step == "node" else _paint(step)
        x, y = zip(*(dot.at for dot in dots), strict=True)
        sizes = [(2 * dot.radius * PX) ** 2 for dot in dots]
        axes.scatter(x, y, s=sizes, linewidths=0.4, **paint, zorder=4)


def _area(rings: Sequence[Any], **paint: Any) -> Any:
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
    return PathPatch(Outline(np.concatenate(rings), codes), **paint)


def _paint(step: str) -> dict[str, Any]:
    colour = theme()["light"]
    if step == HATCHED:
        return {"facecolor": colour["map"], "edgecolor": colour["hatch"], "hatch": "/////"}
    return {"facecolor": colour[step], "edgecolor": colour["map"]}


def _draw_flows(axes: Any, scene: Scene) -> None:
    from matplotlib.patches import FancyArrowPatch, PathPatch, Polygon
    from matplotlib.path import Path as Outline

    for curve in scene.curves:
        start, end = curve.ends
        way = Outline(
            [start, curve.bend, end], [Outline.MOVETO, Outline.CURVE3, Outline.CURVE3]
        )
        rule = theme()["certainty"].get(curve.certainty, {"opacity": 0.35})
        paint = {"color": theme()["light"]["flow"], "alpha": rule["opacity"], "zorder": 5}
        if curve.is_less:  # apart from its head, which has no dashes
            dashes = {"linestyle": (0, tuple(theme()["flow_dashes"])), "capstyle": "butt"}
            wide = {"linewidth": curve.width * PX}
            axes.add_patch(PathPatch(way, fill=False, **wide, **dashes, **paint))
            axes.add_patch(Polygon(head(curve), linewidth=0, **paint))
            continue
        axes.add_patch(
            FancyArrowPatch(
                path=way,
                arrowstyle=f"-|>,head_length={2 + curve.width * PX:.1f},"
                f"head_width={1 + 0.6 * curve.width * PX:.1f}",
                linewidth=curve.width * PX,
                mutation_scale=1,
                **paint,
                shrinkA=0,
                shrinkB=0,
            )
        )


def _above(table: "Estimate", scene: Scene) -> str:
    """What stands between the title and the map."""
    about = table.about
    by = f"ε = {about['epsilon']}" if "epsilon" in about else ""
    of = f"{about['reports']:,} reports" if "reports" in about else ""
    facts = ", ".join(filter(None, (of, by, str(about.get("mechanism", "")))))
    return f"{fill(summary(table, scene), 120)}\n{facts}"


def _top(above: str) -> float:
    """Inches over a map: for so many lines, and the title over them."""
    return 0.42 + LINE * (above.count("\n") + 1)


def _draw_words(axes: Any, table: "Estimate", scene: Scene, above: str) -> None:
    at = {"transform": axes.transAxes, "clip_on": False}
    line = 1 / (INCHES * scene.frame.height / WIDTH)  # an inch
    title = 1 + (_top(above) - 0.24) * line
    axes.text(0, title, headline(table), fontsize=14, family="serif", color=INK, **at)
    axes.text(0, 1 + 0.1 * line, above, fontsize=8, color=SOFT, **at)
    stepped = scene.is_stepped and scene.steps is not None
    words = filter_words(table, scene)
    if scene.curves:
        sure = scene.steps is None or scene.steps.has_intervals
        words += f" Wider: more trips{'; fainter: less certain' if sure else ''}."
    words, left = (fill(words, 78), 0.42) if stepped else (fill(words, 128), 0.0)
    if stepped:
        _draw_legend(axes, scene)
    axes.text(left, -0.12 * line, words, fontsize=7, color=SOFT, va="top", **at)


def _draw_legend(axes: Any, scene: Scene) -> None:
    """Rows of ever fewer steps, and a hatched one beside them."""
    from matplotlib.patches import Rectangle

    inch = WIDTH / INCHES
    cell, row, top = 0.42 * inch, 0.12 * inch, scene.frame.height + 0.12 * inch

    def box(x: float, y: float, width: float, height: float, step: str) -> None:
        patch = Rectangle((x, y), width, height, clip_on=False, linewidth=0.5, **_paint(step))
        axes.add_patch(patch)

    rules = theme()["certainty"]
    if scene.steps is not None and not scene.steps.has_intervals:
        rules = {UNKNOWN: rules[UNKNOWN]}
    for line, (word, rule) in enumerate(rules.items()):
        wide = 4 * cell / rule["steps"]
        for k in range(rule["steps"]):
            box(k * wide, top + line * row, wide, row, f"{word}-{k + 1}")
    edges = scene.steps.edges if scene.steps is not None else ()
    for k, edge in enumerate(edges):
        x, y = (k + 1) * cell, top + (len(rules) + 0.9) * row
        axes.text(
            x, y, percent(float(edge)), fontsize=6, color=SOFT, ha="center", clip_on=False
        )
    if scene.steps is not None and HATCHED in scene.steps.names:
        box(4.5 * cell, top, cell, 3 * row, HATCHED)
        said = {"fontsize": 6, "color": SOFT, "ha": "center"}
        axes.text(5 * cell, top + 3.9 * row, "too uncertain", **said)
