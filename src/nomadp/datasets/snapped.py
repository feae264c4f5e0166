"""Points of any source as a data set over public locations: given ones, a grid, or H3 cells."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.datasets.built import BuiltData, made
from nomadp.errors import DomainError
from nomadp.formats.box import Box
from nomadp.formats.measured_file import file_sha256
from nomadp.formats.points import Points
from nomadp.formats.snapping import snapped_to
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = ["OUTSIDE", "SnapTo", "input_hashes", "snap"]

VERSION = 1
OUTSIDE = ("refuse", "drop", "nearest")


@dataclass(frozen=True)
class SnapTo:
    """Where points go, and what becomes of those outside the box."""

    locations: LocationSet
    box: Box | None = None
    """None: the locations were given, and any point goes to the nearest."""
    outside: str = "refuse"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What the recipe says about how the locations came about."""


def snap(points: Points, to: SnapTo, inputs: Mapping[str, str]) -> BuiltData:
    """Every point at its own place, if it names one of the given; otherwise at the nearest."""
    counts: dict[str, Any] = {"points_read": len(points), "trajectories_read": len(points.tids)}
    kept = _inside(points, to, counts)
    by_name = to.box is None and kept.location_ids is not None
    if by_name:
        location = to.locations.find(kept.location_ids or ())
    else:
        location, summary = snapped_to(to.locations, kept.lat, kept.lng)
        counts["moved"] = asdict(summary)
    counts.update(
        points=len(kept),
        trajectories=len(kept.tids),
        of_one_point=int(np.count_nonzero(kept.lengths == 1)),
    )
    parameters = {
        **to.parameters,
        "box": None if to.box is None else str(to.box),
        "outside": to.outside,
        "by": "location_id" if by_name else "nearest",
    }
    return BuiltData(
        to.locations,
        TrajectorySet(kept.offsets, location, kept.names()),
        made("snapped", VERSION, parameters, counts, inputs),
        kept.moment_us,
    )


def _inside(points: Points, to: SnapTo, counts: dict[str, Any]) -> Points:
    if to.outside not in OUTSIDE:
        raise ValueError(f"outside must be one of {', '.join(OUTSIDE)}, got {to.outside}")
    if to.box is None:
        return points
    inside = to.box.contains(points.lat, points.lng)
    outside = int(np.count_nonzero(~inside))
    counts["outside_box"] = outside
    if outside == len(points):
        raise DomainError(
            f"points must lie in the box {to.box}, and all {outside} lie outside; the box is "
            "west,south,east,north"
        )
    if outside and to.outside == "refuse":
        raise DomainError(
            f"points must lie in the box {to.box}, and {outside} of {len(points)} lie outside; "
            "widen it, or choose to drop them or to move them to the nearest cell"
        )
    return points.kept(inside) if outside and to.outside == "drop" else points


def input_hashes(path: Path) -> dict[str, str]:
    """The hash of a file, or one of all files in a folder, by the name of either."""
    if not path.is_dir():
        return {path.name: file_sha256(path)}
    digest = hashlib.sha256()
    for file in sorted(each for each in path.rglob("*") if each.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\n{file_sha256(file)}\n".encode())
    return {f"{path.resolve().name}/": digest.hexdigest()}
