"""Private trajectories over public locations, from files of any format.

No refusal quotes a file: rows are named by line, unknown ids are counted.
"""

from dataclasses import dataclass, replace

from nomadp.formats.point_files import Paths, read_points
from nomadp.formats.points import People
from nomadp.formats.presets import Reading
from nomadp.formats.snapping import MAX_SNAP_KM, SnapSummary, placed
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = ["ReadSummary", "read_trajectories"]


@dataclass(frozen=True)
class ReadSummary:
    """What may be said of a reading: counts and distances, no name and no place."""

    snapped: SnapSummary | None
    """None where every row names its location."""
    people: People | None
    """None where no file says whose (uid): then each trajectory counts for itself."""


def read_trajectories(
    paths: Paths,
    locations: LocationSet,
    reading: Reading | None = None,
    *,
    max_snap_km: float = MAX_SNAP_KM,
) -> tuple[TrajectorySet, ReadSummary]:
    """Trajectories over `locations` from one or more files and folders, in their order.

    Points that name one of the locations are there, others at the nearest within max_snap_km.
    """
    how = reading or Reading()
    # Times never leave. They are read only where they are needed, for order or gaps.
    points = read_points(paths, replace(how, clock=how.split_hours is not None), locations)
    trajectories, snapped = placed(points, locations, max_snap_km)
    return trajectories, ReadSummary(snapped, points.people)
