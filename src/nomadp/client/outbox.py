"""The outbox: the bytes of each report until a collector has accepted it, then its receipt.

Nothing in it is private: a body is already perturbed, and is sent as it is.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nomadp.client.ledger import Charge
from nomadp.client.ledger_file import LedgerFile
from nomadp.errors import LedgerRefused

__all__ = ["Outbox", "Receipt", "Waiting"]

_FIELDS = "task, report_id, time, epsilon, state, reason, not_before"


@dataclass(frozen=True)
class Receipt:
    """The state of one report."""

    task_id: str
    report_id: str
    time: int
    """The time that the report states, in units of the task's precision."""
    epsilon: Fraction
    """The epsilon that was charged."""
    state: str
    """``accepted``, ``waiting`` (to be sent), ``stopped`` (refused by the collector), or
    ``charged`` (lost before it was made)."""
    reason: str | None = None
    """Why the report still waits or was stopped, if known."""
    not_before: int | None = None
    """Unix time from which a waiting report may be sent."""

    @property
    def accepted(self) -> bool:
        """Whether the collector has accepted the report."""
        return self.state == "accepted"


@dataclass(frozen=True)
class Waiting:
    """A report that waits: its bytes and its destination."""

    report_id: str
    task_id: str
    body: bytes
    attempts: int
    address: str | None


class Outbox:
    """Kept in the ledger's file, so that a charge and its bytes stay together."""

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    def store(self, charge: Charge, body: bytes, not_before: int) -> None:
        """Store the body of a charge: on disk when this returns."""
        # The condition on the state makes it the only body of this charge, in any process.
        with self._file.transaction() as db:
            changed = db.execute(
                "UPDATE charges SET body = ?, not_before = ?, state = 'waiting' "
                "WHERE number = ? AND report_id = ? AND state = 'charged'",
                (body, not_before, charge.number, charge.report_id),
            ).rowcount
            if changed != 1:
                raise LedgerRefused(
                    "a charge must have only one report, but this one already has one",
                    code="charge_already_used",
                )

    def waiting(self, due: int | None, *, again: bool = False) -> list[Waiting]:
        """Reports due at ``due``, or all that wait; with ``again``, stopped ones as well."""
        rows = self._file.rows(
            "SELECT report_id, task, body, attempts, address FROM charges "
            "LEFT JOIN tasks ON tasks.id = task WHERE (state = 'stopped' AND ?) "
            "OR (state = 'waiting' AND (? IS NULL OR not_before <= ?)) "
            "ORDER BY not_before, report_id",
            again,
            due,
            due,
        )
        return [Waiting(*row) for row in rows]

    def accept(self, report_id: str) -> None:
        """A collector has accepted the report: delete its bytes, keep its receipt."""
        self._settle(
            report_id, "state = 'accepted', body = NULL, not_before = NULL, reason = NULL"
        )

    def stop(self, report_id: str, reason: str) -> None:
        """A collector refused the report: keep it, but no longer send it automatically."""
        self._settle(report_id, "state = 'stopped', reason = ?", reason)

    def postpone(self, report_id: str, reason: str, not_before: int) -> None:
        """Send the same bytes again later."""
        self._settle(
            report_id,
            "state = 'waiting', attempts = attempts + 1, reason = ?, not_before = ?",
            reason,
            not_before,
        )

    def _settle(self, report_id: str, change: str, *values: Any) -> None:
        # If another process sent the same bytes in the meantime, its result stands.
        with self._file.transaction() as db:
            db.execute(
                f"UPDATE charges SET {change} "
                "WHERE report_id = ? AND state IN ('waiting', 'stopped')",
                (*values, report_id),
            )

    def next_due(self) -> int | None:
        """Unix time at which the next waiting report may be sent."""
        ((due,),) = self._file.rows(
            "SELECT min(not_before) FROM charges WHERE state = 'waiting'"
        )
        return None if due is None else int(due)

    def receipts(self) -> list[Receipt]:
        """The receipts of all charges, ordered by their random ids."""
        rows = self._file.rows(f"SELECT {_FIELDS} FROM charges ORDER BY report_id")
        return [_receipt(row) for row in rows]

    def receipt(self, report_id: str) -> Receipt:
        (row,) = self._file.rows(
            f"SELECT {_FIELDS} FROM charges WHERE report_id = ?", report_id
        )
        return _receipt(row)


def _receipt(row: tuple[Any, ...]) -> Receipt:
    task_id, report_id, time, epsilon, state, reason, not_before = row
    return Receipt(task_id, report_id, time, Fraction(epsilon), state, reason, not_before)
