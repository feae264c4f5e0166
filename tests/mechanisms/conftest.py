"""What tests of mechanisms may ask for."""

from collections.abc import Iterator

import pytest

from nomadp.mechanisms import bulk, calibration, nested


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every set of more than two locations is large, and leaves hold two locations."""
    monkeypatch.setattr(bulk, "TABLE_LIMIT", 2)
    monkeypatch.setattr(calibration, "ALL_UP_TO", 2)
    monkeypatch.setattr(nested, "LEAF", 2)
    nested._sorted_places.cache_clear()
    yield
    nested._sorted_places.cache_clear()
