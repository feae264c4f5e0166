"""The client on a person's device: join a task, charge a report, perturb, store and send it.

Each step is on disk before the next one starts. Everything that can be observed from outside is
independent of the trajectory, except the report's value, which the task's epsilon covers.
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
"""How long sending is retried before the remaining reports are left for later."""
_AROUND_VALUE = 256
"""An upper bound on the bytes of an upload without its value."""


class Client:
    """Takes part in collections for one person: joins tasks and reports trajectories.

    ``home`` is the folder of the ledger, by default ``NOMADP_HOME`` or the platform's folder
    for user data. Each person has one ledger and keeps it for good. ``lifetime`` is the total
    epsilon that may ever be used, 20 by default. It is set when the ledger is created and can
    only be lowered. Use the client in a ``with`` block, in the process and thread that opened
    it.

    Raises `TaskRefused` for a task that violates the rules, `LedgerRefused` if the budget is
    used up or the ledger is missing, damaged or in use, and `UploadFailed` if a task cannot be
    fetched. A report that could not be sent is kept: see its receipt, and `send`.

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
        """Close the ledger. It keeps the reports that wait to be sent."""
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
        """Join the task at a URL or in a folder.

        The id of a task is its hash, so everybody who has the same id has the same task.

        Args:
            source: The URL of the task, the base URL of its collector, or a folder that
                contains the task.
            task_id: The expected id. A base URL requires it.
            send_to: The URL of the collector, for a task in a folder.

        Returns:
            The task.

        Raises:
            TaskRefused: The task violates the rules, or does not match its id.
            UploadFailed: The task could not be fetched.
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
        """The bundle of a joined task, by default of the one that was joined last.

        Raises `TaskRefused` if no task was joined.
        """
        task_id = task_id or self._last
        if task_id is None or not is_task_id(task_id):
            raise TaskRefused(
                "a task must be joined before a report is made; call join",
                code="no_task_joined",
            )
        if task_id not in self._bundle:
            self._bundle[task_id] = read_task_folder(self._folder(task_id), task_id)
        return self._bundle[task_id]

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

        A report is due at a random time within the task's limit. A later `send` sends a report
        that is not due yet.

        Args:
            trajectory: A list of (lat, lng) pairs in degrees, or of indices of the task's
                locations, of any length and with any values; a missing value is None or NaN.
                Values that cannot be used are replaced by a public one (docs/device.md), so
                that the existence of a report reveals nothing.
            task_id: The joined task; by default the one that was joined last.
            hour: The hour of the week (0: Monday, 0 to 1 h), for a task whose labels include
                the time. None if it is unknown.
            now: Send the report at once, without the random delay.
            queue: Do not send the report until `send` is called.

        Returns:
            The receipt. Its ``state`` says whether the report was sent.

        Raises:
            DomainError: The trajectory or the hour has another form. Nothing is charged.
            ReportRefused: The task has not started, is over, or was closed by its collector.
            LedgerRefused: The privacy budget is used up, or the ledger is damaged.
        """
        bundle = self.bundle(task_id)
        # The input is checked before anything is charged or sent, so that an error is free.
        private = PrivateTrajectory.of(trajectory, bundle, hour)
        moment = time.time()
        delay_s = 0 if now else _delay_s(bundle.task, moment)
        epoch = _current(bundle.task, moment)
        if not queue and delay_s == 0:
            self._check_open(bundle.task)
        # Charge first: a crash after this line wastes budget, but never uses it twice.
        charge = self._ledger.charge(bundle.task, epoch)
        body = upload_body(bundle, private, charge.report_id, charge.time)
        # Store before sending: a retry must send the same bytes, never a second draw.
        self._outbox.store(charge, body, int(moment) + delay_s)
        if not queue:
            self._send(charge.report_id)
        return self._outbox.receipt(charge.report_id)

    def send(
        self, *, now: bool = False, again: bool = False, patience_s: float = PATIENCE_S
    ) -> list[Receipt]:
        """Send the waiting reports that are due. This uses no budget.

        Args:
            now: Send all waiting reports, also those that are not due yet.
            again: Also send reports that a collector refused.
            patience_s: How long to retry, in seconds, before the remaining reports are left
                for later.

        Returns:
            A receipt for each of these reports.
        """
        due = None if now else int(time.time())
        waiting = self._outbox.waiting(due, again=again)
        send_waiting(self._outbox, waiting, patience_s)
        return [self._outbox.receipt(report.report_id) for report in waiting]

    def check(self, task_id: str | None = None, *, count: int = 1) -> None:
        """Check that reports are possible, without using any budget.

        Args:
            task_id: The joined task; by default the one that was joined last.
            count: The number of reports.

        Raises:
            ReportRefused: The task has not started, or is over.
            LedgerRefused: The budget does not allow that many reports.
        """
        task = self.bundle(task_id).task
        _current(task, time.time())
        self._ledger.check(task, count)

    def budget(self) -> Budget:
        """The privacy budget: used, remaining, and by task."""
        return self._ledger.budget()

    def receipts(self) -> list[Receipt]:
        """The receipts of all reports that were ever charged to the budget."""
        return self._outbox.receipts()

    def next_due(self) -> int | None:
        """Unix time at which the next waiting report is due; None if none waits."""
        return self._outbox.next_due()

    def _check_open(self, task: Task) -> None:
        """Called only if the report is sent at once: a request would reveal when it is made."""
        address = self._ledger.address(task.id)
        if address is not None and is_closed(Address.parse(address), task.id):
            raise ReportRefused(
                "a task must be open to accept reports, but its collector has closed this one; "
                "no budget was used, and nothing was sent",
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
    """Refuse a task whose reports would be too large to send, before anything is charged."""
    if bundle.code.characters > UPLOAD_BYTES_MAX - _AROUND_VALUE:
        raise TaskRefused(
            f"a report must fit into an upload of {UPLOAD_BYTES_MAX} bytes, but reports of "
            "this task do not; the task needs larger zones",
            code="report_too_large",
            limit=UPLOAD_BYTES_MAX,
        )


def _current(task: Task, moment: float) -> int:
    epoch = task.epoch(moment)
    if epoch < task.start:
        raise ReportRefused(
            "a task must be running, but this one has not started by this device's clock",
            code="task_not_started",
        )
    if epoch >= task.end:
        raise ReportRefused(
            "a task must be running, but this one has ended by this device's clock",
            code="task_expired",
        )
    return epoch


def _delay_s(task: Task, moment: float) -> int:
    """A uniform random delay that does not go past the end of the task."""
    # Of the system's randomness: a predictable delay would reveal when the report was made. The
    # bias of the modulus is below 2^-200.
    most = min(task.send_within, task.end * task.time_precision - int(moment) - 1)
    return int.from_bytes(new_key(), "big") % (most + 1) if most > 0 else 0
