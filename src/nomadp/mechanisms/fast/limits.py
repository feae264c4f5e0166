"""Up to which size sets have square tables, and how many rows are drawn at a time.

Memory alone: no law reads this.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from nomadp.locations import LocationSet

__all__ = ["TABLE_LIMIT", "cut_after", "has_tables", "rows_at_once", "tables_up_to"]

TABLE_LIMIT = 4096
"""Locations up to which square tables are kept: 200 MB a set, and 17 MB a granularity."""

ROWS_MOST = 2**62
"""No limit but that of memory."""


def rows_at_once(room: int, each: int) -> int:
    """How many rows of so many numbers ``each`` fit into the room for so many."""
    return max(1, min(room // each, ROWS_MOST))


@contextmanager
def cut_after(rows: int) -> Iterator[None]:
    """Draw so few rows at a time, to look at where work is cut; not in two threads at once."""
    global ROWS_MOST
    before, ROWS_MOST = ROWS_MOST, rows
    try:
        yield
    finally:
        ROWS_MOST = before


def has_tables(locations: LocationSet) -> bool:
    """Whether the set is small enough for square tables; a larger one has an index instead."""
    return len(locations) <= TABLE_LIMIT


@contextmanager
def tables_up_to(limit: int) -> Iterator[None]:
    """Take smaller sets for large ones, to look at the index; not in two threads at once."""
    global TABLE_LIMIT
    before, TABLE_LIMIT = TABLE_LIMIT, limit
    try:
        yield
    finally:
        TABLE_LIMIT = before
