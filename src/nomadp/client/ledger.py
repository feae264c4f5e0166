"""What a device has spent, and may still: exact, for its whole life, and never renewed.

A charge is on disk before anything is perturbed, and has one report id and at most one body. A
crash between the two wastes the charge; it is not used again.
"""

from dataclasses import dataclass
from fractions import Fraction

from nomadp.client.ledger_file import LedgerFile, fresh_id
from nomadp.errors import LedgerRefused
from nomadp.protocol.task import Task

__all__ = ["Charge", "Ledger", "Budget", "TaskBudget"]


@dataclass(frozen=True)
class Charge:
    """Paid, and not yet used."""

    number: int
    report_id: str
    time: int
    """In units of the task's precision."""


@dataclass(frozen=True)
class TaskBudget:
    """Of one task."""

    task_id: str
    purpose: str
    epsilon: Fraction
    """Of one report."""
    used: Fraction
    reports: int
    """That were charged."""
    reports_most: int
    states: dict[str, int]
    """How many of them are charged (and wasted, unless one is being made), waiting, accepted,
    stopped."""
    address: str | None


@dataclass(frozen=True)
class Budget:
    """Of a device over its whole life."""

    lifetime: Fraction
    used: Fraction
    tasks: tuple[TaskBudget, ...]

    @property
    def remaining(self) -> Fraction:
        return max(Fraction(0), self.lifetime - self.used)


class Ledger:
    """The account of a device."""

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    def enter(self, task: Task, address: str | None) -> None:
        """Note a task that the device takes part in; an address that is known stays known."""
        said = (task.id, task.purpose, str(task.epsilon), task.reports_per_contributor, address)
        known = "SELECT id, purpose, epsilon, reports, address FROM tasks WHERE id = ?"
        before = self._file.rows(known, task.id)
        if before and address in (None, before[0][-1]):
            return
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO tasks VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "address = coalesce(excluded.address, address)",
                said,
            )

    def address(self, task_id: str) -> str | None:
        """Of the collector of a task, if one is known."""
        rows = self._file.rows("SELECT address FROM tasks WHERE id = ?", task_id)
        return rows[0][0] if rows else None

    def charge(self, task: Task, time: int) -> Charge:
        """Spend the task's epsilon: on disk when this returns, or refused."""
        report_id = fresh_id()
        with self._file.transaction() as db:
            self.check(task)
            number = db.execute(
                "INSERT INTO charges (task, epsilon, report_id, time, state) "
                "VALUES (?, ?, ?, ?, 'charged')",
                (task.id, str(task.epsilon), report_id, time),
            ).lastrowid
        return Charge(int(number or 0), report_id, time)

    def check(self, task: Task, count: int = 1) -> None:
        """Refuse what so many charges would be refused for; spends nothing by itself."""
        rows = self._file.rows("SELECT task, epsilon FROM charges")
        used = sum((Fraction(epsilon) for _, epsilon in rows), Fraction())
        here = sum(each == task.id for each, _ in rows)
        if here + count > task.reports_per_contributor:
            most = task.reports_per_contributor
            raise LedgerRefused(
                f"one person must report at most {_times(most)} to this task, and this device "
                f"did {_times(here)}, lost reports included; {count} more is refused",
                code="reports_exhausted",
                limit=most,
                reports=here,
                more=count,
            )
        lifetime, more = self._file.lifetime, task.epsilon * count
        if used + more > lifetime:
            raise LedgerRefused(
                f"a device must spend at most {lifetime} in its life, and {used} are spent; "
                f"{more} more is refused, and nothing renews",
                code="budget_exhausted",
                lifetime=lifetime,
                used=used,
                more=more,
            )

    def budget(self) -> Budget:
        """What was spent and what is left."""
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
