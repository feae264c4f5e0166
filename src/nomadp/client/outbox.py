"""Reports that are made: their bytes until a collector has them, then only a receipt.

Nothing here is private: a body is what was released, and would be sent as it is.
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
    """What became of one report."""

    task_id: str
    report_id: str
    time: int
    """In units of the task's precision."""
    epsilon: Fraction
    state: str
    """accepted, waiting (to be sent), stopped (refused by the collector), or charged (lost
    before it was made)."""
    reason: str | None = None
    """Why it waits still, or was stopped."""
    not_before: int | None = None
    """Unix time from which on a waiting one may be sent."""

    @property
    def accepted(self) -> bool:
        return self.state == "accepted"


@dataclass(frozen=True)
class Waiting:
    """Bytes to be sent, and where."""

    report_id: str
    task_id: str
    body: bytes
    attempts: int
    address: str | None


class Outbox:
    """Of the ledger's file, so that a charge and its bytes cannot part."""

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    def store(self, charge: Charge, body: bytes, not_before: int) -> None:
        """The one body of a charge: on disk when this returns."""
        with self._file.transaction() as db:
            changed = db.execute(
                "UPDATE charges SET body = ?, not_before = ?, state = 'waiting' "
                "WHERE number = ? AND report_id = ? AND state = 'charged'",
                (body, not_before, charge.number, charge.report_id),
            ).rowcount
            if changed != 1:
                raise LedgerRefused(
                    "a charge must get one body only, and this one has its own",
                    code="charge_already_used",
                )

    def waiting(self, due: int | None, *, again: bool = False) -> list[Waiting]:
        """What is due at ``due``, or all that waits; ``again``: what was stopped, too."""
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
        """A collector has it: only the receipt stays."""
        self._settle(
            report_id, "state = 'accepted', body = NULL, not_before = NULL, reason = NULL"
        )

    def stop(self, report_id: str, reason: str) -> None:
        """A collector refused it: kept, and not sent by itself any more."""
        self._settle(report_id, "state = 'stopped', reason = ?", reason)

    def postpone(self, report_id: str, reason: str, not_before: int) -> None:
        """To be sent again, the same bytes."""
        self._settle(
            report_id,
            "state = 'waiting', attempts = attempts + 1, reason = ?, not_before = ?",
            reason,
            not_before,
        )

    def _settle(self, report_id: str, change: str, *values: Any) -> None:
        # Another process may have sent the same bytes, and settled it: then it stays settled.
        with self._file.transaction() as db:
            db.execute(
                f"UPDATE charges SET {change} "
                "WHERE report_id = ? AND state IN ('waiting', 'stopped')",
                (*values, report_id),
            )

    def next_due(self) -> int | None:
        """When the next of those that wait may be sent."""
        ((due,),) = self._file.rows(
            "SELECT min(not_before) FROM charges WHERE state = 'waiting'"
        )
        return None if due is None else int(due)

    def receipts(self) -> list[Receipt]:
        """Of every charge, in the order of their random ids."""
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
