"""A device and its collector, for the task that a module of tests calls BUNDLE."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from devices import Collector, collecting

from nomadp.client import Client


@pytest.fixture
def collector(request: pytest.FixtureRequest) -> Iterator[Collector]:
    with collecting(request.module.BUNDLE) as found:
        yield found


@pytest.fixture
def client(
    request: pytest.FixtureRequest, tmp_path: Path, collector: Collector
) -> Iterator[Client]:
    with Client(tmp_path / "home") as made:
        made.join(collector.url, request.module.BUNDLE.task.id)
        yield made
