"""The two ways in which check-in files write a moment, read a million at a time.

Both have a fixed width, so that a column of them is a matrix of characters:
``Tue Apr 03 18:00:09 +0000 2012`` (Foursquare) and ``2010-10-19T23:55:27Z`` (Gowalla).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FOURSQUARE_TIME", "GOWALLA_TIME", "TimeFormat"]

Characters = NDArray[np.uint8]  # (n, width)
Indices = NDArray[np.int64]
Truths = NDArray[np.bool_]

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class TimeFormat:
    """`pattern` is a regular expression; what it lets through, `read` can read.

    `read` gives microseconds since 1970 UTC, and whether there is such a moment.
    """

    width: int
    pattern: str
    read: Callable[[Characters], tuple[Indices, Truths]]


def _number(text: Characters, start: int, end: int) -> Indices:
    number = np.zeros(len(text), dtype=np.int64)
    for k in range(start, end):
        number = 10 * number + (text[:, k] - ord("0"))
    return number


def _month(text: Characters, start: int) -> Indices:
    """The month's number from its three letters."""
    letters = text[:, start : start + 3].astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    known = np.array([int.from_bytes(name.encode()) for name in MONTHS])
    order = np.argsort(known)
    return np.asarray(order[known[order].searchsorted(letters)] + 1)


def _moment(
    date: tuple[Indices, Indices, Indices], time: Characters, offset_minutes: Indices
) -> tuple[Indices, Truths]:
    """From the date and from the characters of ``18:00:09``."""
    year, month, day = date
    hour, minute, second = (_number(time, k, k + 2) for k in (0, 3, 6))
    first = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days_in_month = (
        (first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")
    ).astype(np.int64)
    # A leap second counts as the second after it, as everywhere in Unix time.
    real = (day >= 1) & (day <= days_in_month) & (hour < 24) & (minute < 60) & (second <= 60)
    days = first.astype("datetime64[D]").astype(np.int64) + day - 1
    seconds = days * 86_400 + hour * 3_600 + (minute - offset_minutes) * 60 + second
    return seconds * 1_000_000, real & (month >= 1) & (month <= 12)


def _foursquare(text: Characters) -> tuple[Indices, Truths]:
    date = _number(text, 26, 30), _month(text, 4), _number(text, 8, 10)
    sign = np.where(text[:, 20] == ord("-"), -1, 1)
    offset_minutes = sign * (60 * _number(text, 21, 23) + _number(text, 23, 25))
    return _moment(date, text[:, 11:19], offset_minutes)


def _gowalla(text: Characters) -> tuple[Indices, Truths]:
    date = _number(text, 0, 4), _number(text, 5, 7), _number(text, 8, 10)
    return _moment(date, text[:, 11:19], np.zeros(len(text), dtype=np.int64))


FOURSQUARE_TIME = TimeFormat(
    30,
    rf"^[A-Z][a-z]{{2}} (?:{'|'.join(MONTHS)}) \d{{2}} \d{{2}}:\d{{2}}:\d{{2}} [+-]\d{{4}} "
    r"\d{4}$",
    _foursquare,
)
GOWALLA_TIME = TimeFormat(20, r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$", _gowalla)
