"""``nomadp collector check``: verifies a store, and says how to repair it."""

from typing import TYPE_CHECKING

import click

from nomadp.cli.collector import opened_store, store_option
from nomadp.cli.output import Answer, json_option, progress_bar

if TYPE_CHECKING:
    from nomadp.collector.checking import StoreCheck

__all__ = ["check"]

DAMAGED = (
    "stop the collector, so that nothing more is written to this store",
    "copy the store as it is (for a file, also the -wal file beside it) before trying anything",
    "check the disk and the memory of the machine, which are the usual cause",
    'run "nomadp collector restore BACKUP --store NEW" with the newest backup and serve NEW; '
    "devices send unacknowledged reports again",
    'try to read newer reports from the copy: "sqlite3 FILE .recover" for a file, pg_dump with '
    "zero_damaged_pages for PostgreSQL",
)
DIFFERENT = (
    "make a backup, then check an older one; if that is intact, restore it to a new store",
    'or export the reports ("nomadp collector export") and query that file ("nomadp query"), '
    "which counts them again",
)


@click.command()
@store_option
@json_option
def check(*, store: str) -> Answer:
    """Verify a store: the database itself, every task, and counts against reports.

    The store may be in use. If anything is wrong, the command says what to do and exits with 1.
    For reports that were deleted after their retention, only the totals are compared.

    \b
    Example:
      nomadp collector check
      nomadp collector check --store postgresql://nomadp@localhost/nomadp
    """
    found = _found(store)
    advice = DAMAGED if found.damage else DIFFERENT if found.differences else ()
    lines = [*found.damage, *found.differences, *found.notes]
    lines += [f"{number}. {step}" for number, step in enumerate(advice, 1)]
    state = "the store is intact" if found.is_whole else "the store is NOT intact"
    lines.append(f"{state} (checked: tasks {found.tasks}, reports {found.reports})")
    content = {
        "is_whole": found.is_whole,
        "tasks": found.tasks,
        "reports": found.reports,
        "damage": found.damage,
        "differences": found.differences,
        "notes": found.notes,
        "advice": list(advice),
    }
    return Answer(content, "\n".join(lines), ok=found.is_whole)


def _found(store: str) -> "StoreCheck":
    from nomadp.extras import require

    require("collector")
    from nomadp.collector.checking import StoreCheck, check_store
    from nomadp.collector.store import StoreCorrupt

    try:
        held = opened_store(store)
    except StoreCorrupt as error:  # the store cannot even be opened
        return StoreCheck(damage=[error.reason])
    with progress_bar("checking reports") as bar:
        return check_store(held, bar.advance)
