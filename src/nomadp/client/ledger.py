"""The privacy budget of a device: exact, for its lifetime, and never renewed.

Budgets add up by sequential composition: the total epsilon of all charges bounds the privacy
loss of everything that the device ever sent. A charge is on disk before anything is perturbed.
It has one report id and at most one body. A crash between the two wastes the charge; it is
never reused, since the same charge for two bodies would lose twice its epsilon.
"""

from dataclasses import dataclass
from fractions import Fraction

from nomadp.client.ledger_file import LedgerFile, fresh_id
from nomadp.errors import LedgerRefused
from nomadp.protocol.task import Task

__all__ = ["Charge", "Ledger", "Budget", "TaskBudget"]


@dataclass(frozen=True)
class Charge:
    """The budget of one report, already deducted."""

    number: int
    report_id: str
    time: int
    """In units of the task's precision."""


@dataclass(frozen=True)
class TaskBudget:
    """The part of the budget that one task used."""

    task_id: str
    purpose: str
    """The purpose of the task, in a sentence."""
    epsilon: Fraction
    """The epsilon of each report."""
    used: Fraction
    """The epsilon of all reports that were charged."""
    reports: int
    """The number of reports that were charged."""
    reports_most: int
    """The largest number of reports that the task allows."""
    states: dict[str, int]
    """The number of reports that are waiting, accepted, stopped, or only charged (which is
    wasted unless the report is being made right now)."""
    address: str | None
    """The address of the collector, if it is known."""


@dataclass(frozen=True)
class Budget:
    """The privacy budget of a device over its lifetime."""

    lifetime: Fraction
    """The total epsilon that may ever be used."""
    used: Fraction
    """The epsilon of all reports that were charged."""
    tasks: tuple[TaskBudget, ...]
    """The budget of each task that the device joined."""

    @property
    def remaining(self) -> Fraction:
        """The epsilon that can still be used."""
        return max(Fraction(0), self.lifetime - self.used)


class Ledger:
    """Charges reports to the budget of a device."""

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    def enter(self, task: Task, address: str | None) -> None:
        """Record a task that the device joins; a known address is kept if none is given."""
        row = (task.id, task.purpose, str(task.epsilon), task.reports_per_contributor, address)
        known = "SELECT id, purpose, epsilon, reports, address FROM tasks WHERE id = ?"
        before = self._file.rows(known, task.id)
        if before and address in (None, before[0][-1]):
            return
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO tasks VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "address = coalesce(excluded.address, address)",
                row,
            )

    def address(self, task_id: str) -> str | None:
        """The address of a task's collector; None if unknown."""
        rows = self._file.rows("SELECT address FROM tasks WHERE id = ?", task_id)
        return rows[0][0] if rows else None

    def charge(self, task: Task, time: int) -> Charge:
        """Deduct the task's epsilon, on disk when this returns; otherwise `LedgerRefused`."""
        report_id = fresh_id()
        # Check and insert in one transaction: two processes cannot both use the last budget.
        with self._file.transaction() as db:
            self.check(task)
            number = db.execute(
                "INSERT INTO charges (task, epsilon, report_id, time, state) "
                "VALUES (?, ?, ?, ?, 'charged')",
                (task.id, str(task.epsilon), report_id, time),
            ).lastrowid
        return Charge(int(number or 0), report_id, time)

    def check(self, task: Task, count: int = 1) -> None:
        """Raise `LedgerRefused` if ``count`` more charges are impossible; deducts nothing."""
        # Summed as fractions: floating point could exceed the limit by rounding.
        rows = self._file.rows("SELECT task, epsilon FROM charges")
        used = sum((Fraction(epsilon) for _, epsilon in rows), Fraction())
        n_reports = sum(task_id == task.id for task_id, _ in rows)
        if n_reports + count > task.reports_per_contributor:
            most = task.reports_per_contributor
            raise LedgerRefused(
                f"a device must report to this task at most {_times(most)}; it has reported "
                f"{_times(n_reports)}, including lost reports, and this would add {count}",
                code="reports_exhausted",
                limit=most,
                reports=n_reports,
                more=count,
            )
        lifetime, more = self._file.lifetime, task.epsilon * count
        if used + more > lifetime:
            raise LedgerRefused(
                f"a device must use at most epsilon {lifetime} in its lifetime; it has used "
                f"{used}, and this would use {more} more; the budget is never renewed",
                code="budget_exhausted",
                lifetime=lifetime,
                used=used,
                more=more,
            )

    def budget(self) -> Budget:
        """The budget, in total and by task."""
        rows = self._file.rows("SELECT task, epsilon, state FROM charges")
        tasks = self._file.rows(
            "SELECT id, purpose, epsilon, reports, address FROM tasks ORDER BY rowid"
        )
        budgets = []
        for task_id, purpose, epsilon, most, address in tasks:
            own = [(Fraction(charge), state) for task, charge, state in rows if task == task_id]
            states = dict.fromkeys(("charged", "waiting", "accepted", "stopped"), 0)
            for _, state in own:
                states[state] += 1
            used = sum((charge for charge, _ in own), Fraction())
            count = len(own)
            budgets.append(
                TaskBudget(
                    task_id, purpose, Fraction(epsilon), used, count, most, states, address
                )
            )
        in_all = sum((Fraction(charge) for _, charge, _ in rows), Fraction())
        return Budget(self._file.lifetime, in_all, tuple(budgets))


def _times(many: int) -> str:
    return "once" if many == 1 else f"{many} times"
