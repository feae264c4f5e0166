"""Up to which size a location set has square tables. Memory alone: no law reads this."""

from collections.abc import Iterator
from contextlib import contextmanager

from nomadp.locations import LocationSet

__all__ = ["TABLE_LIMIT", "has_tables", "tables_up_to"]

TABLE_LIMIT = 4096
"""Locations up to which square tables are kept: 200 MB a set, and 17 MB a granularity."""


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
