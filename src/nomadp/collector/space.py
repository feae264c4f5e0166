"""Whether the disk has room: reports are turned away before it is full, not after."""

import os
import time
from collections.abc import Callable

__all__ = ["KEEP_FREE", "Space"]

KEEP_FREE = 256 * 2**20
"""Bytes that are left free; NOMADP_KEEP_FREE_MIB says otherwise."""
LOOK_AGAIN_S = 0.5


class Space:
    def __init__(
        self, free_bytes: Callable[[], int | None], keep_free: int | None = None
    ) -> None:
        said = os.environ.get("NOMADP_KEEP_FREE_MIB", "")
        chosen = int(said) * 2**20 if said.isdecimal() else KEEP_FREE
        self._free_bytes, self._keep = free_bytes, chosen if keep_free is None else keep_free
        self._looked_s, self._is_full = -LOOK_AGAIN_S, False
        self._refused_until_s = -1.0

    @property
    def is_full(self) -> bool:
        now_s = time.monotonic()
        if now_s - self._looked_s >= LOOK_AGAIN_S:
            self._looked_s = now_s
            free = self._free_bytes()
            self._is_full = free is not None and free < self._keep
        return self._is_full or now_s < self._refused_until_s

    def saw_full(self) -> None:
        """The store said so itself: try again in a moment."""
        self._refused_until_s = time.monotonic() + LOOK_AGAIN_S
