"""The drawing of an estimate as JSON: marks in degrees, rows of the table, and sentences.

Python alone decides what is drawn, in which colours and with which sentences. The pages of a
collector only project the marks onto their map.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.answers.frame import Frame
from nomadp.answers.numbers import PERCENT
from nomadp.answers.picture import with_shapes
from nomadp.answers.scene import Curve, Scene, scene_of
from nomadp.answers.sections import text_table
from nomadp.answers.sentences import facts, filter_text, headline, row_label
from nomadp.answers.summary import summary
from nomadp.locations import LocationSet
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["drawing_of"]

CURVE_SEGMENTS = 16
"""Straight segments of a curve: enough to look round."""
MAX_LABELS = 60
_TRAJECTORY_COLUMNS = ("From", "To", "Points", "Reports", "Credible radius")


def drawing_of(table: "Estimate", locations: LocationSet) -> dict[str, Any]:
    """Sentences, rows, and marks; each mark has the row of the table that it shows."""
    shaped = with_shapes(table, locations)
    scene = scene_of(shaped, locations)
    texts = {
        "title": headline(shaped),
        "summary": summary(shaped, scene),
        "filter": filter_text(shaped, scene),
        "facts": [list(fact) for fact in facts(shaped)],
        **text_table(shaped, scene),
    }
    if scene is None:
        return texts
    if table.kind == "trajectories":
        return texts | _trajectories(shaped, scene.frame)
    return texts | _marks(shaped, scene)


def _marks(table: "Estimate", scene: Scene) -> dict[str, Any]:
    frame = scene.frame

    def mark(row: int, **style: Any) -> dict[str, Any]:
        return {"row": row, "name": row_label(table, row) if row >= 0 else "", **style}

    return {
        "edges": [] if scene.steps is None else scene.steps.edges.tolist(),
        "has_intervals": scene.steps is None or scene.steps.has_intervals,
        "outlines": [_degrees(frame, ring) for ring in scene.outlines],
        "areas": [
            mark(area.row, step=area.step, rings=[_degrees(frame, ring) for ring in area.rings])
            for area in scene.areas
        ],
        "dots": [
            mark(dot.row, step=dot.step, size=round(dot.radius, 2), at=at)
            for dot, at in zip(
                scene.dots, _degrees(frame, [dot.at for dot in scene.dots]), strict=True
            )
        ],
        "curves": [
            mark(
                curve.row,
                sure=curve.certainty,
                less=curve.is_below_baseline,
                width=curve.width,
                line=_curve_line(frame, curve),
            )
            for curve in scene.curves
        ],
        "tracks": [mark(track.row, line=_degrees(frame, track.line)) for track in scene.tracks],
        "labels": _labels(table),
    }


def _labels(table: "Estimate") -> list[dict[str, Any]]:
    """Names of polygons, and where they stand; cells of a grid or of H3 have no labels."""
    rule = str(table.about.get("areas", table.about.get("zones", "")))
    if table.shapes is None or not rule.startswith("polygons:"):
        return []
    named = table.shapes.outlines.keys() & table.shapes.places.keys()
    if len(named) > MAX_LABELS:
        return []
    places = table.shapes.places.items()
    return [
        {"name": name, "at": [round(lng, 6), round(lat, 6)]}
        for name, (lat, lng) in places
        if name in named
    ]


def _trajectories(table: "Estimate", frame: Frame) -> dict[str, Any]:
    """One row for each decoded report, the most frequent first."""
    rows: dict[Any, list[int]] = {}
    for row, tid in enumerate(table["tid"]):
        rows.setdefault(tid, []).append(row)
    n_reports = table.columns.get("reports", np.ones(len(table), dtype=np.int64))
    order = sorted(rows.values(), key=lambda points: -n_reports[points[0]])
    tracks = [_track(table, frame, points) for points in order[: theme()["journeys_most"]]]
    shown = order[: theme()["rows_most"]]
    level = f"{100 * float(table.about.get('level', 0.9)):g}{PERCENT}"
    return {
        "summary": f"{len(order):,} distinct reports, each decoded to the trajectory with the "
        "smallest expected error.",
        "filter": f"The map shows the {len(tracks):,} most frequent. Select one to see how far "
        f"off each point may be: a circle contains the true location with a probability of "
        f"{level}.",
        "caption": f"Most frequent first. {len(shown):,} of {len(order):,} reports.",
        "head": [{"name": name, "number": k > 1} for k, name in enumerate(_TRAJECTORY_COLUMNS)],
        "rows": [
            {"row": points[0], "cells": _cells(table, points, int(n_reports[points[0]]))}
            for points in shown
        ],
        "tracks": tracks,
    }


def _track(table: "Estimate", frame: Frame, rows: list[int]) -> dict[str, Any]:
    place = table["location_id"]
    positions = np.stack([table["lng"][rows], table["lat"][rows]], axis=-1)
    return {
        "row": rows[0],
        "name": f"{place[rows[0]]} to {place[rows[-1]]}",
        "line": _degrees(frame, frame.project(positions)),
        "radius_km": [round(float(radius), 3) for radius in table["radius_km"][rows]],
    }


def _cells(table: "Estimate", rows: list[int], n_reports: int) -> list[str]:
    place, radius = table["location_id"], table["radius_km"][rows]
    least, most = float(radius.min()), float(radius.max())
    radii = f"{least:.1f} km" if most - least < 0.05 else f"{least:.1f} to {most:.1f} km"
    return [str(place[rows[0]]), str(place[rows[-1]]), f"{len(rows)}", f"{n_reports:,}", radii]


def _curve_line(frame: Frame, curve: Curve) -> list[list[float]]:
    """Points of the quadratic Bezier curve from the start to the end of a flow."""
    t = np.linspace(0, 1, CURVE_SEGMENTS + 1)[:, None]
    start, bend, end = (np.array(point) for point in (curve.ends[0], curve.bend, curve.ends[1]))
    return _degrees(frame, (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end)


def _degrees(frame: Frame, points: Any) -> list[list[float]]:
    """Longitudes and latitudes of points of the picture, rounded to a tenth of a metre."""
    if not len(points):
        return []
    degrees: list[list[float]] = frame.unproject(points).round(6).tolist()
    return degrees
