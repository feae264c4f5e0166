"""Import this and numba is as if not installed, where the environment asks for that."""

import os
import sys

__all__ = ["WITHOUT"]

WITHOUT = "NOMADP_WITHOUT_NUMBA"
"""The variable that asks for it, as it does for the tests."""

if os.environ.get(WITHOUT):
    sys.modules["numba"] = None  # type: ignore[assignment]
