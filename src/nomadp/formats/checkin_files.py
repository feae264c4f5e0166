"""Check-ins as downloaded: Foursquare's TSMC2014 and Gowalla's (SNAP) files.

Neither has a header. Foursquare's category names are Latin-1 and are never decoded: only five
columns are read, all of them ASCII. Malformed rows are counted and named by their line; their
content is private and never shown. Moments have a fixed width, so a column of them is parsed as
a matrix of characters: files have millions of rows, and parsing each on its own is slow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import SchemaError
from nomadp.extras import require
from nomadp.formats.box import Box
from nomadp.formats.measured_file import AnyPath, MeasuredFile, Progress, file_sha256
from nomadp.formats.unreadable import BadRows
from nomadp.geometry import Floats
from nomadp.sequences import Indices

__all__ = ["LAYOUTS", "CheckIns", "Layout", "read_checkins"]

Characters = NDArray[np.uint8]  # (n, width)
Mask = NDArray[np.bool_]

BLOCK_BYTES = 1 << 22
NAMED_LINES = 5
"""The first malformed rows are named by their line, up to this number."""

DECIMAL = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"
NAME = r"^[!-~]+$"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _number(text: Characters, start: int, end: int) -> Indices:
    """The whole number in these columns of characters."""
    number = np.zeros(len(text), dtype=np.int64)
    for k in range(start, end):
        number = 10 * number + (text[:, k] - ord("0"))
    return number


def _month(text: Characters, start: int) -> Indices:
    """The number of a month from its three letters, which are read as one 24-bit code."""
    letters = text[:, start : start + 3].astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    codes = np.array([int.from_bytes(name.encode()) for name in MONTHS])
    order = np.argsort(codes)
    return np.asarray(order[codes[order].searchsorted(letters)] + 1)


def _moment(
    date: tuple[Indices, Indices, Indices], time: Characters, offset_minutes: Indices
) -> tuple[Indices, Mask]:
    """Moments from dates and the characters of ``18:00:09``, and whether they are valid."""
    year, month, day = date
    hour, minute, second = (_number(time, k, k + 2) for k in (0, 3, 6))
    month_start = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days_in_month = (
        (month_start + 1).astype("datetime64[D]") - month_start.astype("datetime64[D]")
    ).astype(np.int64)
    # A leap second counts as the second after it, as everywhere in Unix time.
    exists = (day >= 1) & (day <= days_in_month) & (hour < 24) & (minute < 60) & (second <= 60)
    days = month_start.astype("datetime64[D]").astype(np.int64) + day - 1
    seconds = days * 86_400 + hour * 3_600 + (minute - offset_minutes) * 60 + second
    return seconds * 1_000_000, exists & (month >= 1) & (month <= 12)


def _foursquare(text: Characters) -> tuple[Indices, Mask]:
    date = _number(text, 26, 30), _month(text, 4), _number(text, 8, 10)
    sign = np.where(text[:, 20] == ord("-"), -1, 1)
    offset_minutes = sign * (60 * _number(text, 21, 23) + _number(text, 23, 25))
    return _moment(date, text[:, 11:19], offset_minutes)


def _gowalla(text: Characters) -> tuple[Indices, Mask]:
    date = _number(text, 0, 4), _number(text, 5, 7), _number(text, 8, 10)
    return _moment(date, text[:, 11:19], np.zeros(len(text), dtype=np.int64))


@dataclass(frozen=True)
class Layout:
    """The tab-separated columns of a format. A name that starts with `_` is not read."""

    columns: tuple[str, ...]
    width: int
    pattern: str
    """A regular expression for moments. `read` can parse whatever it matches."""
    read: Callable[[Characters], tuple[Indices, Mask]]
    """Returns microseconds since 1970 UTC, and whether the moment exists."""


LAYOUTS = {
    "foursquare": Layout(
        ("uid", "location_id", "_3", "_4", "lat", "lng", "_7", "datetime"),
        len("Tue Apr 03 18:00:09 +0000 2012"),
        rf"^[A-Z][a-z]{{2}} (?:{'|'.join(MONTHS)}) \d\d \d\d:\d\d:\d\d [+-]\d{{4}} \d{{4}}$",
        _foursquare,
    ),
    "gowalla": Layout(
        ("uid", "datetime", "lat", "lng", "location_id"),
        len("2010-10-19T23:55:27Z"),
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$",
        _gowalla,
    ),
}


@dataclass(frozen=True, repr=False)
class CheckIns:
    """The well-formed rows in the box, in the file's order. Private: never shown."""

    uid: Indices
    """Users, numbered in order of appearance."""
    place: Indices
    """Index into `place_ids`."""
    moment_us: Indices
    lat: Floats
    lng: Floats
    place_ids: tuple[str, ...]
    user_ids: tuple[str, ...]
    rows: int
    malformed: int
    malformed_lines: tuple[int, ...]
    """The first few."""
    outside: int
    sha256: str


def read_checkins(
    path: AnyPath, source: str, box: Box | None = None, progress: Progress | None = None
) -> CheckIns:
    """Read a file of `source` (a key of LAYOUTS), plain or ending in .gz."""
    require("tables")
    import pyarrow as pa  # slow to import

    file_path = Path(path)
    reader = _CheckInReader(LAYOUTS[source], box)
    try:
        with MeasuredFile(file_path, progress) as file:
            for batch in reader.batches(file.decoded(gzipped=file_path.suffix == ".gz")):
                reader.add(batch)
        sha256 = file_sha256(file_path)
    except pa.ArrowInvalid:
        refusal = SchemaError(
            f"{file_path} must have lines of five to eight columns like {source} files, but it "
            "does not; check the preset",
            code="not_checkins",
        )
    except OSError as error:
        refusal = SchemaError(
            f"{file_path} cannot be read: {error.strerror or 'an error of the device'}",
            code="file_unreadable",
            errno=error.errno,
        )
    else:
        return reader.checkins(file_path, source, sha256)
    # Raised outside the handlers: the original error may quote the file.
    raise refusal


class _CheckInReader:
    """Reads batches of rows and keeps the well-formed ones in the box."""

    def __init__(self, layout: Layout, box: Box | None) -> None:
        self._layout = layout
        self._box = box
        self._wrong_width_lines: list[int] = []  # lines with another number of columns
        self._malformed_rows: list[Indices] = []  # counted without the lines of a wrong width
        self._rows = 0
        self._outside = 0
        self._names: dict[str, list[Any]] = {"uid": [], "location_id": []}
        self._numbers: dict[str, list[Any]] = {"lat": [], "lng": [], "datetime": []}

    def batches(self, stream: Any) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        columns = self._layout.columns
        return csv.open_csv(
            stream,
            # One thread, because only then are row numbers known. Latin-1, in which every byte
            # is a character, because category names may contain any bytes.
            csv.ReadOptions(
                column_names=columns,
                use_threads=False,
                block_size=BLOCK_BYTES,
                encoding="latin-1",
            ),
            csv.ParseOptions(
                delimiter="\t",
                quote_char=False,
                ignore_empty_lines=False,
                invalid_row_handler=self._skip,
            ),
            csv.ConvertOptions(
                include_columns=[name for name in columns if not name.startswith("_")],
                # As bytes: nothing is decoded before it is known to be ASCII.
                column_types={name: pa.binary() for name in columns},
            ),
        )

    def _skip(self, row: Any) -> str:
        self._wrong_width_lines.append(row.number)
        return "skip"

    def add(self, batch: Any) -> None:
        import pyarrow.compute as pc

        well_formed = self._well_formed(batch)
        rows = np.flatnonzero(well_formed)
        fields = {name: batch[name].filter(well_formed) for name in batch.schema.names}
        lat, lng = (fields[name].cast("string").cast("float64") for name in ("lat", "lng"))
        lat, lng = lat.to_numpy(), lng.to_numpy()
        text = np.frombuffer(b"".join(fields["datetime"].to_pylist()), np.uint8)
        # Of the well-formed rows, those whose moment and coordinates exist are valid.
        moment_us, valid = self._layout.read(text.reshape(-1, self._layout.width))
        valid &= (np.abs(lat) <= 90) & (np.abs(lng) <= 180)
        malformed = np.ones(batch.num_rows, dtype=bool)
        malformed[rows[valid]] = False
        self._malformed_rows.append(self._rows + np.flatnonzero(malformed))
        self._rows += batch.num_rows
        inside = valid if self._box is None else valid & self._box.contains(lat, lng)
        self._outside += int(np.count_nonzero(valid & ~inside))
        for name, pieces in self._names.items():
            pieces.append(pc.filter(fields[name], inside))
        numbers = {"lat": lat, "lng": lng, "datetime": moment_us}
        for name, pieces in self._numbers.items():
            pieces.append(numbers[name][inside])

    def _well_formed(self, batch: Any) -> NDArray[np.bool_]:
        """The rows whose five fields match their patterns."""
        import pyarrow.compute as pc

        patterns = {
            "uid": NAME,
            "location_id": NAME,
            "lat": DECIMAL,
            "lng": DECIMAL,
            "datetime": self._layout.pattern,
        }
        well_formed = np.ones(batch.num_rows, dtype=bool)
        for name, pattern in patterns.items():
            matched = pc.match_substring_regex(batch[name], pattern)
            well_formed &= matched.to_numpy(zero_copy_only=False)
        return well_formed

    def checkins(self, path: Path, source: str, sha256: str) -> CheckIns:
        import pyarrow as pa

        malformed = np.concatenate([np.empty(0, dtype=np.int64), *self._malformed_rows])
        wrong_width = np.array(self._wrong_width_lines, dtype=np.int64)
        lines = np.sort(np.concatenate([wrong_width, _line_numbers(malformed, wrong_width)]))
        rows = self._rows + len(wrong_width)
        if len(lines) == rows:
            refusal = SchemaError(
                f"{path} must be a {source} file of {len(self._layout.columns)} columns "
                f"separated by tabs, but none of its {rows} lines is; check the preset",
                code="not_checkins",
                rows=rows,
            )
            raise BadRows(str(refusal), **vars(refusal)) if self._rows else refusal
        encoded = {
            name: pa.chunked_array(pieces, pa.binary()).combine_chunks().dictionary_encode()
            for name, pieces in self._names.items()
        }
        ids = {
            name: tuple(text_id.decode("ascii") for text_id in column.dictionary.to_pylist())
            for name, column in encoded.items()
        }
        values = {name: np.concatenate(pieces) for name, pieces in self._numbers.items()}
        return CheckIns(
            uid=encoded["uid"].indices.to_numpy().astype(np.int64),
            place=encoded["location_id"].indices.to_numpy().astype(np.int64),
            moment_us=values["datetime"],
            lat=values["lat"],
            lng=values["lng"],
            place_ids=ids["location_id"],
            user_ids=ids["uid"],
            rows=rows,
            malformed=len(lines),
            malformed_lines=tuple(lines[:NAMED_LINES].tolist()),
            outside=self._outside,
            sha256=sha256,
        )


def _line_numbers(row: Indices, skipped_lines: Indices) -> Indices:
    """The line of each row. The skipped lines, in ascending order, were not counted as rows."""
    # Skipped line k (from 0) follows `skipped_lines[k] - 1` lines, of which k were skipped.
    rows_before = skipped_lines - 1 - np.arange(len(skipped_lines))
    return row + 1 + rows_before.searchsorted(row, side="right")
