"""An answer as a page elsewhere draws it: marks in degrees, rows and words, all as JSON.

What is drawn, in which colour, and what is said of it is decided here and nowhere else: the
pages a collector serves only bring it onto their map.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.answers.frame import Frame
from nomadp.answers.numbers import PERCENT
from nomadp.answers.picture import with_shapes
from nomadp.answers.scene import Curve, Scene, scene_of
from nomadp.answers.sections import rows_told
from nomadp.answers.sentences import facts, filter_words, headline, row_name
from nomadp.answers.summary import summary
from nomadp.locations import LocationSet
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["drawing_of"]

PIECES = 16
"""Of a curve: so many straight ones look round."""
LABELS_MOST = 60
_TRAJECTORY_COLUMNS = ("From", "To", "Points", "Reports", "Credible radius")


def drawing_of(table: "Estimate", locations: LocationSet) -> dict[str, Any]:
    """Words and rows; and marks, each with the row of the table that it stands for."""
    shaped = with_shapes(table, locations)
    scene = scene_of(shaped, locations)
    said = {
        "title": headline(shaped),
        "summary": summary(shaped, scene),
        "filter": filter_words(shaped, scene),
        "facts": [list(each) for each in facts(shaped)],
        **rows_told(shaped, scene),
    }
    if scene is None:
        return said
    if table.kind == "trajectories":
        return said | _trajectories(shaped, scene.frame)
    return said | _marks(shaped, scene)


def _marks(table: "Estimate", scene: Scene) -> dict[str, Any]:
    frame = scene.frame

    def mark(row: int, **more: Any) -> dict[str, Any]:
        return {"row": row, "name": row_name(table, row) if row >= 0 else "", **more}

    return {
        "edges": [] if scene.steps is None else scene.steps.edges.tolist(),
        "has_intervals": scene.steps is None or scene.steps.has_intervals,
        "outlines": [_degrees(frame, ring) for ring in scene.outlines],
        "areas": [
            mark(each.row, step=each.step, rings=[_degrees(frame, ring) for ring in each.rings])
            for each in scene.areas
        ],
        "dots": [
            mark(each.row, step=each.step, size=round(each.radius, 2), at=at)
            for each, at in zip(
                scene.dots, _degrees(frame, [each.at for each in scene.dots]), strict=True
            )
        ],
        "curves": [
            mark(
                each.row,
                sure=each.certainty,
                less=each.is_less,
                width=each.width,
                line=_curved(frame, each),
            )
            for each in scene.curves
        ],
        "tracks": [mark(each.row, line=_degrees(frame, each.line)) for each in scene.tracks],
        "labels": _labels(table),
    }


def _labels(table: "Estimate") -> list[dict[str, Any]]:
    """Areas that somebody gave a name, and where their locations are; cells go without."""
    rule = str(table.about.get("areas", table.about.get("zones", "")))
    if table.shapes is None or not rule.startswith("polygons:"):
        return []
    named = table.shapes.outlines.keys() & table.shapes.places.keys()
    if len(named) > LABELS_MOST:
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
    often = table.columns.get("reports", np.ones(len(table), dtype=np.int64))
    order = sorted(rows.values(), key=lambda each: -often[each[0]])
    tracks = [_track(table, frame, each) for each in order[: theme()["journeys_most"]]]
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
            {"row": each[0], "cells": _cells(table, each, int(often[each[0]]))}
            for each in shown
        ],
        "tracks": tracks,
    }


def _track(table: "Estimate", frame: Frame, rows: list[int]) -> dict[str, Any]:
    place = table["location_id"]
    where = np.stack([table["lng"][rows], table["lat"][rows]], axis=-1)
    return {
        "row": rows[0],
        "name": f"{place[rows[0]]} to {place[rows[-1]]}",
        "line": _degrees(frame, frame.at(where)),
        "radius_km": [round(float(far), 3) for far in table["radius_km"][rows]],
    }


def _cells(table: "Estimate", rows: list[int], often: int) -> list[str]:
    place, radius = table["location_id"], table["radius_km"][rows]
    near, far = float(radius.min()), float(radius.max())
    within = f"{near:.1f} km" if far - near < 0.05 else f"{near:.1f} to {far:.1f} km"
    return [str(place[rows[0]]), str(place[rows[-1]]), f"{len(rows)}", f"{often:,}", within]


def _curved(frame: Frame, curve: Curve) -> list[list[float]]:
    t = np.linspace(0, 1, PIECES + 1)[:, None]
    start, bend, end = (np.array(each) for each in (curve.ends[0], curve.bend, curve.ends[1]))
    return _degrees(frame, (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end)


def _degrees(frame: Frame, points: Any) -> list[list[float]]:
    """Longitudes and latitudes of points of the picture, to a tenth of a metre."""
    if not len(points):
        return []
    found: list[list[float]] = frame.degrees(points).round(6).tolist()
    return found
