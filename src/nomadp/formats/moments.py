"""Moments as text: UTC, in ISO 8601, with as many decimals as they have."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["moment_texts"]

EARLIEST_US = -62_135_596_800_000_000
LATEST_US = 253_402_300_799_999_999
"""The first microsecond of the year 1 and the last of the year 9999."""


def moment_texts(moment_us: NDArray[np.int64]) -> list[str]:
    """Microseconds since 1970 UTC as text, such as 2012-04-03T18:00:09Z."""
    if len(moment_us) and not EARLIEST_US <= moment_us.min() <= moment_us.max() <= LATEST_US:
        raise ValueError("a moment must be in the years 1 to 9999, and one is not")
    whole = not np.any(moment_us % 1_000_000)
    texts = np.datetime_as_string(
        moment_us.astype("datetime64[us]"), unit="s" if whole else "us"
    )
    return [f"{text}Z" for text in texts.tolist()]
