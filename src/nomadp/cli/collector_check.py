"""``nomadp collector check``: verifies a store, and explains how to repair it."""

from typing import TYPE_CHECKING

import click

from nomadp.cli.collector import open_store, store_option
from nomadp.cli.output import Result, json_option, progress_bar

if TYPE_CHECKING:
    from nomadp.collector.checking import StoreCheck

__all__ = ["check"]

REPAIR_STEPS = (
    "stop the collector, so that nothing more is written to this store",
    "copy the store as it is (for a file, also the -wal file beside it) before trying anything",
    "check the disk and the memory of the machine, which are the usual cause",
    'run "nomadp collector restore BACKUP --store NEW" with the newest backup and serve NEW; '
    "devices send unacknowledged reports again",
    'try to read newer reports from the copy: "sqlite3 FILE .recover" for a file, pg_dump with '
    "zero_damaged_pages for PostgreSQL",
)
RECOUNT_STEPS = (
    "make a backup, then check an older one; if that is intact, restore it to a new store",
    'or export the reports ("nomadp collector export") and query that file ("nomadp query"), '
    "which counts them again",
)


@click.command()
@store_option
@json_option
def check(*, store: str) -> Result:
    """Verify a store: the database itself, every task, and counts against reports.

    The store may be in use. If anything is wrong, the command prints what to do and exits with
    1. For reports that were deleted after their retention period, only totals are compared.

    \b
    Example:
      nomadp collector check
      nomadp collector check --store postgresql://nomadp@localhost/nomadp
    """
    outcome = _check_store(store)
    advice = REPAIR_STEPS if outcome.damage else RECOUNT_STEPS if outcome.differences else ()
    lines = [*outcome.damage, *outcome.differences, *outcome.notes]
    lines += [f"{number}. {step}" for number, step in enumerate(advice, 1)]
    state = "the store is intact" if outcome.is_whole else "the store is NOT intact"
    lines.append(
        f"{state} (tasks checked: {outcome.tasks}, reports checked: {outcome.reports})"
    )
    content = {
        "is_whole": outcome.is_whole,
        "tasks": outcome.tasks,
        "reports": outcome.reports,
        "damage": outcome.damage,
        "differences": outcome.differences,
        "notes": outcome.notes,
        "advice": list(advice),
    }
    return Result(content, "\n".join(lines), ok=outcome.is_whole)


def _check_store(store_name: str) -> "StoreCheck":
    from nomadp.extras import require

    require("collector")
    from nomadp.collector.checking import StoreCheck, check_store
    from nomadp.collector.store import StoreCorrupt

    try:
        store = open_store(store_name)
    except StoreCorrupt as error:  # the store cannot even be opened
        return StoreCheck(damage=[error.reason])
    with progress_bar("checking reports") as bar:
        return check_store(store, bar.advance)
