"""``nomadp collector check``: whether a store is whole, and what to do if it is not."""

from typing import TYPE_CHECKING

import click

from nomadp.cli.collector import opened_store, store_option
from nomadp.cli.output import Answer, json_option, progress_bar

if TYPE_CHECKING:
    from nomadp.collector.checking import Checked

__all__ = ["check"]

DAMAGED = (
    "stop the collector: nothing more should be written to this store",
    "copy the store as it is (of a file also the -wal beside it) before anything else is tried",
    "look at the disk and the memory of the machine: software alone rarely does this",
    'run "nomadp collector restore BACKUP --store NEW" with the newest backup, and serve NEW; '
    "devices whose reports were not acknowledged send them again",
    'what came in since that backup may still be read: "sqlite3 FILE .recover" for a file, '
    "pg_dump with zero_damaged_pages for PostgreSQL, each on the copy",
)
DIFFERENT = (
    "make a backup, and check an older one: if that is whole, restore it into a new store",
    'reports that are there can be exported ("nomadp collector export") and asked as a file '
    '("nomadp query"), which counts them anew',
)


@click.command()
@store_option
@json_option
def check(*, store: str) -> Answer:
    """Read all of a store: the database itself, every task, and counts against reports.

    It may be in use meanwhile. The exit code is 1 if anything is wrong, and what to do is said.
    Counts of reports whose values were deleted after their retention are compared in number.

    \b
    Example:
      nomadp collector check
      nomadp collector check --store postgresql://nomadp@localhost/nomadp
    """
    found = _found(store)
    advice = DAMAGED if found.damage else DIFFERENT if found.differences else ()
    lines = [*found.damage, *found.differences, *found.notes]
    lines += [f"{number}. {each}" for number, each in enumerate(advice, 1)]
    state = "the store is whole" if found.is_whole else "the store is NOT whole"
    lines.append(f"{state}: {found.reports} reports of {found.tasks} tasks were looked at")
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


def _found(store: str) -> "Checked":
    from nomadp.extras import require

    require("collector")
    from nomadp.collector.checking import Checked, checked
    from nomadp.collector.store import StoreCorrupt

    try:
        held = opened_store(store)
    except StoreCorrupt as error:  # not even that can be read
        return Checked(damage=[error.reason])
    with progress_bar("checking reports") as bar:
        return checked(held, bar.advance)
