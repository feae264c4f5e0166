"""``nomadp collector``: maintenance of a collector's store."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.files import out_option
from nomadp.cli.group import CommandModules
from nomadp.cli.options import EXISTING
from nomadp.cli.output import Answer, json_option, progress_bar

if TYPE_CHECKING:
    from nomadp.collector.store import Store

__all__ = ["collector"]

COMMANDS = {
    "status": "Count reports and refusals, by task and reason.",
    "export": "Write the reports of a task to Parquet.",
    "backup": "Copy a store into one file, while it is in use.",
    "restore": "Copy a backup into a new store.",
    "migrate": "Copy one store into another, such as a file into PostgreSQL.",
    "clock": "Check or confirm this machine's clock.",
    "check": "Verify a store, and say how to repair it.",
    "tokens": "Create a new token for the analyst or the operator.",
}
"""Each is in this module, or in nomadp.cli.collector_NAME."""

store_option = click.option(
    "--store",
    default="collector.sqlite",
    show_default=True,
    metavar="STORE",
    envvar="NOMADP_STORE",
    help="File of the store, or postgresql://USER@HOST/DATABASE.",
)


def opened_store(named: str, *, new: bool = False) -> "Store":
    from nomadp.extras import require

    require("collector")
    from nomadp.collector.connections import open_store

    return open_store(named, new=new)


@click.group(cls=CommandModules, summaries=COMMANDS, modules="nomadp.cli.collector_{}")
def collector() -> None:
    """Maintain the store of a collector, which "nomadp serve" runs. All commands take --json.

    \b
    Example:
      nomadp collector status
      nomadp collector export --task ID --out reports.parquet
      nomadp collector backup --out backup.sqlite
      nomadp collector migrate --store collector.sqlite --to postgresql://nomadp@localhost/nomadp
    """


@collector.command()
@store_option
@click.option("--task", "task_id", required=True, metavar="ID", help="Id of the task.")
@out_option("Reports: .parquet.", ".parquet")
@json_option
def export(*, store: str, task_id: str, out: Path) -> Answer:
    """Write the reports of a task to a file, for "nomadp query", "decode" and clusters.

    The file has the layout of "nomadp perturb". Reports are sorted by their random ids, each
    with its epoch. The store contains nothing about senders.

    \b
    Example:
      nomadp collector export --task ID --out reports.parquet
    """
    from nomadp.collector.export import export_reports

    count = export_reports(opened_store(store), task_id, out)
    found = {"reports": count, "task_id": task_id, "out": str(out)}
    return Answer(found, f"{count} reports in {out}")


@collector.command()
@store_option
@out_option("The backup: .sqlite.", ".sqlite")
@json_option
def backup(*, store: str, out: Path) -> Answer:
    """Copy a store, as of one moment, into a file that can be served itself.

    \b
    Example:
      nomadp collector backup --out backup.sqlite
    """
    from nomadp.collector.copying import back_up

    back_up(opened_store(store), out)
    return Answer({"out": str(out)}, f"backup in {out}")


@collector.command()
@click.argument("backup_file", metavar="BACKUP", type=EXISTING)
@store_option
@json_option
def restore(*, backup_file: Path, store: str) -> Answer:
    """Copy BACKUP into a new store. An interrupted copy resumes.

    \b
    Example:
      nomadp collector restore backup.sqlite --store again.sqlite
    """
    return _copied(opened_store(str(backup_file)), store)


@collector.command()
@store_option
@click.option("--to", "target", required=True, metavar="STORE", help="Store to copy into.")
@json_option
def migrate(*, store: str, target: str) -> Answer:
    """Copy one store into another, empty one. An interrupted copy resumes.

    Stop the collector first. A store that is in use is refused, because reports that arrive
    during the copy would be missing from it.

    \b
    Example:
      nomadp collector migrate --to postgresql://nomadp@localhost/nomadp
    """
    source = opened_store(store)
    from nomadp.collector.copying import check_at_rest

    check_at_rest(source)  # before the target is created
    return _copied(source, target, moves=True)


def _copied(one: "Store", target: str, *, moves: bool = False) -> Answer:
    from nomadp.collector.copying import copy_store

    other = opened_store(target, new=True)
    with progress_bar("copying reports") as bar:
        count = copy_store(one, other, bar.advance, moves=moves)
    found: dict[str, Any] = {"reports": count, "from": one.name, "to": other.name}
    return Answer(found, f"{count} reports copied from {one.name} to {other.name}")


@collector.command()
@click.argument("role", type=click.Choice(["analyst", "operator"]))
@store_option
@json_option
def tokens(*, role: str, store: str) -> Answer:
    """Create a new token for ROLE. It is shown once, and replaces the old one immediately.

    If the collector is started with a token in its environment, set the new one there too.
    Otherwise its next start restores the old one.

    \b
    Example:
      nomadp collector tokens analyst
    """
    from nomadp.collector.tokens import renew_token

    with closing(opened_store(store).connect()) as connection:
        token = renew_token(connection, role)
    said = (
        f"{role} token, shown once: {token}\n"
        f"if the collector is started with NOMADP_{role.upper()}_TOKEN, set the new token "
        "there too; otherwise its next start restores the old one"
    )
    return Answer({"role": role, "token": token}, said)
