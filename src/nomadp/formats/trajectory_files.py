"""Files of private trajectories, by location id or by raw coordinates.

No refusal quotes the file: rows are named by line, unknown ids are counted.
"""

import logging
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.columns import Indices, Kind, Table, Text, check
from nomadp.formats.files import columns_or_refusal, is_parquet, read_table
from nomadp.formats.grouping import grouped
from nomadp.formats.location_files import coordinates
from nomadp.formats.snapping import SnapSummary, snapped_to
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = ["SnapSummary", "known_locations", "nested", "ordered", "read_trajectories"]

log = logging.getLogger(__name__)

BY_ID = {"tid": Kind.TEXT, "seq": Kind.WHOLE, "location_id": Kind.TEXT}
BY_COORDINATES = {
    "tid": Kind.TEXT,
    "datetime": Kind.MOMENT,
    "lat": Kind.DECIMAL,
    "lng": Kind.DECIMAL,
}


def read_trajectories(
    path: str | PathLike[str], locations: LocationSet
) -> tuple[TrajectorySet, SnapSummary | None]:
    """Trajectories over ``locations`` from CSV or Parquet at ``path``.

    Either `tid,seq,location_id`, or `tid,datetime,lat,lng`, which are snapped and summarised.
    A column `uid` is used if there is one, to tell apart equal tids of different users. In
    Parquet also `tid,location_ids`, one row to a trajectory. Raises `SchemaError` for a file
    of another shape and `DomainError` for unknown ids, which it does not show.

    >>> import nomadp, pathlib
    >>> places = nomadp.LocationSet.from_columns(["a", "b"], [52.5, 52.6], [13.4, 13.4])
    >>> lines = "tid,seq,location_id", "trip 1,0,a", "trip 1,1,b"
    >>> _ = pathlib.Path("trips.csv").write_text("\\n".join(lines))
    >>> trips, _ = nomadp.read_trajectories("trips.csv", places)
    >>> trips.lengths.tolist()
    [2]
    """
    if (whole := nested(Path(fspath(path)), locations)) is not None:
        return whole, None
    table = read_table(path, lambda header: _choose(path, header))
    if "location_id" in table.column:
        return ordered(table, known_locations(table, locations), unique="seq"), None
    lat, lng = coordinates(table)
    snapped, summary = snapped_to(locations, lat, lng)
    return ordered(table, snapped), summary


def nested(path: Path, locations: LocationSet) -> TrajectorySet | None:
    """The trajectories of a Parquet file that has one row to each, None for any other file."""
    if not is_parquet(path):
        return None
    from nomadp.formats.nested_files import is_nested, read_nested  # slow to import: Arrow

    return read_nested(path, locations) if is_nested(path) else None


def _choose(path: str | PathLike[str], header: Sequence[str]) -> Mapping[str, Kind]:
    kinds = next((each for each in (BY_ID, BY_COORDINATES) if set(each) <= set(header)), None)
    if kinds is None:
        known = [name for name in ("uid", *BY_ID, *BY_COORDINATES) if name in header]
        raise SchemaError(
            f"{fspath(path)} must have the columns {','.join(BY_ID)} or "
            f"{','.join(BY_COORDINATES)}, separated by commas and named in its first line; "
            f"of these it has {', '.join(dict.fromkeys(known)) or 'none'}"
        )
    if "uid" in header:
        kinds = {"uid": Kind.TEXT, **kinds}
    ignored = len(set(header) - set(kinds))
    log.info("%s: columns %s are read, %d ignored", fspath(path), ",".join(kinds), ignored)
    return columns_or_refusal(path, header, kinds)


def known_locations(table: Table, locations: LocationSet) -> Indices:
    """The column location_id as indices."""
    text: Text = table.column["location_id"]
    index = locations.find(text.values)[text.codes]
    unknown = np.flatnonzero(index < 0)
    if len(unknown):
        raise DomainError(
            f"{table.path}: every location_id must be in the location set of {len(locations)}, "
            f"got {len(unknown)} of {table.rows} rows that are not, the first at "
            f"{table.where(int(unknown[0]))}; use the location file that belongs to them"
        )
    return index


def ordered(table: Table, location: Indices, unique: str | None = None) -> TrajectorySet:
    """Rows grouped by trajectory in order of appearance, each by its seq or datetime."""
    trajectory, names = _named(table)
    position = table.column["datetime"].values if unique is None else table.column[unique]
    order = np.lexsort((position, trajectory))
    if unique is not None:
        same = (np.diff(trajectory[order]) == 0) & (np.diff(position[order]) == 0)
        repeated = np.zeros(table.rows, dtype=bool)
        repeated[order[1:][same]] = True
        check(table, repeated, f"{unique} must be unique in its trajectory, and repeats")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(trajectory))])
    return TrajectorySet(offsets, location[order], names)


def _named(table: Table) -> tuple[Indices, tuple[str, ...]]:
    """The trajectory of each row, numbered by appearance, and the trajectories' names."""
    tid: Text = table.column["tid"]
    if "uid" not in table.column:
        return tid.codes, tid.values
    trajectory, first = grouped([table.column["uid"].codes, tid.codes])
    if len(first) == len(tid.values):
        return trajectory, tid.values
    # Users share tids. A name made of the uid would carry it into the reports.
    return trajectory, tuple(str(k + 1) for k in range(len(first)))
