"""A person's device: joins a task, pays for a report, makes it, keeps it, sends it.

In this order, each on disk before the next: charge, perturb, store, send. Nothing that can be
seen from outside depends on the journey but the value, which the task's epsilon covers.
"""

import time
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nomadp.client.body import upload_body
from nomadp.client.bundles import fetched, is_address, is_closed
from nomadp.client.ledger import Budget, Ledger
from nomadp.client.ledger_file import TASKS, LedgerFile, as_lifetime, default_home
from nomadp.client.outbox import Outbox, Receipt
from nomadp.client.private_trajectory import PrivateTrajectory
from nomadp.client.sending import send_waiting
from nomadp.errors import ReportRefused, TaskRefused
from nomadp.protocol import Task, TaskBundle
from nomadp.protocol.address import Address
from nomadp.protocol.ceilings import UPLOAD_BYTES_MAX
from nomadp.protocol.folder import TASK_FILE, read_task_folder, write_task_folder
from nomadp.protocol.task import is_task_id
from nomadp.randomness import new_key

__all__ = ["PATIENCE_S", "Client"]

PATIENCE_S = 10.0
"""For how long sending is tried again before the rest is left for later."""
_AROUND_VALUE = 256
"""More bytes than an upload has besides a value."""


class Client:
    """Takes part in collections for one person: joins tasks, reports journeys.

    ``home`` is the folder of the ledger (by default ``NOMADP_HOME``, or the platform's folder
    for a person's data): one for each person, kept for good. ``lifetime`` is all the epsilon
    that may ever be spent from it, 20 by default; it is fixed when the ledger begins and can
    only be lowered. Use it in a ``with``, in the process and thread that opened it.

    Raises `TaskRefused` for a task that nobody may take part in, `LedgerRefused` when the
    budget is spent or the ledger is missing, damaged or in use, and `UploadFailed` if a task
    cannot be fetched. A report that could not be sent is kept: see its receipt, and `send`.

    >>> import nomadp
    >>> with nomadp.Client("device", lifetime=8) as client:
    ...     print(client.budget().remaining)
    8
    """

    def __init__(self, home: str | PathLike[str] | None = None, lifetime: Any = None) -> None:
        self.home = default_home() if home is None else Path(home)
        cap = None if lifetime is None else as_lifetime(lifetime)
        self._file = LedgerFile(self.home, cap)
        self._ledger, self._outbox = Ledger(self._file), Outbox(self._file)
        self._bundle: dict[str, TaskBundle] = {}
        self._last: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the ledger; what waits to be sent stays in it."""
        self._file.close()

    def __repr__(self) -> str:
        return f"Client({str(self.home)!r})"

    def join(
        self,
        source: str | PathLike[str],
        task_id: str | None = None,
        *,
        send_to: str | None = None,
    ) -> Task:
        """Take part in the task at a URL (its own, or a base and its id) or in a folder.

        What comes must be the task of that id: it is the hash of all that everybody was given.
        A folder names no collector: ``send_to`` does.
        """
        address: Address | None = None
        if isinstance(source, str) and is_address(source):
            address = Address.parse(source)
            bundle = self._joined_at(address, address.task(task_id))
        else:
            bundle = read_task_folder(Path(source), task_id)
            if send_to is not None:
                address = Address.parse(send_to)
        _check_size(bundle)
        task = bundle.task
        if not self._is_kept(task.id):
            write_task_folder(self._folder(task.id), bundle)
        self._ledger.enter(task, None if address is None else str(address))
        self._bundle[task.id], self._last = bundle, task.id
        return task

    def bundle(self, task_id: str | None = None) -> TaskBundle:
        """The task that was joined last, or this one, and its public files."""
        wanted = task_id or self._last
        if wanted is None or not is_task_id(wanted):
            raise TaskRefused(
                "a task must be joined before anything is reported to it", code="no_task_joined"
            )
        if wanted not in self._bundle:
            self._bundle[wanted] = read_task_folder(self._folder(wanted), wanted)
        return self._bundle[wanted]

    def report(
        self,
        trajectory: Any,
        *,
        task_id: str | None = None,
        hour: int | None = None,
        now: bool = False,
        queue: bool = False,
    ) -> Receipt:
        """Use the task's epsilon for one report of a trajectory, and send it when it is due.

        A trajectory is a list of (lat, lng) pairs in degrees, or of indices of the task's
        locations, of any length and with any values; a missing value is None or NaN. A task
        with a time division also needs the ``hour`` of the week, or None if it is unknown.
        Values that cannot be used are replaced by a public one (docs/device.md), so a report is
        always made. It is due at a random time within the task's limit, or at once (``now``).
        A report that is not due yet or is kept back (``queue``) is sent by a later `send`. The
        receipt's ``state`` says what happened.
        """
        bundle = self.bundle(task_id)
        private = PrivateTrajectory.of(trajectory, bundle, hour)
        moment = time.time()
        delay_s = 0 if now else _delay_s(bundle.task, moment)
        epoch = _current(bundle.task, moment)
        if not queue and delay_s == 0:
            self._check_open(bundle.task)
        charge = self._ledger.charge(bundle.task, epoch)
        body = upload_body(bundle, private, charge.report_id, charge.time)
        self._outbox.store(charge, body, int(moment) + delay_s)
        if not queue:
            self._send(charge.report_id)
        return self._outbox.receipt(charge.report_id)

    def send(
        self, *, now: bool = False, again: bool = False, patience_s: float = PATIENCE_S
    ) -> list[Receipt]:
        """Send what is due, or all that waits (``now``), and what was stopped (``again``).

        Returns what became of each.
        """
        due = None if now else int(time.time())
        waiting = self._outbox.waiting(due, again=again)
        send_waiting(self._outbox, waiting, patience_s)
        return [self._outbox.receipt(each.report_id) for each in waiting]

    def check(self, task_id: str | None = None, *, count: int = 1) -> None:
        """Refuse what so many `report` would refuse for any journeys; spends nothing."""
        task = self.bundle(task_id).task
        _current(task, time.time())
        self._ledger.check(task, count)

    def budget(self) -> Budget:
        """What was spent, in which tasks, and what is left."""
        return self._ledger.budget()

    def receipts(self) -> list[Receipt]:
        """Of every report that was ever charged."""
        return self._outbox.receipts()

    def next_due(self) -> int | None:
        """Unix time at which the next waiting report may be sent, if any waits."""
        return self._outbox.next_due()

    def _check_open(self, task: Task) -> None:
        """Only where a report follows at once: asking earlier would tell when it was made."""
        address = self._ledger.address(task.id)
        if address is not None and is_closed(Address.parse(address), task.id):
            raise ReportRefused(
                "a task must be open to be reported to, and its collector says that this one "
                "was closed; nothing was spent, and nothing was sent",
                code="task_closed",
            )

    def _send(self, report_id: str) -> None:
        due = [w for w in self._outbox.waiting(int(time.time())) if w.report_id == report_id]
        send_waiting(self._outbox, due, PATIENCE_S)

    def _joined_at(self, address: Address, task_id: str) -> TaskBundle:
        if self._is_kept(task_id):
            return read_task_folder(self._folder(task_id), task_id)
        return fetched(address, task_id)

    def _folder(self, task_id: str) -> Path:
        return self.home / TASKS / task_id

    def _is_kept(self, task_id: str) -> bool:
        return (self._folder(task_id) / TASK_FILE).exists()


def _check_size(bundle: TaskBundle) -> None:
    """Refused before anything is charged, if its reports would be too large to be sent."""
    if bundle.code.characters > UPLOAD_BYTES_MAX - _AROUND_VALUE:
        raise TaskRefused(
            f"a report must fit into an upload of {UPLOAD_BYTES_MAX} bytes, and those of this "
            "task would not; it takes larger zones",
            code="report_too_large",
            limit=UPLOAD_BYTES_MAX,
        )


def _current(task: Task, moment: float) -> int:
    epoch = task.epoch(moment)
    if epoch < task.start:
        raise ReportRefused(
            "a task must be running to be reported to, and this one has not begun by this "
            "device's clock",
            code="task_not_started",
        )
    if epoch >= task.end:
        raise ReportRefused(
            "a task must be running to be reported to, and this one is over by this device's "
            "clock",
            code="task_expired",
        )
    return epoch


def _delay_s(task: Task, moment: float) -> int:
    """Drawn evenly, and never past the end of the task."""
    most = min(task.send_within, task.end * task.time_precision - int(moment) - 1)
    return int.from_bytes(new_key(), "big") % (most + 1) if most > 0 else 0
