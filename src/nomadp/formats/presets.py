"""The column names of other libraries and data sets, and options for reading a file.

Nothing is guessed. A preset or an explicit map says what a column means, and the log says which
columns were read. All other columns are ignored.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from nomadp.errors import SchemaError
from nomadp.formats.arrow_objects import Frame, source_name
from nomadp.formats.columns import Kind, ReadOptions
from nomadp.formats.measured_file import AnyPath
from nomadp.formats.thinning import Thinning

__all__ = ["BY_ID", "KINDS", "OURS", "PRESETS", "WHOLE_FILES", "Reading", "parse_columns"]

log = logging.getLogger(__name__)

KINDS = {
    "uid": Kind.TEXT,
    "tid": Kind.TEXT,
    "seq": Kind.WHOLE,
    "datetime": Kind.MOMENT,
    "lat": Kind.DECIMAL,
    "lng": Kind.DECIMAL,
    "geometry": Kind.POINT,
    "location_id": Kind.TEXT,
}
OURS = tuple(KINDS)
BY_ID = {name: KINDS[name] for name in ("tid", "seq", "location_id")}
"""The columns of a table that names locations instead of coordinates."""

PRESETS: dict[str, dict[str, str]] = {
    "nomadp": {name: name for name in OURS},
    "skmob": {name: name for name in ("uid", "tid", "datetime", "lat", "lng")},
    "movingpandas": {
        "tid": "traj_id",
        "datetime": "t",
        "lng": "x",
        "lat": "y",
        "geometry": "geometry",
    },
    "trackintel": {
        "uid": "user_id",
        "datetime": "tracked_at",
        "lng": "longitude",
        "lat": "latitude",
        "geometry": "geom",
    },
    "ptrail": {"tid": "traj_id", "datetime": "DateTime", "lat": "lat", "lng": "lon"},
}
"""By preset, our column names to those of the other library."""

WHOLE_FILES = ("foursquare", "gowalla", "porto", "geolife")
"""Presets of file formats without named columns. Each has its own reader."""


BY_NAME = "; for a file with location ids, give the location set with --locations FILE"
COORDINATES = ({"lat", "lng"}, {"geometry"})
"""Alternative sets of columns with the coordinates of a point."""


@dataclass(frozen=True)
class Reading:
    """Options for reading a file of trajectories."""

    preset: str = "nomadp"
    """The name of a preset: the column names of a library or data set."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Maps column names of the file to ours. It takes precedence over the preset."""
    options: ReadOptions = field(default_factory=ReadOptions)
    """How to read values, for example the time zone of times without one."""
    split_hours: float | None = None
    """Start a new trajectory after a gap of more than this many hours."""
    clock: bool = True
    """Whether to read times even if a column seq already gives the order."""
    raw_signals: bool = False
    """Whether to read the raw signals of a Google Timeline, too."""
    thinning: Thinning = field(default_factory=Thinning)
    """Rules that reduce the number of points after reading."""

    def __post_init__(self) -> None:
        known = (*PRESETS, *WHOLE_FILES)
        if self.preset not in known:
            raise SchemaError(
                f"preset must be one of {', '.join(known)}, got {self.preset}"
                f"{_did_you_mean(self.preset, known)}",
                code="unknown_preset",
                preset=self.preset,
                suggestion=_suggestion(self.preset, known),
            )
        if self.columns and self.preset in WHOLE_FILES:
            raise SchemaError(
                f"columns must not be mapped for {self.preset} files, which have no named "
                "columns; omit the map",
                code="no_named_columns",
                preset=self.preset,
            )
        unknown = [ours for ours in self.columns.values() if ours not in OURS]
        if unknown:
            raise SchemaError(
                f"a column must be mapped to one of {', '.join(OURS)}, got {unknown[0]}",
                code="unknown_column",
                column=unknown[0],
            )

    def theirs(self) -> dict[str, str]:
        """Maps our column names to those expected in the file, whether or not it has them."""
        mapped = {ours: theirs for theirs, ours in self.columns.items()}
        taken = set(self.columns)
        preset = PRESETS[self.preset]
        return {o: t for o, t in preset.items() if t not in taken or o in mapped} | mapped

    def check_columns(self, path: AnyPath | Frame, header: Sequence[str]) -> None:
        """Raise `SchemaError` if a mapped column is missing.

        Without its user column, for example, a file of many people would look like one person.
        """
        for theirs in self.columns:
            if theirs not in header:
                raise SchemaError(
                    f"{source_name(path)} must have the column {theirs}, which --columns maps "
                    f"to {self.columns[theirs]}, but it is missing{_hint(theirs, header)}",
                    code="columns_missing",
                    missing=(theirs,),
                    suggestion=_suggestion(theirs, header),
                    separator=_separator(header),
                )

    def mapping(
        self,
        path: AnyPath | Frame,
        header: Sequence[str],
        where: Sequence[set[str]] = COORDINATES,
    ) -> dict[str, str]:
        """Maps our column names to the file's, for the columns that it has.

        Raises `SchemaError` if these columns are not sufficient. `where` lists alternative sets
        of columns that give the place of a point.
        """
        self.check_columns(path, header)
        expected = self.theirs()
        columns = {ours: theirs for ours, theirs in expected.items() if theirs in header}
        repeated = [theirs for theirs in columns.values() if list(header).count(theirs) > 1]
        if repeated:
            raise SchemaError(
                f"{source_name(path)} must have only one column {repeated[0]}, got several; "
                "rename them",
                code="column_repeated",
                column=repeated[0],
            )
        has_place = any(names <= columns.keys() for names in where)
        places = " or ".join(" and ".join(sorted(names)) or "geometry" for names in where)
        has_order = columns.keys() & {"tid", "uid"} and columns.keys() & {"seq", "datetime"}
        if not (has_place and has_order):
            raise SchemaError(
                f"{source_name(path)} must have columns for the trajectory or person (tid or "
                f"uid), the order (datetime or seq) and the place ({places}) of each point, "
                f"separated by commas; preset {self.preset} looks for "
                f"{', '.join(expected.values())} and finds "
                f"{', '.join(columns.values()) or 'none'}; {_naming_hint(path, header)}"
                + ("" if has_place or "location_id" not in columns else BY_NAME),
                code="columns_insufficient",
                preset=self.preset,
                used=tuple(columns.values()),
                separator=_separator(header),
            )
        if "seq" in columns and not self.clock:
            columns.pop("datetime", None)
        if {"lat", "lng"} <= columns.keys():
            columns.pop("geometry", None)
        used = ", ".join(t if t == o else f"{t} as {o}" for o, t in columns.items())
        note = "" if "tid" in columns else "; each user has one trajectory (no tid)"
        ignored = len(header) - len(columns)
        log.info(f"{source_name(path)}: read columns {used}; others ignored: {ignored}{note}")
        return columns


def _hint(theirs: str, header: Sequence[str]) -> str:
    """Why a column may be missing."""
    if "=" in theirs:
        return "; use one --columns option per column"
    return _separator_hint(header) or _did_you_mean(theirs, header)


def _separator_hint(header: Sequence[str]) -> str:
    """A remedy for a table that looks like one column: many programs write semicolons."""
    name = _separator(header)
    return f"; its columns are separated by {name}: save it with commas instead" if name else ""


def _separator(header: Sequence[str]) -> str | None:
    for mark, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if len(header) == 1 and mark in header[0]:
            return name
    return None


def _naming_hint(path: AnyPath | Frame, header: Sequence[str]) -> str:
    if isinstance(path, Frame):
        return "rename its columns, or map them with Reading(columns={theirs: ours})"
    return _separator_hint(header).removeprefix("; ") or "map others with --columns THEIRS=OURS"


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    close = _suggestion(name, known)
    return f" (did you mean {close}?)" if close else ""


def _suggestion(name: str, known: Sequence[str]) -> str | None:
    return next(iter(get_close_matches(name, known, 1)), None)


def parse_columns(texts: Sequence[str]) -> dict[str, str]:
    """A column map from texts such as `theirs=ours`."""
    columns: dict[str, str] = {}
    for text in texts:
        theirs, equals, ours = text.rpartition("=")
        if not (theirs and equals and ours) or theirs in columns:
            raise SchemaError(
                f"a column map must be THEIRS=OURS, with each of THEIRS only once, got {text}",
                code="invalid_column_map",
            )
        columns[theirs] = ours
    if len(set(columns.values())) < len(columns):
        raise SchemaError(
            "columns must be mapped to different names, got the same name twice",
            code="column_mapped_twice",
        )
    return columns
