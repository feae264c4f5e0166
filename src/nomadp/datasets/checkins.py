"""From check-ins to trajectories, by the paper's preprocessing (section 6.1.1).

The stages: restrict to a box; keep the most visited places; keep at most one random point per
ten minutes; start a new trajectory after a gap of three hours; drop trajectories of fewer than
two points. The recipe counts what every stage dropped.
"""

from dataclasses import asdict, dataclass
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.datasets.built import BuiltData, recipe_of
from nomadp.errors import DomainError, InvalidArgument
from nomadp.formats.box import Box
from nomadp.formats.checkin_files import CheckIns, read_checkins
from nomadp.formats.measured_file import AnyPath, Progress
from nomadp.formats.points import split_at_gaps
from nomadp.locations import LocationSet
from nomadp.sequences import Indices
from nomadp.trajectory import TrajectorySet

__all__ = ["PRESETS", "CheckInRecipe", "build_checkins", "thinned"]


VERSION = 1
MINUTE_US = 60_000_000
SHORTEST = 2


@dataclass(frozen=True)
class CheckInRecipe:
    """All parameters of the preprocessing."""

    source: str
    """foursquare or gowalla."""
    box: Box | None
    """None keeps all check-ins."""
    places: int
    window_minutes: float = 10.0
    gap_hours: float = 3.0
    longest: int | None = None
    """Points after this many are dropped; None keeps them all."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.places < 2:
            raise InvalidArgument(
                f"places must be at least 2, got places={self.places}",
                code="too_few_places",
                places=self.places,
            )
        if not (0 <= self.window_minutes < 1e6 and 0 < self.gap_hours < 1e6):
            raise InvalidArgument(
                "window_minutes must be at least 0 and gap_hours above 0, got "
                f"window_minutes={self.window_minutes} and gap_hours={self.gap_hours}",
                code="thinning_out_of_range",
            )
        if self.longest is not None and self.longest < SHORTEST:
            raise InvalidArgument(
                f"longest must be at least {SHORTEST}, got longest={self.longest}",
                code="longest_out_of_range",
                longest=self.longest,
            )


PRESETS = {
    # The paper gives no box. This one contains the whole file, and no other city.
    "nyc": CheckInRecipe("foursquare", Box(-74.3, 40.5, -73.6, 41.0), 2000, longest=8),
    "chi": CheckInRecipe("gowalla", Box(-88.0, 41.6, -87.4, 42.0), 1000, longest=8),
    # Called Cleveland in the paper; the box is in Portland, Oregon.
    "cle": CheckInRecipe("gowalla", Box(-122.9, 45.4, -122.46, 45.6), 1000, longest=8),
}
"""The paper's data sets. The maximum length of 8 points is not in its text, but all the data
sets that it published have it."""


def build_checkins(
    path: AnyPath, recipe: CheckInRecipe, progress: Progress | None = None
) -> BuiltData:
    """Trajectories over the most visited places of a file of check-ins."""
    checkins = read_checkins(path, recipe.source, recipe.box, progress)
    counts: dict[str, Any] = {
        "rows": checkins.rows,
        "malformed": checkins.malformed,
        "malformed_lines": list(checkins.malformed_lines),
        "outside_box": checkins.outside,
    }
    if not len(checkins.place):
        raise DomainError(
            f"{fspath(path)} must have check-ins in the box {recipe.box}, but all "
            f"{checkins.rows - checkins.malformed} valid ones lie outside; check the box",
            code="no_points_in_box",
            rows=checkins.rows - checkins.malformed,
        )
    locations, location, visited = _most_visited(checkins, recipe.places, counts)
    order = visited[np.lexsort((checkins.moment_us[visited], checkins.uid[visited]))]
    trajectories, points = _trajectories(checkins, order, recipe, counts)
    names = tuple(map(str, range(len(trajectories) - 1)))
    chosen = TrajectorySet(trajectories, location[points], names)
    inputs = {Path(path).name: checkins.sha256}
    parameters = {**asdict(recipe), "box": None if recipe.box is None else str(recipe.box)}
    description = recipe_of(f"{recipe.source}-check-ins", VERSION, parameters, counts, inputs)
    return BuiltData(locations, chosen, description, checkins.moment_us[points])


def _most_visited(
    checkins: CheckIns, places: int, counts: dict[str, Any]
) -> tuple[LocationSet, Indices, Indices]:
    """The places kept, the place of each row (-1 if it was dropped), and the rows at them."""
    visits = np.bincount(checkins.place, minlength=len(checkins.place_ids))
    ids = np.array(checkins.place_ids)
    popular = np.lexsort((ids, -visits))[:places]
    # Sorted by name: an order by visits would reveal more about people than necessary.
    top = popular[np.argsort(ids[popular])]
    _, first_row = np.unique(checkins.place, return_index=True)
    lat, lng = checkins.lat[first_row], checkins.lng[first_row]
    is_elsewhere = (checkins.lat != lat[checkins.place]) | (checkins.lng != lng[checkins.place])
    location = np.full(len(ids), -1, dtype=np.int64)
    location[top] = np.arange(len(top))
    location = location[checkins.place]
    visited = np.flatnonzero(location >= 0)
    counts.update(
        places_found=len(ids),
        places_kept=len(top),
        at_other_places=len(location) - len(visited),
        at_other_coordinates=int(np.count_nonzero(is_elsewhere[visited])),
    )
    if len(top) < 2:
        raise DomainError(
            f"the box must contain at least 2 places, got {len(top)}; use a larger box",
            code="too_few_locations",
            locations=len(top),
        )
    return LocationSet.from_columns(ids[top].tolist(), lat[top], lng[top]), location, visited


def _trajectories(
    checkins: CheckIns, order: Indices, recipe: CheckInRecipe, counts: dict[str, Any]
) -> tuple[Indices, Indices]:
    """Offsets and rows of the trajectories' points; `order` is by user, then by time."""
    window_us = round(recipe.window_minutes * MINUTE_US)
    rng = np.random.default_rng(recipe.seed)
    rows = order[thinned(checkins.uid[order], checkins.moment_us[order], window_us, rng)]
    gap_us = round(recipe.gap_hours * 60 * MINUTE_US)
    start = split_at_gaps(checkins.uid[rows], checkins.moment_us[rows], gap_us)
    length = np.diff(start, append=len(rows))
    position = np.arange(len(rows)) - np.repeat(start, length)
    is_short = np.repeat(length < SHORTEST, length)
    is_late = position >= (recipe.longest or len(rows) + 1)
    points = rows[~is_short & ~is_late]
    counts.update(
        thinned=len(order) - len(rows),
        pieces=len(start),
        in_pieces_too_short=int(np.count_nonzero(is_short)),
        beyond_longest=int(np.count_nonzero(is_late)),
        trajectories=int(np.count_nonzero(length >= SHORTEST)),
        points=len(points),
    )
    if not len(points):
        raise DomainError(
            "at least one trajectory must have 2 points after thinning and splitting, got "
            "none; decrease window_minutes or increase gap_hours",
            code="no_trajectories",
        )
    lengths = np.minimum(length[length >= SHORTEST], recipe.longest or len(rows))
    return np.concatenate([[0], np.cumsum(lengths)]), points


def thinned(
    user: Indices, moment_us: Indices, window_us: int, rng: np.random.Generator
) -> Indices:
    """The points to keep so that no two of a user are within `window_us`; the input is sorted.

    A window opens at the user's first remaining point, and one random point in it is kept. The
    remaining points are those more than a window after the kept one.
    """
    if not len(user):
        return np.empty(0, dtype=np.int64)
    same_user = np.diff(user, prepend=-1) == 0
    gap_us = np.where(same_user, np.diff(moment_us, prepend=0), window_us + 1)
    # One increasing clock for all users: long gaps count as slightly more than a window, so
    # that no window reaches across them and the sum cannot overflow.
    clock = np.cumsum(np.minimum(gap_us, window_us + 1))
    opens = np.flatnonzero(gap_us > window_us)
    ends = np.append(opens[1:], len(user))
    chosen_rows = []
    # All open windows advance at once, one kept point each per round.
    while len(opens):
        closes = clock.searchsorted(clock[opens] + window_us, side="right")
        chosen = opens + (rng.random(len(opens)) * (closes - opens)).astype(np.int64)
        chosen_rows.append(chosen)
        opens = clock.searchsorted(clock[chosen] + window_us, side="right")
        opens, ends = opens[opens < ends], ends[opens < ends]
    return np.sort(np.concatenate(chosen_rows))
