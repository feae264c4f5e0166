"""Open a store by its name: a file, or the address of a database."""

from pathlib import Path

from nomadp.collector.sqlite_store import SqliteStore
from nomadp.collector.store import Store, StoreRefused

__all__ = ["open_store"]

_POSTGRES = ("postgresql://", "postgres://")


def open_store(named: str, *, new: bool = True) -> Store:
    """Open the store of this name. A missing file is created only if ``new`` is True."""
    if named.startswith(_POSTGRES):
        from nomadp.collector.postgres_store import PostgresStore  # slow to import

        return PostgresStore(named)
    if "://" in named:
        raise StoreRefused(
            "a store must be a file or postgresql://USER@HOST/DATABASE, but this is neither",
            code="store_address_malformed",
        )
    path = Path(named)
    if not new and not path.is_file():
        raise StoreRefused(
            f"{path} must be an existing store, but there is no such file; see --store",
            code="store_missing",
        )
    return SqliteStore(path)
