"""Columns of a table that is read from a file: their kinds, and the checks of their values.

A trajectory file is private. An error names the row of a bad value and the rule that it breaks.
It never quotes the value, not even in the chain of exceptions.
"""

import contextlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import Enum, auto
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import InvalidArgument
from nomadp.formats.unreadable import BadRows
from nomadp.geometry import Floats, usable_degrees
from nomadp.sequences import Indices
from nomadp.trajectory import PUBLIC_HOUR

__all__ = [
    "BadValue",
    "Choose",
    "ColumnReader",
    "Kind",
    "Moments",
    "UNKNOWN_CLOCK",
    "Table",
    "Text",
    "TextCoder",
    "Times",
    "ReadOptions",
    "forward_filled",
    "check",
    "local_times",
    "decimals",
    "degrees",
    "moment_texts",
    "offset_texts",
    "points",
    "row_attribute",
    "whole_numbers",
]


class Kind(Enum):
    """The kind of values in a column."""

    TEXT = auto()
    DECIMAL = auto()
    WHOLE = auto()
    MOMENT = auto()
    MAYBE_MOMENT = auto()
    """A moment in every row, or an empty column."""
    POINT = auto()
    """A point geometry: WKT in CSV, WKB in Parquet."""


Choose = Callable[[Sequence[str]], Mapping[str, Kind]]
"""Selects the columns to read by the header. Raises `SchemaError` if some are missing."""


@dataclass(frozen=True, repr=False)
class Text:
    """A dictionary-encoded column of text: row k is `values[codes[k]]`.

    Values are in order of appearance.
    """

    codes: Indices
    values: tuple[str, ...]

    def at(self, rows: Indices) -> tuple[str, ...]:
        return tuple(self.values[code] for code in self.codes[rows])


@dataclass(frozen=True, repr=False)
class Times:
    """Microseconds since 1970 UTC, or whole numbers that give only the order."""

    values: Indices
    are_positions: bool
    local_us: Indices | None = None
    """Local clock times, if requested; `UNKNOWN_CLOCK` where they are unknown."""


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading values, for everything that the file alone does not determine."""

    zone: tzinfo | None = None
    """The time zone of moments that have none, and of local clocks for moments in UTC. With
    None, the former are an error and the latter are unknown."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of bytes read so far, and the total."""
    hours: bool = False
    """Whether to keep the hour of the week in which each trajectory begins."""
    lenient: bool = False
    """Whether an unusable value drops only its point instead of rejecting the file. A person's
    device reads this way: whether it reports must not depend on private values."""


@dataclass(frozen=True, repr=False)
class Table:
    """The chosen columns of a file, and a function that names a row without its contents."""

    path: str
    rows: int
    # Text for text, Times or None for moments, (rows, 2) lng and lat for points, else (rows,).
    column: Mapping[str, Any]
    row_label: Callable[[int], str]


class BadValue(Exception):
    """Row `row` of a column breaks `rule`.

    Readers turn this into a `SchemaError` with the same code and attributes.
    """

    def __init__(self, row: int, rule: str, *, code: str, **facts: object) -> None:
        super().__init__(rule)
        self.row = row
        self.rule = rule
        self.facts: dict[str, Any] = {"code": code, **facts}


def check(
    table: Table, broken: NDArray[np.bool_], rule: str, *, code: str, column: str
) -> None:
    """Raise `BadRows` if any row is broken. The error names the first row and the number."""
    broken_rows = np.flatnonzero(broken)
    if len(broken_rows):
        label = table.row_label(int(broken_rows[0]))
        others = f" (and {len(broken_rows) - 1} more)" if len(broken_rows) > 1 else ""
        raise BadRows(
            f"{table.path}: {label}{others}: {rule}",
            code=code,
            column=column,
            rows=len(broken_rows),
            **row_attribute(label),
        )


def row_attribute(label: str) -> dict[str, Any]:
    """The place of a row as an attribute of an error: ``line 7`` becomes ``line=7``."""
    unit, _, number = label.rpartition(" ")
    return {unit: int(number)}


class TextCoder:
    """Dictionary-encodes texts that arrive in pieces."""

    def __init__(self, *, lenient: bool = False) -> None:
        self._code: dict[str, int] = {}
        self._lenient = lenient

    def add(self, values: Sequence[str]) -> Indices:
        if "" in values and not self._lenient:
            raise BadValue(values.index(""), "must not be empty", code="value_empty")
        code = self._code
        return np.fromiter((code.setdefault(v, len(code)) for v in values), np.int64)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self._code)


def decimals(values: Sequence[str], *, lenient: bool = False) -> Floats:
    """Finite numbers. A lenient reader gets NaN for other values."""
    if lenient:
        return np.array([_parsed_or(math.nan, v, float) for v in values], dtype=np.float64)
    parsed = _parsed(values, float, "must be a number", code="not_a_number")
    column = np.array(parsed, dtype=np.float64)
    not_finite = np.flatnonzero(~np.isfinite(column))
    if len(not_finite):
        raise BadValue(int(not_finite[0]), "must be a finite number", code="not_finite")
    return column


def degrees(
    lat: Sequence[str], lng: Sequence[str], *, lenient: bool = False
) -> tuple[Floats, Floats]:
    """Latitudes and longitudes within their limits."""
    lat_deg, lng_deg = decimals(lat, lenient=lenient), decimals(lng, lenient=lenient)
    if lenient:
        return usable_degrees(lat_deg, lng_deg)
    out_of_range = np.flatnonzero((np.abs(lat_deg) > 90) | (np.abs(lng_deg) > 180))
    if len(out_of_range):
        raise BadValue(
            int(out_of_range[0]),
            "must be in [-90, 90] and [-180, 180] degrees",
            code="not_degrees",
        )
    return lat_deg, lng_deg


def whole_numbers(values: Sequence[str], *, lenient: bool = False) -> Indices:
    """Whole numbers of at most 64 bits. A lenient reader gets `UNREADABLE` for other values."""
    if lenient:
        return np.array([_parsed_or(UNREADABLE, v, _int64) for v in values], dtype=np.int64)
    parsed = _parsed(values, _int64, "must be a whole number", code="not_a_whole_number")
    return np.array(parsed, dtype=np.int64)


class Moments:
    """Parses microseconds since 1970 UTC, or positions if the first value is an integer."""

    def __init__(self, options: ReadOptions | None = None, *, optional: bool = False) -> None:
        self._options = options or ReadOptions()
        self._lenient = self._options.lenient
        self._zone = self._options.zone or UTC  # of lenient readers, which reject nothing
        self._local_us: list[Indices] = []
        self._are_positions: bool | None = None
        self._is_empty = None if optional and not self._lenient else False

    def times(self, values: Indices) -> Times | None:
        """The times, from the joined results of all calls of `add`; None if all are empty."""
        local_us = np.concatenate(self._local_us) if self._local_us else None
        if self._lenient:
            values = forward_filled(values)
        return None if self._is_empty else Times(values, bool(self._are_positions), local_us)

    def add(self, values: Sequence[str]) -> Indices:
        """Parse more values. The first value of all determines the kind of the column."""
        if not values:
            return np.empty(0, dtype=np.int64)
        if self._is_empty is None:
            self._is_empty = not values[0]
        if self._is_empty:
            return _empty_column(values)
        if self._are_positions is None:
            self._are_positions = values[0].strip().lstrip("+-").isdigit()
        if self._are_positions:
            return whole_numbers(values, lenient=self._lenient)
        if self._lenient:
            return self._add_leniently(values)
        moments = _parsed(
            values,
            datetime.fromisoformat,
            "must be an ISO 8601 date and time, such as 2012-04-03T18:00:09Z",
            code="not_a_moment",
        )
        for k, moment in enumerate(moments):
            if moment.tzinfo is None:
                if self._options.zone is None:
                    raise BadValue(k, NAIVE, code="time_zone_missing")
                moments[k] = moment.replace(tzinfo=self._options.zone)
        microsecond = timedelta(microseconds=1)
        moment_us = np.array([(m - _EPOCH) // microsecond for m in moments], dtype=np.int64)
        if self._options.hours:
            # An offset gives the local time. A Z does not: it means that only UTC is known
            # (RFC 9557).
            offset_us = [moment.utcoffset() // microsecond for moment in moments]
            in_utc = np.array([value.strip()[-1:] in "Zz" for value in values], dtype=np.bool_)
            zone_local_us = local_times(moment_us, self._options)
            offset_local_us = moment_us + np.array(offset_us, dtype=np.int64)
            self._local_us.append(np.where(in_utc, zone_local_us, offset_local_us))
        return moment_us

    def _add_leniently(self, values: Sequence[str]) -> Indices:
        """Like `add`, with `UNREADABLE` for invalid values instead of an error."""
        unreadable, parse = (UNREADABLE, PUBLIC_CLOCK_US), partial(_moment, self._zone)
        parsed = [_parsed_or(unreadable, value, parse) for value in values]
        moment_us, local_us = np.array(parsed, dtype=np.int64).reshape(-1, 2).T
        if self._options.hours:
            self._local_us.append(local_us)
        return moment_us


class ColumnReader:
    """A column of one kind whose values arrive as text, in pieces."""

    def __init__(self, kind: Kind, options: ReadOptions) -> None:
        lenient = options.lenient
        self._coder = TextCoder(lenient=lenient) if kind is Kind.TEXT else None
        is_moment = kind in (Kind.MOMENT, Kind.MAYBE_MOMENT)
        optional = kind is Kind.MAYBE_MOMENT
        self._moments = Moments(options, optional=optional) if is_moment else None
        parsers: Any = {Kind.DECIMAL: decimals, Kind.WHOLE: whole_numbers, Kind.POINT: points}
        reader: Any = self._coder or self._moments
        self._read = reader.add if reader else partial(parsers[kind], lenient=lenient)
        self._is_order = lenient and kind is Kind.WHOLE
        self._pieces: list[Any] = [np.empty(0, dtype=np.int64)]

    def add(self, values: Sequence[str]) -> None:
        self._pieces.append(self._read(values))

    def column(self) -> Any:
        """The column in the form that `Table` has."""
        values = np.concatenate(self._pieces[1:] or self._pieces)
        if self._coder:
            return Text(values, self._coder.values)
        if self._is_order:
            return forward_filled(values)
        return self._moments.times(values) if self._moments else values


NAIVE = (
    "must have a time zone; add Z for UTC or an offset such as +02:00, or set the time zone "
    "with --time-zone"
)
_WKT = re.compile(r"\s*POINT\s*(?:Z|M|ZM)?\s*\(\s*(\S+)\s+(\S+)(?:\s+\S+)*\s*\)\s*", re.I)


def points(values: Sequence[str], *, lenient: bool = False) -> Floats:
    """Longitudes and latitudes from WKT, shape (rows, 2)."""
    matches = [_WKT.fullmatch(value) for value in values]
    if lenient:
        texts = [match.groups() if match else ("", "") for match in matches]
        return decimals([*chain.from_iterable(texts)], lenient=True).reshape(-1, 2)
    if None in matches:
        raise BadValue(
            matches.index(None),
            "must be a point in WKT, such as POINT (8.5 47.4)",
            code="not_a_point",
        )
    numbers = decimals([number for match in matches if match for number in match.groups()])
    return numbers.reshape(-1, 2)


def _empty_column(values: Sequence[str]) -> Indices:
    for k, value in enumerate(values):
        if value:
            raise BadValue(
                k,
                "must be empty in every row or in none, but the first row is empty",
                code="partly_given",
            )
    return np.zeros(len(values), dtype=np.int64)


def _parsed(
    values: Sequence[str], parse: Callable[[str], Any], rule: str, *, code: str
) -> list[Any]:
    # Python also parses 1_000 and digits of other scripts as numbers, which no table means.
    # One check of the joined text is much faster than a check of each value.
    joined = "".join(values)
    if "_" not in joined and joined.isascii():
        with contextlib.suppress(ValueError, OverflowError):
            return list(map(parse, values))
    raise BadValue(_first_unreadable(values, parse), rule, code=code)


def _parsed_or(fallback: Any, value: str, parse: Callable[[str], Any]) -> Any:
    """The parsed value, or ``otherwise`` if it cannot be parsed."""
    if "_" in value or not value.isascii():
        return fallback
    try:
        return parse(value)
    except (ValueError, OverflowError):
        return fallback


def _moment(zone: tzinfo, value: str) -> tuple[int, int]:
    """A moment in UTC and in local time, both in microseconds since 1970."""
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    elif value.strip()[-1:] in "Zz":
        moment = moment.astimezone(zone)
    microsecond = timedelta(microseconds=1)
    moment_us = (moment - _EPOCH) // microsecond
    return moment_us, moment_us + (moment.utcoffset() or timedelta()) // microsecond


def forward_filled(values: Indices) -> Indices:
    """The values, with each `UNREADABLE` one replaced by the readable one before it.

    Leading ones become the first readable value. This keeps each point's place in the order.
    """
    readable = np.flatnonzero(values != UNREADABLE)
    if not len(readable):
        return np.zeros(len(values), dtype=np.int64)
    last_readable = np.searchsorted(readable, np.arange(len(values)), side="right") - 1
    return values[readable[np.maximum(last_readable, 0)]]


def _first_unreadable(values: Sequence[str], parse: Callable[[str], Any]) -> int:
    for k, value in enumerate(values):
        if "_" in value or not value.isascii():
            return k
        try:
            parse(value)
        except (ValueError, OverflowError):
            return k
    return len(values)


def _int64(value: str) -> int:
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise OverflowError
    return number


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

UNREADABLE = -(2**63)
"""Stands for a whole number or moment that a lenient reader cannot read."""
UNKNOWN_CLOCK = UNREADABLE
"""Stands for the local time of a moment that is known in UTC only."""
PUBLIC_CLOCK_US = (PUBLIC_HOUR - 3 * 24) * 3_600_000_000
"""A local time in the public hour of the week, for moments that a device cannot read. Hours
count from Monday, and 1970 began on a Thursday, hence the 3 days."""

QUARTER_US = 900_000_000  # 15 minutes
EARLIEST_US = -62_135_596_800_000_000
LATEST_US = 253_402_300_799_999_999
"""The first microsecond of the year 1 and the last of the year 9999."""


def local_times(moment_us: Indices, options: ReadOptions) -> Indices:
    """Local times of moments that a file has in UTC (RFC 9557: Z names no zone).

    Without a zone they are unknown. A person's device then uses UTC, because it never rejects
    a file for its values.
    """
    if options.zone is None:
        return moment_us if options.lenient else np.full_like(moment_us, UNKNOWN_CLOCK)
    # Offsets change only at full quarters of an hour, so each quarter is looked up once.
    quarter, quarter_of_row = np.unique(moment_us // QUARTER_US, return_inverse=True)
    offset_us = [_offset_us(k, options.zone) for k in quarter.tolist()]
    local_us: Indices = moment_us + np.array(offset_us, dtype=np.int64)[quarter_of_row]
    return local_us


def _offset_us(quarter: int, zone: tzinfo) -> int:
    """The offset of local time at the start of a quarter of an hour (counted from 1970)."""
    moment = (_EPOCH + timedelta(microseconds=quarter * QUARTER_US)).astimezone(zone)
    return (moment.utcoffset() or timedelta()) // timedelta(microseconds=1)


def offset_texts(moment_us: Indices, local_us: Indices | None) -> list[str]:
    """Like `moment_texts`, with the offset where it is known: 2012-04-03T20:00:09+02:00."""
    texts = moment_texts(moment_us)
    if local_us is None:
        return texts
    known = np.flatnonzero(local_us != UNKNOWN_CLOCK)
    local_texts = moment_texts(local_us[known])
    minutes = (local_us[known] - moment_us[known]) // 60_000_000
    for k, text, offset in zip(known.tolist(), local_texts, minutes.tolist(), strict=True):
        hour, minute = divmod(abs(offset), 60)
        texts[k] = f"{text[:-1]}{'-' if offset < 0 else '+'}{hour:02}:{minute:02}"
    return texts


def moment_texts(moment_us: NDArray[np.int64]) -> list[str]:
    """Microseconds since 1970 UTC as text, such as 2012-04-03T18:00:09Z."""
    if len(moment_us) and not EARLIEST_US <= moment_us.min() <= moment_us.max() <= LATEST_US:
        raise InvalidArgument(
            "moments must be in the years 1 to 9999, got one that is not; check the times",
            code="moment_out_of_range",
        )
    whole_seconds = not np.any(moment_us % 1_000_000)
    texts = np.datetime_as_string(
        moment_us.astype("datetime64[us]"), unit="s" if whole_seconds else "us"
    )
    return [f"{text}Z" for text in texts.tolist()]
