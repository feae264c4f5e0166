"""Which column is which, in the words of the libraries and data sets people come from.

Nothing is guessed: a preset or an explicit map says what a name means, the mapping that was
used is reported, and a column that neither mentions is not looked at.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from nomadp.errors import SchemaError
from nomadp.formats.arrow_objects import Frame, called
from nomadp.formats.columns import Kind, Wishes
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
"""What a table of places by name must have."""

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
"""Our name of a column to theirs."""

WHOLE_FILES = ("foursquare", "gowalla", "porto", "geolife")
"""Presets that are not tables with named columns; each has a reader of its own."""


BY_NAME = ", and where places are named, --locations FILE says where they are"
COORDINATES = ({"lat", "lng"}, {"geometry"})
"""Either says where a point is."""


@dataclass(frozen=True)
class Reading:
    """How a file is to be read."""

    preset: str = "nomadp"
    columns: Mapping[str, str] = field(default_factory=dict)
    """Their name of a column to ours; stronger than the preset."""
    wishes: Wishes = field(default_factory=Wishes)
    split_hours: float | None = None
    """A new trajectory after a gap of more than so many hours."""
    clock: bool = True
    """Whether times are read where a seq already says the order."""
    raw_signals: bool = False
    """Whether the raw signals of a Google Timeline are read, too."""
    thinning: Thinning = field(default_factory=Thinning)
    """By which rules points become fewer, after reading."""

    def __post_init__(self) -> None:
        known = (*PRESETS, *WHOLE_FILES)
        if self.preset not in known:
            raise SchemaError(
                f"unknown column preset '{self.preset}'; choose one of {', '.join(known)}"
                f"{_did_you_mean(self.preset, known)}",
                code="unknown_preset",
                preset=self.preset,
                suggestion=_suggestion(self.preset, known),
            )
        if self.columns and self.preset in WHOLE_FILES:
            raise SchemaError(
                f"{self.preset} files have no named columns to map; leave it out",
                code="no_named_columns",
                preset=self.preset,
            )
        strange = [ours for ours in self.columns.values() if ours not in OURS]
        if strange:
            raise SchemaError(
                f"a column must be mapped to one of {', '.join(OURS)}, got {strange[0]}",
                code="unknown_column",
                column=strange[0],
            )

    def theirs(self) -> dict[str, str]:
        """Our names to theirs, whether or not the file has them."""
        mapped = {ours: theirs for theirs, ours in self.columns.items()}
        taken = set(self.columns)
        preset = PRESETS[self.preset]
        return {o: t for o, t in preset.items() if t not in taken or o in mapped} | mapped

    def check_columns(self, path: AnyPath | Frame, header: Sequence[str]) -> None:
        """Refuse a map from a column that is not there: people would be taken for one."""
        for theirs in self.columns:
            if theirs not in header:
                raise SchemaError(
                    f"{called(path)} must have the column {theirs}, which --columns maps to "
                    f"{self.columns[theirs]}, and has not{_hint(theirs, header)}",
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
        """Our names to the file's, for the columns it has; refuses what cannot be enough.

        `where` lists the sets of columns of which any one says where a point is.
        """
        self.check_columns(path, header)
        known = self.theirs()
        found = {ours: theirs for ours, theirs in known.items() if theirs in header}
        repeated = [theirs for theirs in found.values() if list(header).count(theirs) > 1]
        if repeated:
            raise SchemaError(
                f"{called(path)} must name the column {repeated[0]} only once",
                code="column_repeated",
                column=repeated[0],
            )
        located = any(columns <= found.keys() for columns in where)
        places = " or ".join(" and ".join(sorted(each)) or "geometry" for each in where)
        ordered = found.keys() & {"tid", "uid"} and found.keys() & {"seq", "datetime"}
        if not (located and ordered):
            raise SchemaError(
                f"{called(path)} must say whose (tid or uid), when (datetime or seq) and where "
                f"({places}), in columns separated by commas; preset {self.preset} looks for "
                f"{', '.join(known.values())}, and of these it has "
                f"{', '.join(found.values()) or 'none'}; {_how_to_name(path, header)}"
                + ("" if located or "location_id" not in found else BY_NAME),
                code="columns_insufficient",
                preset=self.preset,
                used=tuple(found.values()),
                separator=_separator(header),
            )
        if "seq" in found and not self.clock:
            found.pop("datetime", None)
        if {"lat", "lng"} <= found.keys():
            found.pop("geometry", None)
        used = ", ".join(t if t == o else f"{t} as {o}" for o, t in found.items())
        whose = "" if "tid" in found else "; without a tid, each user has one trajectory"
        ignored = len(header) - len(found)
        log.info(f"{called(path)}: columns {used} are read, {ignored} ignored{whose}")
        return found


def _hint(theirs: str, header: Sequence[str]) -> str:
    """Why a column may not have been found."""
    if "=" in theirs:
        return "; give each column a --columns of its own"
    return _separated(header) or _did_you_mean(theirs, header)


def _separated(header: Sequence[str]) -> str:
    """What to do about a table that looks like one column: many a program writes semicolons."""
    name = _separator(header)
    return f"; its columns are separated by {name}: save it with commas instead" if name else ""


def _separator(header: Sequence[str]) -> str | None:
    for mark, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if len(header) == 1 and mark in header[0]:
            return name
    return None


def _how_to_name(path: AnyPath | Frame, header: Sequence[str]) -> str:
    if isinstance(path, Frame):
        return "rename its columns, or say what they mean with Reading(columns={theirs: ours})"
    return _separated(header).removeprefix("; ") or "name others with --columns THEIRS=OURS"


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    close = _suggestion(name, known)
    return f" (did you mean {close}?)" if close else ""


def _suggestion(name: str, known: Sequence[str]) -> str | None:
    return next(iter(get_close_matches(name, known, 1)), None)


def parse_columns(texts: Sequence[str]) -> dict[str, str]:
    """From `theirs=ours` texts."""
    columns: dict[str, str] = {}
    for text in texts:
        theirs, equals, ours = text.rpartition("=")
        if not (theirs and equals and ours) or theirs in columns:
            raise SchemaError(
                f"a column map must be THEIRS=OURS, each of theirs once, got {text}",
                code="invalid_column_map",
            )
        columns[theirs] = ours
    if len(set(columns.values())) < len(columns):
        raise SchemaError(
            "two columns must not be mapped to the same name, and are",
            code="column_mapped_twice",
        )
    return columns
