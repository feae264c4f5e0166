"""Whether the collector can accept reports, and if not, why."""

from nomadp.collector.clock import Clock
from nomadp.collector.disk_space import DiskSpace
from nomadp.collector.logs import log
from nomadp.collector.store import StoreCorrupt

__all__ = ["Condition"]


class Condition:
    """The condition of one process. Users of the store record the errors that they get."""

    def __init__(self, clock: Clock, space: DiskSpace) -> None:
        self.clock, self.space = clock, space
        self.is_corrupt = False
        """Stays True until the process ends: it never writes to a damaged store."""

    def record(self, error: BaseException) -> None:
        if isinstance(error, StoreCorrupt) and not self.is_corrupt:
            self.is_corrupt = True
            log(
                "store_corrupt",
                "the store is damaged; no report is accepted or deleted any more; stop the "
                'collector and run "nomadp collector check"',
                reason=str(error),
            )

    @property
    def refusal(self) -> str | None:
        """The kind of problem that every upload gets; None if uploads are accepted."""
        if self.is_corrupt:
            return "store_corrupt"
        if self.clock.is_suspect:
            return "clock_suspect"
        return "storage_full" if self.space.is_full else None
