"""Whether the clock can be believed: retention deletes by it, so a wrong one deletes too much.

The newest time that was right is kept in the store. The clock may be ahead of it, or behind it,
by what has passed since as far as this process knows, and by `BOUND_S` more: a collector may
have been off. Beyond that nothing is deleted and nothing is taken until the clock is right
again or the operator confirms it.
"""

import time
from collections.abc import Callable

from nomadp.collector.logs import log

__all__ = ["BOUND_S", "Clock", "utc"]

BOUND_S = 3 * 86_400
"""How long a collector may be off without being asked whether its clock is right."""
STEP_S = 3600
"""Times are kept in whole hours: the moment of the last commit is nobody's business."""


def _steady() -> float:
    """Seconds that no change of the clock touches, while the machine sleeps, too."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def utc(seconds: float) -> str:
    """Of a time as people read it."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


class Clock:
    """The time of the system, and how far it is off."""

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = _steady,
    ) -> None:
        self._wall, self._steady = wall, steady
        self._right: tuple[float, float] | None = None
        """A time that was right, and the steady one of that moment."""
        self._stored: int | None = None
        self._was_suspect = False

    def __call__(self) -> float:
        return self._wall()

    def set_newest(self, newest: int | None) -> None:
        """What the store has: another collector or the operator may have changed it."""
        if newest is not None and newest != self._stored:
            self._stored, self._right = newest, (newest, self._steady())

    @property
    def off_s(self) -> float:
        """How far ahead of what it should show, or behind it; 0 if it can be believed."""
        wall, steady = self._wall(), self._steady()
        if self._right is not None:
            right, since = self._right
            off_s = wall - (right + steady - since)
            if abs(off_s) > BOUND_S:
                return off_s
        self._right = wall, steady
        return 0.0

    @property
    def is_suspect(self) -> bool:
        """Says in the log when it begins and when it ends."""
        off_s = self.off_s
        was_suspect, self._was_suspect = self._was_suspect, off_s != 0
        if off_s and not was_suspect:
            log(
                "clock_suspect",
                "the clock may be wrong; no report is accepted or deleted until the clock is "
                'corrected or confirmed with "nomadp collector clock --confirm"',
                clock=utc(self._wall()),
                newest_time=None if self._stored is None else utc(self._stored),
                days_off=round(off_s / 86_400, 1),
            )
        elif was_suspect and not off_s:
            log("clock_believed", "the clock is trusted again", clock=utc(self._wall()))
        return self._was_suspect

    @property
    def hour(self) -> int:
        """The time as it is kept."""
        return int(self._wall() // STEP_S) * STEP_S

    def time_to_store(self) -> int | None:
        """The time, if the store should learn it; the caller has it stored."""
        if self.is_suspect:
            return None
        hour = self.hour
        return hour if self._stored is None or hour > self._stored else None

    def mark_stored(self, seconds: int) -> None:
        """It is in the store now."""
        self._stored = seconds
