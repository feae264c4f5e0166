"""Fixtures for tests of mechanisms."""

from collections.abc import Iterator

import pytest

from nomadp.mechanisms.fast import limits
from nomadp.mechanisms.large import ball_tree
from nomadp.mechanisms.pivot import calibration


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Treat every set of more than two locations as large, with leaves of two locations."""
    monkeypatch.setattr(limits, "TABLE_LIMIT", 2)
    monkeypatch.setattr(calibration, "ALL_UP_TO", 2)
    monkeypatch.setattr(ball_tree, "LEAF", 2)
    ball_tree._sorted_places.cache_clear()
    yield
    ball_tree._sorted_places.cache_clear()
