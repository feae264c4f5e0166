"""Check for free disk space, so that uploads are refused before the disk is full."""

import os
import time
from collections.abc import Callable

from nomadp.collector.logs import log
from nomadp.errors import DomainError

__all__ = ["KEEP_FREE", "DiskSpace", "bytes_to_keep_free"]

KEEP_FREE = 256 * 2**20
"""The default number of bytes to keep free; NOMADP_KEEP_FREE_MIB overrides it."""
LOOK_AGAIN_S = 0.5
"""Free space is checked at most this often."""


def bytes_to_keep_free() -> int:
    """The number of bytes to keep free, from the environment or the default."""
    text = os.environ.get("NOMADP_KEEP_FREE_MIB", "").strip()
    if text and not (text.isascii() and text.isdecimal()):
        raise DomainError(
            "NOMADP_KEEP_FREE_MIB must be a whole number of MiB, such as 256, got "
            f"{text[:20]!r}; correct it or unset it",
            code="keep_free_malformed",
            variable="NOMADP_KEEP_FREE_MIB",
        )
    return int(text) * 2**20 if text else KEEP_FREE


class DiskSpace:
    """The free space of a store's disk. Logs when it becomes too small and when it recovers."""

    def __init__(
        self, free_bytes: Callable[[], int | None], keep_free: int | None = None
    ) -> None:
        self._free_bytes = free_bytes
        self._keep = bytes_to_keep_free() if keep_free is None else keep_free
        self._looked_s, self._is_full = -LOOK_AGAIN_S, False
        self._refused_until_s = -1.0

    @property
    def is_full(self) -> bool:
        now_s = time.monotonic()
        if now_s - self._looked_s >= LOOK_AGAIN_S:
            self._looked_s = now_s
            free = self._free_bytes()
            was_full, self._is_full = self._is_full, free is not None and free < self._keep
            if self._is_full and not was_full:
                log(
                    "storage_full",
                    "the disk is nearly full; uploads are refused until space is freed",
                )
            elif was_full and not self._is_full:
                log(
                    "storage_free", "the disk has enough free space again; uploads are accepted"
                )
        return self._is_full or now_s < self._refused_until_s

    def mark_full(self) -> None:
        """Refuse uploads for a moment, because the store reported a full disk."""
        self._refused_until_s = time.monotonic() + LOOK_AGAIN_S
