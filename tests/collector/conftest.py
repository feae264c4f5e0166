"""Stores of both kinds, and a collector on each."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from collecting import Address, bundle_of, collector
from postgres import Postgres, program

from nomadp.collector.connections import open_store
from nomadp.collector.store import Store
from nomadp.protocol.bundle import TaskBundle

ATLAS, QUESTION = "atlas", "starts"
OF_STORES = ("test_store", "test_schema", "test_retention", "test_damage")


@pytest.hookimpl(tryfirst=True)  # before slow ones are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests with PostgreSQL as slow, except in files about differences of stores."""
    for item in items:
        asked = getattr(getattr(item, "callspec", None), "params", {})
        if asked.get("place") == "postgresql" and item.path.stem not in OF_STORES:
            item.add_marker("slow")


@pytest.fixture(scope="session")
def postgres(record_testsuite_property: Callable[[str, object], None]) -> Iterator[Postgres]:
    if program("initdb") is None or program("postgres") is None:
        pytest.skip("PostgreSQL is not installed here; Debian's package is postgresql")
    server = Postgres()
    try:
        server.start()
        record_testsuite_property("PostgreSQL's data are", server.medium)
        yield server
    finally:
        server.end()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The name of an empty store, of both kinds in turn."""
    if request.param == "sqlite":
        return str(tmp_path / "collector.sqlite")
    server: Postgres = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture
def store(place: str) -> Store:
    return open_store(place)


@pytest.fixture
def sqlite(tmp_path: Path) -> Store:
    """The name of an empty SQLite store, for tests that do not depend on the kind."""
    return open_store(str(tmp_path / "collector.sqlite"))


@pytest.fixture
def bundle() -> TaskBundle:
    return bundle_of(ATLAS)


@pytest.fixture
def question() -> TaskBundle:
    return bundle_of(QUESTION)


@pytest.fixture
def address(store: Store, bundle: TaskBundle, question: TaskBundle) -> Iterator[Address]:
    with collector(store, bundle, question) as running:
        yield running
