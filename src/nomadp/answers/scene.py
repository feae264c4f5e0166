"""The scene of an estimate: marks in pixels, which are drawn as SVG, a figure or JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.answers.frame import Frame
from nomadp.answers.geometry import area_column, combined_rows, value_column
from nomadp.answers.numbers import has_intervals
from nomadp.answers.steps import HATCHED, Steps, steps_of
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["Area", "Curve", "Dot", "Scene", "Track", "scene_of"]

BEND = 0.22
"""How far a flow bends to its right, in lengths: this separates the two directions."""


@dataclass(frozen=True)
class Area:
    row: int
    rings: Sequence[Floats]
    step: str


@dataclass(frozen=True)
class Dot:
    row: int
    at: tuple[float, float]
    radius: float
    step: str


@dataclass(frozen=True)
class Curve:
    row: int
    ends: tuple[tuple[float, float], tuple[float, float]]
    bend: tuple[float, float]
    width: float
    certainty: str
    is_below_baseline: bool = False
    """Whether the line is dashed."""


@dataclass(frozen=True)
class Track:
    row: int
    line: Floats


@dataclass(frozen=True, eq=False)
class Scene:
    """The map of one estimate. The ``row`` of a mark is its row in the table, -1 if none."""

    frame: Frame
    places: Floats
    outlines: Sequence[Floats] = ()
    areas: Sequence[Area] = ()
    dots: Sequence[Dot] = ()
    curves: Sequence[Curve] = ()
    tracks: Sequence[Track] = ()
    steps: Steps | None = None
    ranking: Sequence[int] = ()
    """The rows of all times combined, the largest share first."""
    counts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_shades(self) -> bool:
        """Whether marks have the colours of shares. Dots at the ends of flows do not."""
        return bool(self.areas) or any(dot.row >= 0 for dot in self.dots)


def scene_of(table: "Estimate", locations: LocationSet | None) -> Scene | None:
    """The scene of a table; None without rows or without places."""
    if not len(table):
        return None
    rows = combined_rows(table.columns)
    if table.kind in ("trajectories", "synthetic"):
        return _tracks(table, locations)
    if {"origin", "destination"} <= table.columns.keys():
        return _flows(table, rows, locations)
    if area_column(table.columns) is not None and {"lat", "lng"} <= table.columns.keys():
        return _areas_and_dots(table, rows, locations)
    return None


def _row_values(table: "Estimate", rows: Any) -> dict[str, Any]:
    value = value_column(table.columns)
    values = {
        "value": table[value][rows],
        "ci_low": table.columns.get("ci_low", table[value])[rows],
        "ci_high": table.columns.get("ci_high", table[value])[rows],
    }
    significant = table.columns.get("significant")
    if significant is None or not has_intervals(table.columns):
        values["significant"] = np.ones(len(rows), bool)  # so that no row is left out
    else:
        values["significant"] = significant[rows]
    return values


def _frame(
    locations: LocationSet | None, outlines: Sequence[Floats], places: Floats
) -> tuple[Frame, Floats]:
    """A frame around all locations, places and outlines, and the locations in pixels."""
    drawn = places
    if locations is not None:
        drawn = np.stack([locations.lng, locations.lat], axis=-1)
    corners = np.concatenate([drawn, places, *outlines])
    # Longitudes near the first one, beyond 180 if the places lie across the date line.
    lng = corners[0, 0] + (corners[:, 0] - corners[0, 0] + 180.0) % 360.0 - 180.0
    frame = Frame.around(lng, corners[:, 1])
    return frame, frame.project(drawn)


def _areas_and_dots(table: "Estimate", rows: Any, locations: LocationSet | None) -> Scene:
    values = _row_values(table, rows)
    steps = steps_of(**values)
    shapes: Mapping[str, Any] = table.shapes.outlines if table.shapes is not None else {}
    name = table[str(area_column(table.columns))]
    outlines = {int(k): shapes[name[k]] for k in rows if name[k] in shapes}
    rings = {k: [ring for polygon in area for ring in polygon] for k, area in outlines.items()}
    positions = np.stack([table["lng"][rows], table["lat"][rows]], axis=-1)
    frame, places = _frame(locations, [r for area in rings.values() for r in area], positions)
    smallest, largest = theme()["dot_px"]
    top = max(float(values["value"].max()), 1e-12)
    areas, dots = [], []
    for k, at, value, step in zip(
        rows.tolist(), frame.project(positions), values["value"], steps.names, strict=True
    ):
        if k in rings:
            areas.append(Area(k, [frame.project(ring) for ring in rings[k]], step))
            continue
        # The square root makes areas of dots, not radii, roughly proportional to shares.
        sized = smallest + (largest - smallest) * float(np.sqrt(max(value, 0) / top))
        radius = smallest if step == HATCHED else sized
        dots.append(Dot(k, (float(at[0]), float(at[1])), radius, step))
    order = rows[np.argsort(-values["value"], kind="stable")]
    dots.sort(key=lambda dot: (dot.step != HATCHED, dot.radius))  # the largest on top
    counts = {"rows": len(rows)}
    if steps.has_intervals:
        counts["significant"] = int(np.count_nonzero(values["significant"]))
        counts["hatched"] = steps.names.count(HATCHED)
    return Scene(
        frame,
        places,
        areas=areas,
        dots=dots,
        steps=steps,
        ranking=order.tolist(),
        counts=counts,
    )


@dataclass(frozen=True, eq=False)
class SelectedFlows:
    """The flows that a map shows, as positions among the rows, the largest share first."""

    order: Any
    """All rows."""
    between: Any
    """The drawn flows between two areas."""
    within: Any
    """The flows within one area that would be drawn otherwise."""
    is_below: Any
    """Whether each row is below the baseline."""
    values: Mapping[str, Any]

    @classmethod
    def of(cls, table: "Estimate", rows: Any) -> "SelectedFlows":
        """The significant flows that are above the baseline, or may exceed the average flow.

        Without intervals no flow is known to be below the baseline, and the largest are drawn.
        """
        values = _row_values(table, rows)
        share, ci_high = values["value"], values["ci_high"]
        baseline = table.columns.get("baseline", np.zeros(len(table)))[rows]
        is_below = (share < baseline) & ~np.isnan(ci_high)
        order = np.argsort(-share, kind="stable")
        is_drawn = values["significant"] & (share > 0)
        is_drawn &= ~is_below | (ci_high > share.mean())
        is_between = np.array([table["origin"][k] != table["destination"][k] for k in rows])
        # If there are too many, flows above the baseline take precedence, then larger ones.
        between = [k for k in order if is_drawn[k] and is_between[k]]
        between.sort(key=lambda k: is_below[k])
        drawn = sorted(between[: theme()["flows_most"]], key=lambda k: -share[k])
        within = [k for k in order if is_drawn[k] and not is_between[k]]
        return cls(order, drawn, within, is_below, values)

    def total_share(self, positions: Any) -> float:
        return float(self.values["value"][positions].sum())


def _flows(table: "Estimate", rows: Any, locations: LocationSet | None) -> Scene | None:
    if table.shapes is None or not table.shapes.places:
        return None
    named = table.shapes.places
    rings = [
        ring for area in table.shapes.outlines.values() for polygon in area for ring in polygon
    ]
    centres = np.array([[lng, lat] for lat, lng in named.values()])
    frame, places = _frame(locations, rings, centres)
    pixel = dict(zip(named, frame.project(centres), strict=True))
    flows = SelectedFlows.of(table, rows)
    share = flows.values["value"]
    drawn = [
        k
        for k in flows.between
        if {table["origin"][rows[k]], table["destination"][rows[k]]} <= pixel.keys()
    ]
    top = max((float(share[k]) for k in drawn), default=float(share.max()) or 1.0)
    # Relative to the largest drawn flow: flows within one area are often far larger.
    steps = steps_of(**flows.values, top=top)
    styles = (
        (int(rows[k]), (float(share[k]) / top, steps.names[k], bool(flows.is_below[k])))
        for k in drawn[::-1]
    )
    return Scene(
        frame,
        places,
        outlines=[frame.project(ring) for ring in rings],
        dots=[Dot(-1, (float(x), float(y)), 3.0, "node") for x, y in pixel.values()],
        curves=_narrowed([_curve(row, table, pixel, style) for row, style in styles]),
        steps=steps,
        ranking=rows[flows.order].tolist(),
        counts={
            "rows": len(rows),
            "drawn": len(drawn),
            "drawn_share": flows.total_share(drawn),
            "stays": len(flows.within),
            "stay_share": flows.total_share(flows.within),
            "less": int(np.count_nonzero(flows.is_below[drawn])),
        },
    )


def _curve(
    row: int, table: "Estimate", pixel: Mapping[str, Floats], style: tuple[float, str, bool]
) -> Curve:
    start, end = pixel[table["origin"][row]], pixel[table["destination"][row]]
    along = end - start
    right = np.array([-along[1], along[0]]) * BEND  # y points down
    thin, thick = theme()["flow_px"]
    bend = (start + end) / 2 + right
    relative_share, step, is_below_baseline = style
    return Curve(
        row,
        ((float(start[0]), float(start[1])), (float(end[0]), float(end[1]))),
        (float(bend[0]), float(bend[1])),
        thin + (thick - thin) * float(np.sqrt(relative_share)),
        step.partition("-")[0],
        is_below_baseline,
    )


def _narrowed(curves: list[Curve]) -> list[Curve]:
    """The curves, all narrowed by one factor if arrow heads would hide the shortest lines."""
    if not curves:
        return curves
    thin, thick = theme()["flow_px"]
    shortest = min(float(np.hypot(*np.subtract(*curve.ends))) for curve in curves)
    least, by_width = theme()["flow_head"]
    widest = (shortest / 2 - least) / by_width  # the head is at most half of the shortest line
    factor = min(1.0, max(widest, theme()["flow_crowded_px"]) / thick)
    return [replace(curve, width=max(thin, curve.width * factor)) for curve in curves]


def _tracks(table: "Estimate", locations: LocationSet | None) -> Scene:
    positions = np.stack([table["lng"], table["lat"]], axis=-1)
    frame, places = _frame(locations, [], positions)
    pixels = frame.project(positions)
    points: dict[Any, list[int]] = {}
    for row, tid in enumerate(table["tid"]):
        points.setdefault(tid, []).append(row)
    most: int = theme()["journeys_most"]
    lines = [_without_pauses(pixels[rows]) for rows in list(points.values())[:most]]
    drawn = [_thinned(line) for line in lines]
    tracks = [Track(rows[0], line) for rows, line in zip(points.values(), drawn, strict=False)]
    thinned = sum(len(line) < len(whole) for line, whole in zip(drawn, lines, strict=True))
    counts: dict[str, Any]
    counts = {"trajectories": len(points), "drawn": len(tracks), "thinned": thinned}
    counts["lines"] = len({line.tobytes() for line in drawn})
    if "radius_km" in table.columns:
        counts["median_radius_km"] = float(sorted(table["radius_km"])[len(table) // 2])
    return Scene(frame, places, tracks=tracks, ranking=list(range(len(table))), counts=counts)


def _without_pauses(line: Floats) -> Floats:
    """The line without points that repeat the previous one, which would not be visible."""
    moved = (np.diff(line, axis=0) != 0).any(axis=1)
    distinct: Floats = line[np.concatenate([[True], moved])]
    return distinct if len(distinct) > 1 else line[:2]


def _thinned(line: Floats) -> Floats:
    """The line, or evenly spaced points of a long one, including the first and the last."""
    most: int = theme()["track_points_most"]
    if len(line) <= most:
        return line
    points: Floats = line[np.linspace(0, len(line) - 1, most).round().astype(np.int64)]
    return points
