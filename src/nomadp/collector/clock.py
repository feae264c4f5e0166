"""Detect a wrong clock: retention deletes by the clock, so a wrong one would delete too much.

The store keeps the newest trusted time. The clock must agree with that time plus the time that
has passed since, as far as this process knows. It may differ by up to `BOUND_S`, because a
collector may have been off. If it differs by more, the collector neither deletes nor accepts
anything until the clock is correct again or the operator confirms it.
"""

import time
from collections.abc import Callable

from nomadp.collector.logs import log

__all__ = ["BOUND_S", "Clock", "utc"]

BOUND_S = 3 * 86_400
"""How long a collector may be off before its operator has to confirm the clock."""
STEP_S = 3600
"""The store keeps whole hours, so that it does not reveal when a report arrived."""


def _steady() -> float:
    """Seconds of a clock that cannot be set, and that also counts while the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def utc(seconds: float) -> str:
    """Format a time for people."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


class Clock:
    """The system's clock and how far it is off."""

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = _steady,
    ) -> None:
        self._wall, self._steady = wall, steady
        self._trusted: tuple[float, float] | None = None
        """A trusted time and the steady clock's value at that time."""
        self._stored: int | None = None
        self._was_suspect = False

    def __call__(self) -> float:
        return self._wall()

    def set_newest(self, newest: int | None) -> None:
        """Use the stored time, which another collector or the operator may have changed."""
        if newest is not None and newest != self._stored:
            self._stored, self._trusted = newest, (newest, self._steady())

    @property
    def off_s(self) -> float:
        """Seconds by which the clock is ahead (or behind, if negative); 0 if it is trusted."""
        wall, steady = self._wall(), self._steady()
        if self._trusted is not None:
            trusted_s, since_s = self._trusted
            off_s = wall - (trusted_s + steady - since_s)
            if abs(off_s) > BOUND_S:
                return off_s
        self._trusted = wall, steady
        return 0.0

    @property
    def is_suspect(self) -> bool:
        """Whether the clock may be wrong; logs every change."""
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
        """The time rounded down to whole hours."""
        return int(self._wall() // STEP_S) * STEP_S

    def time_to_store(self) -> int | None:
        """The time that the caller should store; None if the stored one is recent enough."""
        if self.is_suspect:
            return None
        hour = self.hour
        return hour if self._stored is None or hour > self._stored else None

    def mark_stored(self, seconds: int) -> None:
        """Note that this time is in the store."""
        self._stored = seconds
