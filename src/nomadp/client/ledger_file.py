"""The file of a device's ledger: SQLite, flushed at every step, with a marker file beside it.

A charge is on disk before anything is perturbed, and a report is on disk before it is sent. A
ledger that is damaged, or missing although its marker exists, is refused: a new one would allow
the same budget to be used twice. One process writes at a time; others wait.
"""

import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from nomadp.budget import as_fraction
from nomadp.errors import LedgerRefused, OutputError
from nomadp.formats.atomic import write_atomically
from nomadp.protocol.ceilings import EPSILON_LIFETIME_DEFAULT, EPSILON_LIFETIME_MAX
from nomadp.protocol.upload import ID_BYTES, report_id
from nomadp.randomness import new_key

__all__ = [
    "LEDGER",
    "LOCK_WAIT_S",
    "MARKER",
    "TASKS",
    "LedgerFile",
    "as_lifetime",
    "default_home",
    "fresh_id",
    "has_begun",
]

LEDGER, MARKER, TASKS = "ledger.sqlite3", "ledger.began", "tasks"
LOCK_WAIT_S = 20.0
"""How long to wait for another process that is writing."""
FORMAT = "nomadp ledger 1"

TABLES = (
    "CREATE TABLE about (one INTEGER PRIMARY KEY CHECK (one = 1), format TEXT NOT NULL, "
    "token TEXT NOT NULL, lifetime TEXT NOT NULL)",
    "CREATE TABLE tasks (id TEXT PRIMARY KEY NOT NULL, purpose TEXT NOT NULL, "
    "epsilon TEXT NOT NULL, reports INTEGER NOT NULL, address TEXT)",
    "CREATE TABLE charges (number INTEGER PRIMARY KEY, task TEXT NOT NULL, "
    "epsilon TEXT NOT NULL, report_id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL, "
    "state TEXT NOT NULL CHECK (state IN ('charged', 'waiting', 'accepted', 'stopped')), "
    "body BLOB, not_before INTEGER, attempts INTEGER NOT NULL DEFAULT 0, reason TEXT)",
    # A charge is permanent, and its body never changes once it is stored.
    "CREATE TRIGGER charges_stay BEFORE DELETE ON charges "
    "BEGIN SELECT RAISE(ABORT, 'charges stay'); END",
    "CREATE TRIGGER charges_fixed BEFORE UPDATE OF number, task, epsilon, report_id, time "
    "ON charges BEGIN SELECT RAISE(ABORT, 'charges are fixed'); END",
    "CREATE TRIGGER bodies_fixed BEFORE UPDATE OF body ON charges "
    "WHEN NEW.body IS NOT NULL AND OLD.state <> 'charged' "
    "BEGIN SELECT RAISE(ABORT, 'one body for one charge'); END",
)
_TOKEN = re.compile("[A-Za-z0-9_-]{22}")
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def fresh_id() -> str:
    """22 characters that encode 128 random bits of the operating system."""
    return report_id(new_key()[:ID_BYTES])


def as_lifetime(value: Any) -> Fraction:
    """The lifetime budget of a device as an exact number."""
    cap = None if isinstance(value, bool) else as_fraction(value)
    if cap is None or not 0 < cap <= EPSILON_LIFETIME_MAX:
        raise LedgerRefused(
            f"the lifetime epsilon of a device must be above 0 and at most "
            f"{EPSILON_LIFETIME_MAX}, got {str(value)[:40]}",
            code="lifetime_out_of_range",
            limit=EPSILON_LIFETIME_MAX,
        )
    return cap


def default_home() -> Path:
    """``NOMADP_HOME``, or the platform's folder for user data."""
    if chosen := os.environ.get("NOMADP_HOME"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "nomadp"
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/nomadp"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "nomadp"


def has_begun(home: Path) -> bool:
    """Whether a ledger was created here: its marker, or a task, is written after it."""
    return (home / MARKER).exists() or (home / TASKS).exists()


class LedgerFile:
    """An open ledger; `transaction` is the only way to change it."""

    def __init__(self, home: Path, lifetime: Fraction | None = None) -> None:
        self._home, self._process = home, os.getpid()
        # Looked up before SQLite creates a missing file, which would pass for a new ledger.
        began = has_begun(home)
        if began and not (home / LEDGER).exists():
            raise LedgerRefused(
                f"the ledger must stay where it was created, but {home / LEDGER} is missing; "
                "restore it: without it the used budget is unknown, and nothing is reported",
                code="ledger_missing",
            )
        self._db = self._opened()
        try:
            self._begin(lifetime, began=began)
            self._check()
            self._mark()
            self._lower(lifetime)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    @property
    def lifetime(self) -> Fraction:
        """The lifetime budget, set when the ledger was created."""
        ((text,),) = self.rows("SELECT lifetime FROM about")
        return Fraction(text)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._refusals():
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is on disk at the end, or none of it."""
        # IMMEDIATE locks before the first read, so that a check still holds at the write.
        with self._refusals():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _opened(self) -> sqlite3.Connection:
        path = self._home / LEDGER
        with self._refusals():
            self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            with suppress(OSError):  # the file belongs to another user
                path.chmod(0o600)
            db = sqlite3.connect(path, timeout=LOCK_WAIT_S, isolation_level=None)
        try:
            with self._refusals():
                # EXTRA also flushes the folder when the journal is deleted; on macOS only
                # fullfsync reaches the disk; secure_delete overwrites bodies that were sent.
                for name, value in (
                    ("synchronous", "EXTRA"),
                    ("fullfsync", "ON"),
                    ("secure_delete", "ON"),
                    ("journal_mode", "DELETE"),
                ):
                    db.execute(f"PRAGMA {name}={value}")
        except BaseException:
            db.close()
            raise
        return db

    def _begin(self, lifetime: Fraction | None, *, began: bool) -> None:
        with self.transaction() as db:
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
                return
            if began:
                raise LedgerRefused(
                    f"{self._home / LEDGER} must be the ledger that was created here, but is "
                    "empty; restore it",
                    code="ledger_empty",
                )
            for table in TABLES:
                db.execute(table)
            cap = Fraction(EPSILON_LIFETIME_DEFAULT) if lifetime is None else lifetime
            about = (FORMAT, fresh_id(), str(cap))
            db.execute("INSERT INTO about VALUES (1, ?, ?, ?)", about)

    def _check(self) -> None:
        """Refuse a file that is damaged or has another schema."""
        is_intact = self.rows("PRAGMA quick_check") == [("ok",)]
        statements = {
            sql for (sql,) in self.rows("SELECT sql FROM sqlite_master WHERE sql NOT NULL")
        }
        if not is_intact or statements != {*TABLES}:
            raise self._damage()
        about = self.rows("SELECT format, token, lifetime FROM about")
        if len(about) != 1 or about[0][0] != FORMAT or not _TOKEN.fullmatch(str(about[0][1])):
            raise self._damage()
        charges = self.rows("SELECT epsilon FROM charges")
        try:
            as_lifetime(about[0][2])
            is_valid = all(Fraction(text) > 0 for (text,) in charges)
        except (LedgerRefused, ValueError, TypeError, ZeroDivisionError):
            is_valid = False
        if not is_valid:
            raise self._damage()

    def _mark(self) -> None:
        ((token,),) = self.rows("SELECT token FROM about")
        marker = self._home / MARKER
        try:
            if marker.exists():
                if marker.read_bytes() != token.encode():
                    raise LedgerRefused(
                        f"{marker} must belong to the ledger beside it, but belongs to "
                        "another; restore the ledger that was created here",
                        code="ledger_mismatch",
                    )
                return
            # A new ledger: its marker is written before the first charge.
            write_atomically({marker: lambda part: part.write_bytes(token.encode())}, [marker])
        except (OSError, OutputError) as error:
            raise _unwritable(self._home, error) from error

    def _lower(self, lifetime: Fraction | None) -> None:
        if lifetime is None or lifetime == (current := self.lifetime):
            return
        if lifetime > current:
            raise LedgerRefused(
                f"the lifetime epsilon must be at most {current}, the value in the ledger, got "
                f"{lifetime}; it can only be lowered",
                code="lifetime_raised",
                lifetime=current,
            )
        with self.transaction() as db:
            db.execute("UPDATE about SET lifetime = ?", (str(lifetime),))

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        # SQLite forbids using a connection after a fork: locks are lost and files get damaged.
        if os.getpid() != self._process:
            raise LedgerRefused(
                "a ledger must be used by the process that opened it, but this is a fork of "
                "it; open a Client here",
                code="ledger_of_another_process",
            )
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _IN_USE:
                raise LedgerRefused(
                    f"the ledger must be free for writing, but another process locked it for "
                    f"{LOCK_WAIT_S:g} s; try again when that process has ended",
                    code="ledger_in_use",
                ) from error
            raise (
                self._damage() if code in _DAMAGED else _unwritable(self._home, error)
            ) from error
        except OSError as error:
            raise _unwritable(self._home, error) from error

    def _damage(self) -> LedgerRefused:
        return LedgerRefused(
            f"{self._home / LEDGER} must be an intact ledger, but is damaged or another file; "
            "restore it: nothing is reported without it",
            code="ledger_damaged",
        )


def _unwritable(home: Path, error: Exception) -> LedgerRefused:
    return LedgerRefused(
        f"the ledger in {home} must be readable and writable, but is not "
        f"({type(error).__name__}); nothing is perturbed or sent without it",
        code="ledger_unusable",
        reason=type(error).__name__,
    )
