"""The largest set with square tables, and the number of rows that are drawn at a time.

These limits save memory. No law depends on them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from nomadp.locations import LocationSet

__all__ = ["TABLE_LIMIT", "cut_after", "has_tables", "rows_at_once", "tables_up_to"]

TABLE_LIMIT = 4096
"""The most locations with square tables: 200 MB for a set, 17 MB for a number of sectors."""

ROWS_MOST = 2**62
"""The most rows at a time: by default, only memory limits them."""


def rows_at_once(room: int, width: int) -> int:
    """The number of rows with ``width`` numbers each that fit into ``room`` numbers."""
    return max(1, min(room // width, ROWS_MOST))


@contextmanager
def cut_after(rows: int) -> Iterator[None]:
    """Draw at most ``rows`` rows at a time, to test batch borders; not thread-safe."""
    global ROWS_MOST
    before, ROWS_MOST = ROWS_MOST, rows
    try:
        yield
    finally:
        ROWS_MOST = before


def has_tables(locations: LocationSet) -> bool:
    """Whether the set is small enough for square tables; larger sets have an index."""
    return len(locations) <= TABLE_LIMIT


@contextmanager
def tables_up_to(limit: int) -> Iterator[None]:
    """Use the index for sets above ``limit``, to test it on small sets; not thread-safe."""
    global TABLE_LIMIT
    before, TABLE_LIMIT = TABLE_LIMIT, limit
    try:
        yield
    finally:
        TABLE_LIMIT = before
