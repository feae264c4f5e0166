"""What is to be drawn of an answer: marks on a flat map, before anything is SVG or a figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.answers.frame import Frame
from nomadp.answers.geometry import area_column, value_column
from nomadp.answers.numbers import has_intervals
from nomadp.answers.steps import HATCHED, Steps, steps_of
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["Area", "Curve", "Dot", "Scene", "Track", "scene_of"]

BEND = 0.22
"""How far a flow bends to its right, by its length: there and back lie apart."""


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
    is_less: bool = False
    """Than flat: it is dashed."""


@dataclass(frozen=True)
class Track:
    row: int
    line: Floats


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture of one answer; rows are those of its table."""

    frame: Frame
    places: Floats
    outlines: Sequence[Floats] = ()
    areas: Sequence[Area] = ()
    dots: Sequence[Dot] = ()
    curves: Sequence[Curve] = ()
    tracks: Sequence[Track] = ()
    steps: Steps | None = None
    shown: Sequence[int] = ()
    """Rows that are told of in words, the greatest first."""
    counts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_stepped(self) -> bool:
        """Whether marks have the colours of steps: dots at the ends of flows have none."""
        return bool(self.areas) or any(dot.row >= 0 for dot in self.dots)


def scene_of(table: "Estimate", locations: LocationSet | None) -> Scene | None:
    """None for an answer that is of no place, or has no rows."""
    if not len(table):
        return None
    rows = _all_times(table)
    if table.kind in ("trajectories", "synthetic"):
        return _tracks(table, locations)
    if {"origin", "destination"} <= table.columns.keys():
        return _flows(table, rows, locations)
    if area_column(table.columns) is not None and {"lat", "lng"} <= table.columns.keys():
        return _places(table, rows, locations)
    return None


def _all_times(table: "Estimate") -> Any:
    """The rows of all times together, where an answer tells of each time, too."""
    if "when" not in table.columns:
        return np.arange(len(table))
    return np.flatnonzero(np.array(table["when"]) == "any")


def _numbers(table: "Estimate", rows: Any) -> dict[str, Any]:
    value = value_column(table.columns)
    found = {
        "value": table[value][rows],
        "ci_low": table.columns.get("ci_low", table[value])[rows],
        "ci_high": table.columns.get("ci_high", table[value])[rows],
    }
    apart = table.columns.get("significant")
    if apart is None or not has_intervals(table.columns):
        found["significant"] = np.ones(len(rows), bool)  # then none is left out
    else:
        found["significant"] = apart[rows]
    return found


def _frame(
    locations: LocationSet | None, outlines: Sequence[Floats], places: Floats
) -> tuple[Frame, Floats]:
    """A frame around all there is, and the locations in it."""
    public = places
    if locations is not None:
        public = np.stack([locations.lng, locations.lat], axis=-1)
    every = np.concatenate([public, places, *outlines])
    lng = every[0, 0] + (every[:, 0] - every[0, 0] + 180.0) % 360.0 - 180.0
    frame = Frame.around(lng, every[:, 1])
    return frame, frame.at(public)


def _places(table: "Estimate", rows: Any, locations: LocationSet | None) -> Scene:
    number = _numbers(table, rows)
    steps = steps_of(**number)
    shapes: Mapping[str, Any] = table.shapes.outlines if table.shapes is not None else {}
    name = table[str(area_column(table.columns))]
    drawn = {int(k): shapes[name[k]] for k in rows if name[k] in shapes}
    rings = {k: [ring for polygon in each for ring in polygon] for k, each in drawn.items()}
    where = np.stack([table["lng"][rows], table["lat"][rows]], axis=-1)
    frame, places = _frame(locations, [r for each in rings.values() for r in each], where)
    smallest, largest = theme()["dot_px"]
    top = max(float(number["value"].max()), 1e-12)
    areas, dots = [], []
    for k, at, value, step in zip(
        rows.tolist(), frame.at(where), number["value"], steps.names, strict=True
    ):
        if k in rings:
            areas.append(Area(k, [frame.at(ring) for ring in rings[k]], step))
            continue
        grown = smallest + (largest - smallest) * float(np.sqrt(max(value, 0) / top))
        radius = smallest if step == HATCHED else grown
        dots.append(Dot(k, (float(at[0]), float(at[1])), radius, step))
    order = rows[np.argsort(-number["value"], kind="stable")]
    dots.sort(key=lambda dot: (dot.step != HATCHED, dot.radius))  # the greatest on top
    counts = {"rows": len(rows)}
    if steps.has_intervals:
        counts["significant"] = int(np.count_nonzero(number["significant"]))
        counts["hatched"] = steps.names.count(HATCHED)
    return Scene(
        frame, places, areas=areas, dots=dots, steps=steps, shown=order.tolist(), counts=counts
    )


@dataclass(frozen=True, eq=False)
class Picked:
    """Which flows are drawn: positions among the rows, the greatest first."""

    order: Any
    moving: Any
    staying: Any
    less: Any
    """Which rows are less than flat."""
    number: Mapping[str, Any]

    @classmethod
    def of(cls, table: "Estimate", rows: Any) -> "Picked":
        """Those told apart that are more than flat, or may be more than the average.

        Without intervals nothing is known to be less than flat, and the greatest are drawn.
        """
        number = _numbers(table, rows)
        value, apart = number["value"], number["significant"]
        flat = table.columns.get("baseline", np.zeros(len(table)))[rows]
        less = (value < flat) & ~np.isnan(number["ci_high"])
        order = np.argsort(-value, kind="stable")
        enough = apart & (value > 0) & (~less | (number["ci_high"] > value.mean()))
        moves = np.array([table["origin"][k] != table["destination"][k] for k in rows])
        # What is more comes first where there are too many, and then the greatest.
        moving = sorted((k for k in order if enough[k] and moves[k]), key=lambda k: less[k])
        drawn = sorted(moving[: theme()["flows_most"]], key=lambda k: -value[k])
        staying = [k for k in order if enough[k] and not moves[k]]
        return cls(order, drawn, staying, less, number)

    def share(self, which: Any) -> float:
        return float(self.number["value"][which].sum())


def _flows(table: "Estimate", rows: Any, locations: LocationSet | None) -> Scene | None:
    if table.shapes is None or not table.shapes.places:
        return None
    known = table.shapes.places
    outlines = [
        ring for each in table.shapes.outlines.values() for polygon in each for ring in polygon
    ]
    middle = np.array([[lng, lat] for lat, lng in known.values()])
    frame, places = _frame(locations, outlines, middle)
    spot = dict(zip(known, frame.at(middle), strict=True))
    picked = Picked.of(table, rows)
    value = picked.number["value"]
    drawn = [
        k
        for k in picked.moving
        if {table["origin"][rows[k]], table["destination"][rows[k]]} <= spot.keys()
    ]
    top = max((float(value[k]) for k in drawn), default=float(value.max()) or 1.0)
    steps = steps_of(**picked.number, top=top)  # of what leaves: most stay where they are
    looks = (
        (int(rows[k]), (float(value[k]) / top, steps.names[k], bool(picked.less[k])))
        for k in drawn[::-1]
    )
    return Scene(
        frame,
        places,
        outlines=[frame.at(ring) for ring in outlines],
        dots=[Dot(-1, (float(x), float(y)), 3.0, "node") for x, y in spot.values()],
        curves=_apart([_curve(row, table, spot, each) for row, each in looks]),
        steps=steps,
        shown=rows[picked.order].tolist(),
        counts={
            "rows": len(rows),
            "drawn": len(drawn),
            "drawn_share": picked.share(drawn),
            "stays": len(picked.staying),
            "stay_share": picked.share(picked.staying),
            "less": int(np.count_nonzero(picked.less[drawn])),
        },
    )


def _curve(
    row: int, table: "Estimate", spot: Mapping[str, Floats], looks: tuple[float, str, bool]
) -> Curve:
    start, end = spot[table["origin"][row]], spot[table["destination"][row]]
    along = end - start
    aside = np.array([-along[1], along[0]]) * BEND
    thin, thick = theme()["flow_px"]
    bend = (start + end) / 2 + aside
    share, step, is_less = looks
    return Curve(
        row,
        ((float(start[0]), float(start[1])), (float(end[0]), float(end[1]))),
        (float(bend[0]), float(bend[1])),
        thin + (thick - thin) * float(np.sqrt(share)),
        step.partition("-")[0],
        is_less,
    )


def _apart(curves: list[Curve]) -> list[Curve]:
    """All thinner by one factor where areas are so near that heads would hide the lines."""
    if not curves:
        return curves
    thin, thick = theme()["flow_px"]
    shortest = min(float(np.hypot(*np.subtract(*each.ends))) for each in curves)
    least, by_width = theme()["flow_head"]
    widest = (shortest / 2 - least) / by_width  # of a line, half at least is not its head
    factor = min(1.0, max(widest, theme()["flow_crowded_px"]) / thick)
    return [replace(each, width=max(thin, each.width * factor)) for each in curves]


def _tracks(table: "Estimate", locations: LocationSet | None) -> Scene:
    where = np.stack([table["lng"], table["lat"]], axis=-1)
    frame, places = _frame(locations, [], where)
    spot = frame.at(where)
    rows: dict[Any, list[int]] = {}
    for k, tid in enumerate(table["tid"]):
        rows.setdefault(tid, []).append(k)
    most: int = theme()["journeys_most"]
    lines = [_moves(spot[each]) for each in list(rows.values())[:most]]
    drawn = [_thinned(line) for line in lines]
    tracks = [Track(each[0], line) for each, line in zip(rows.values(), drawn, strict=False)]
    thinned = sum(len(line) < len(whole) for line, whole in zip(drawn, lines, strict=True))
    counts: dict[str, Any]
    counts = {"trajectories": len(rows), "drawn": len(tracks), "thinned": thinned}
    counts["lines"] = len({line.tobytes() for line in drawn})
    if "radius_km" in table.columns:
        counts["median_radius_km"] = float(sorted(table["radius_km"])[len(table) // 2])
    return Scene(frame, places, tracks=tracks, shown=list(range(len(table))), counts=counts)


def _moves(line: Floats) -> Floats:
    """Without the points at which it stays where it is, which no line shows."""
    moved = (np.diff(line, axis=0) != 0).any(axis=1)
    found: Floats = line[np.concatenate([[True], moved])]
    return found if len(found) > 1 else line[:2]


def _thinned(line: Floats) -> Floats:
    """Evenly chosen points of a long line, the first and the last among them."""
    most: int = theme()["track_points_most"]
    if len(line) <= most:
        return line
    found: Floats = line[np.linspace(0, len(line) - 1, most).round().astype(np.int64)]
    return found
