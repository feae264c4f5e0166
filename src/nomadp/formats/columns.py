"""Columns of a table read from a file: what kind each is, and what its values must be.

A trajectory file is private, so a bad value is known only by its row and by the rule it
breaks. It is never quoted, nor kept in the chain of exceptions.
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
    "Growing",
    "Kind",
    "Moments",
    "UNKNOWN_CLOCK",
    "Table",
    "Text",
    "TextCoder",
    "Times",
    "Wishes",
    "carried",
    "check",
    "clocks",
    "decimals",
    "degrees",
    "moment_texts",
    "offset_texts",
    "points",
    "spot",
    "wholes",
]


class Kind(Enum):
    """What the values of a column are."""

    TEXT = auto()
    DECIMAL = auto()
    WHOLE = auto()
    MOMENT = auto()
    MAYBE_MOMENT = auto()
    """A moment, or nothing in the whole column."""
    POINT = auto()
    """A point of the map in one column: WKT in CSV, WKB in Parquet."""


Choose = Callable[[Sequence[str]], Mapping[str, Kind]]
"""Given the header, the columns to read; refuses a header that lacks some."""


@dataclass(frozen=True, repr=False)
class Text:
    """A column of text: row k holds `values[codes[k]]`; values in order of appearance."""

    codes: Indices
    values: tuple[str, ...]

    def at(self, rows: Indices) -> tuple[str, ...]:
        return tuple(self.values[code] for code in self.codes[rows])


@dataclass(frozen=True, repr=False)
class Times:
    """Microseconds since 1970 UTC, or whole numbers that only say what comes first."""

    values: Indices
    are_positions: bool
    local_us: Indices | None = None
    """What the clocks showed, where it was asked for; `UNKNOWN_CLOCK` where nobody knows."""


@dataclass(frozen=True)
class Wishes:
    """How to read, where the file leaves a choice."""

    zone: tzinfo | None = None
    """What a moment without a time zone means, and what clocks showed at one in UTC; None
    refuses the one, and does not know the other."""
    progress: Callable[[int, int], None] | None = None
    """Told how many bytes were read, of how many."""
    hours: bool = False
    """Whether to keep the hour of the week at which a trajectory begins."""
    lenient: bool = False
    """Whether a value that cannot be used leaves out its point, and not the file: whether a
    person's device reports must not depend on it."""


@dataclass(frozen=True, repr=False)
class Table:
    """The chosen columns of a file, and how to name one of its rows without its content."""

    path: str
    rows: int
    # Text for text, Times or None for moments, (rows, 2) lng and lat for points, else (rows,).
    column: Mapping[str, Any]
    where: Callable[[int], str]


class BadValue(Exception):
    """Row `row` of a column breaks `rule`. Readers turn it into a SchemaError.

    That has the same code and the same facts.
    """

    def __init__(self, row: int, rule: str, *, code: str, **facts: object) -> None:
        super().__init__(rule)
        self.row = row
        self.rule = rule
        self.facts: dict[str, Any] = {"code": code, **facts}


def check(
    table: Table, broken: NDArray[np.bool_], rule: str, *, code: str, column: str
) -> None:
    """Refuse the table when any row is broken, naming the first and how many."""
    rows = np.flatnonzero(broken)
    if len(rows):
        place = table.where(int(rows[0]))
        others = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
        raise BadRows(
            f"{table.path}: {place}{others}: {rule}",
            code=code,
            column=column,
            rows=len(rows),
            **spot(place),
        )


def spot(place: str) -> dict[str, Any]:
    """Where a row is, as the fact of an error: ``line 7`` is ``line=7``."""
    unit, _, number = place.rpartition(" ")
    return {unit: int(number)}


class TextCoder:
    """Codes for texts that arrive in pieces."""

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
    """Finite numbers; NaN for what is none, where the reader is lenient."""
    if lenient:
        return np.array([_or(math.nan, each, float) for each in values], dtype=np.float64)
    read = _parsed(values, float, "must be a number", code="not_a_number")
    column = np.array(read, dtype=np.float64)
    unbounded = np.flatnonzero(~np.isfinite(column))
    if len(unbounded):
        raise BadValue(int(unbounded[0]), "must be a finite number", code="not_finite")
    return column


def degrees(
    lat: Sequence[str], lng: Sequence[str], *, lenient: bool = False
) -> tuple[Floats, Floats]:
    """Latitudes and longitudes, in range."""
    found = decimals(lat, lenient=lenient), decimals(lng, lenient=lenient)
    if lenient:
        return usable_degrees(*found)
    outside = np.flatnonzero((np.abs(found[0]) > 90) | (np.abs(found[1]) > 180))
    if len(outside):
        raise BadValue(
            int(outside[0]), "must be in [-90, 90] and [-180, 180] degrees", code="not_degrees"
        )
    return found


def wholes(values: Sequence[str], *, lenient: bool = False) -> Indices:
    """Whole numbers of at most 64 bits; `UNREADABLE` for others, if the reader is lenient."""
    if lenient:
        return np.array([_or(UNREADABLE, each, _int64) for each in values], dtype=np.int64)
    read = _parsed(values, _int64, "must be a whole number", code="not_a_whole_number")
    return np.array(read, dtype=np.int64)


class Moments:
    """Microseconds since 1970 UTC, or plain positions if the first value is an integer."""

    def __init__(self, wishes: Wishes | None = None, *, may_be_absent: bool = False) -> None:
        self._wishes = wishes or Wishes()
        self._lenient = self._wishes.lenient
        self._local_us: list[Indices] = []
        self._positions: bool | None = None
        self._absent = None if may_be_absent and not self._lenient else False

    def times(self, values: Indices) -> Times | None:
        """What the values that were added together are."""
        local_us = np.concatenate(self._local_us) if self._local_us else None
        if self._lenient:
            values = carried(values)
        return None if self._absent else Times(values, bool(self._positions), local_us)

    def add(self, values: Sequence[str]) -> Indices:
        if not values:
            return np.empty(0, dtype=np.int64)
        if self._absent is None:
            self._absent = not values[0]
        if self._absent:
            return _nothing(values)
        if self._positions is None:
            self._positions = values[0].strip().lstrip("+-").isdigit()
        if self._positions:
            return wholes(values, lenient=self._lenient)
        if self._lenient:
            return self._readable(values)
        moments = _parsed(
            values,
            datetime.fromisoformat,
            "must be an ISO 8601 date and time, such as 2012-04-03T18:00:09Z",
            code="not_a_moment",
        )
        for k, moment in enumerate(moments):
            if moment.tzinfo is None:
                if self._wishes.zone is None:
                    raise BadValue(k, NAIVE, code="time_zone_missing")
                moments[k] = moment.replace(tzinfo=self._wishes.zone)
        microsecond = timedelta(microseconds=1)
        found = np.array([(each - _EPOCH) // microsecond for each in moments], dtype=np.int64)
        if self._wishes.hours:
            ahead = [each.utcoffset() // microsecond for each in moments]
            in_utc = np.array([value.strip()[-1:] in "Zz" for value in values], dtype=np.bool_)
            shown = clocks(found, self._wishes)
            offset = found + np.array(ahead, dtype=np.int64)
            self._local_us.append(np.where(in_utc, shown, offset))
        return found

    def _readable(self, values: Sequence[str]) -> Indices:
        """`UNREADABLE` for what is no moment. One without a zone is what a clock showed."""
        zone = self._wishes.zone or UTC
        found = [
            _or((UNREADABLE, PUBLIC_CLOCK_US), each, partial(_moment, zone)) for each in values
        ]
        moment_us, local_us = np.array(found, dtype=np.int64).reshape(-1, 2).T
        if self._wishes.hours:
            self._local_us.append(local_us)
        return moment_us


class Growing:
    """A column of one kind whose values arrive as text, in pieces."""

    def __init__(self, kind: Kind, wishes: Wishes) -> None:
        lenient = wishes.lenient
        self._coder = TextCoder(lenient=lenient) if kind is Kind.TEXT else None
        clock = kind in (Kind.MOMENT, Kind.MAYBE_MOMENT)
        absent = kind is Kind.MAYBE_MOMENT
        self._clock = Moments(wishes, may_be_absent=absent) if clock else None
        plain: Any = {Kind.DECIMAL: decimals, Kind.WHOLE: wholes, Kind.POINT: points}
        read: Any = self._coder or self._clock
        self._read = read.add if read else partial(plain[kind], lenient=lenient)
        self._is_order = lenient and kind is Kind.WHOLE
        self._pieces: list[Any] = [np.empty(0, dtype=np.int64)]

    def add(self, values: Sequence[str]) -> None:
        self._pieces.append(self._read(values))

    def column(self) -> Any:
        """As a Table has it."""
        values = np.concatenate(self._pieces[1:] or self._pieces)
        if self._coder:
            return Text(values, self._coder.values)
        if self._is_order:
            return carried(values)
        return self._clock.times(values) if self._clock else values


NAIVE = (
    "must have a time zone; add Z for UTC, or +02:00 and the like, or let "
    "--time-zone say where the clock stood"
)
_WKT = re.compile(r"\s*POINT\s*(?:Z|M|ZM)?\s*\(\s*(\S+)\s+(\S+)(?:\s+\S+)*\s*\)\s*", re.I)


def points(values: Sequence[str], *, lenient: bool = False) -> Floats:
    """Longitudes and latitudes from WKT, shape (rows, 2)."""
    found = [_WKT.fullmatch(value) for value in values]
    if lenient:
        texts = [each.groups() if each else ("", "") for each in found]
        return decimals([*chain.from_iterable(texts)], lenient=True).reshape(-1, 2)
    if None in found:
        raise BadValue(
            found.index(None),
            "must be a point in WKT, such as POINT (8.5 47.4)",
            code="not_a_point",
        )
    flat = decimals([number for match in found if match for number in match.groups()])
    return flat.reshape(-1, 2)


def _nothing(values: Sequence[str]) -> Indices:
    for k, value in enumerate(values):
        if value:
            raise BadValue(
                k,
                "must be empty as in the first row, or be given in every row",
                code="partly_given",
            )
    return np.zeros(len(values), dtype=np.int64)


def _parsed(
    values: Sequence[str], parse: Callable[[str], Any], rule: str, *, code: str
) -> list[Any]:
    # Python reads 1_000 as a number, and digits of every script; no table means that.
    together = "".join(values)
    if "_" not in together and together.isascii():
        with contextlib.suppress(ValueError, OverflowError):
            return list(map(parse, values))
    raise BadValue(_first_unreadable(values, parse), rule, code=code)


def _or(otherwise: Any, value: str, parse: Callable[[str], Any]) -> Any:
    """The value as it is parsed, or what stands for values that cannot be."""
    if "_" in value or not value.isascii():
        return otherwise
    try:
        return parse(value)
    except (ValueError, OverflowError):
        return otherwise


def _moment(zone: tzinfo, value: str) -> tuple[int, int]:
    """In UTC, and as a clock showed it."""
    found = datetime.fromisoformat(value)
    if found.tzinfo is None:
        found = found.replace(tzinfo=zone)
    elif value.strip()[-1:] in "Zz":
        found = found.astimezone(zone)
    microsecond = timedelta(microseconds=1)
    moment_us = (found - _EPOCH) // microsecond
    return moment_us, moment_us + (found.utcoffset() or timedelta()) // microsecond


def carried(values: Indices) -> Indices:
    """What cannot be read stays where it stands: it gets the value before it, or the first."""
    readable = np.flatnonzero(values != UNREADABLE)
    if not len(readable):
        return np.zeros(len(values), dtype=np.int64)
    before = np.searchsorted(readable, np.arange(len(values)), side="right") - 1
    return values[readable[np.maximum(before, 0)]]


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
"""For a whole number or moment that a lenient reader cannot read."""
UNKNOWN_CLOCK = UNREADABLE
"""What a clock showed at a moment that is known in UTC only: no hour of any day."""
PUBLIC_CLOCK_US = (PUBLIC_HOUR - 3 * 24) * 3_600_000_000
"""What a clock shows at the public hour of some week."""

QUARTER_US = 900_000_000
EARLIEST_US = -62_135_596_800_000_000
LATEST_US = 253_402_300_799_999_999
"""The first microsecond of the year 1 and the last of the year 9999."""


def clocks(moment_us: Indices, wishes: Wishes) -> Indices:
    """What clocks showed at moments that a file has in UTC (RFC 9557: Z names no zone).

    Nobody knows where no zone is given; on a person's device, which never refuses, UTC.
    """
    if wishes.zone is None:
        return moment_us if wishes.lenient else np.full_like(moment_us, UNKNOWN_CLOCK)
    # Offsets change at whole quarters of an hour only.
    quarter, at = np.unique(moment_us // QUARTER_US, return_inverse=True)
    ahead_us = [_ahead_us(each, wishes.zone) for each in quarter.tolist()]
    found: Indices = moment_us + np.array(ahead_us, dtype=np.int64)[at]
    return found


def _ahead_us(quarter: int, zone: tzinfo) -> int:
    found = (_EPOCH + timedelta(microseconds=quarter * QUARTER_US)).astimezone(zone)
    return (found.utcoffset() or timedelta()) // timedelta(microseconds=1)


def offset_texts(moment_us: Indices, local_us: Indices | None) -> list[str]:
    """As `moment_texts`, but by the clock where one is known: 2012-04-03T20:00:09+02:00."""
    texts = moment_texts(moment_us)
    if local_us is None:
        return texts
    known = np.flatnonzero(local_us != UNKNOWN_CLOCK)
    shown = moment_texts(local_us[known])
    minutes = (local_us[known] - moment_us[known]) // 60_000_000
    for k, text, ahead in zip(known.tolist(), shown, minutes.tolist(), strict=True):
        hours, rest = divmod(abs(ahead), 60)
        texts[k] = f"{text[:-1]}{'-' if ahead < 0 else '+'}{hours:02}:{rest:02}"
    return texts


def moment_texts(moment_us: NDArray[np.int64]) -> list[str]:
    """Microseconds since 1970 UTC as text, such as 2012-04-03T18:00:09Z."""
    if len(moment_us) and not EARLIEST_US <= moment_us.min() <= moment_us.max() <= LATEST_US:
        raise InvalidArgument(
            "a moment must be in the years 1 to 9999, and one is not",
            code="moment_out_of_range",
        )
    whole = not np.any(moment_us % 1_000_000)
    texts = np.datetime_as_string(
        moment_us.astype("datetime64[us]"), unit="s" if whole else "us"
    )
    return [f"{text}Z" for text in texts.tolist()]
