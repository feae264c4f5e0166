"""``nomadp collector``: maintenance of a collector's store."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.file_options import out_option
from nomadp.cli.group import CommandModules
from nomadp.cli.options import PATH
from nomadp.cli.output import Result, json_option, progress_bar

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
    "check": "Verify a store, and explain how to repair it.",
    "tokens": "Create a new token for the analyst or the operator.",
}
"""Each is in this module, or in nomadp.cli.collector_NAME."""

store_option = click.option(
    "--store",
    default="collector.sqlite",
    show_default=True,
    metavar="STORE",
    envvar="NOMADP_STORE",
    help="The store: a file, or postgresql://USER@HOST/DATABASE.",
)


def open_store(name: str, *, new: bool = False) -> "Store":
    """Open a store, or explain how to install the collector."""
    from nomadp.extras import require

    require("collector")
    from nomadp.collector import connections

    return connections.open_store(name, new=new)


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
def export(*, store: str, task_id: str, out: Path) -> Result:
    """Write the reports of a task to a file, for "nomadp query", "decode" and clusters.

    The file has the same layout as one that "nomadp perturb" wrote. Reports are sorted by their
    random ids, and each has its epoch. The store contains nothing about senders.

    \b
    Example:
      nomadp collector export --task ID --out reports.parquet
    """
    from nomadp.collector.export import export_reports

    count = export_reports(open_store(store), task_id, out)
    content = {"reports": count, "task_id": task_id, "out": str(out)}
    return Result(content, f"{count} reports in {out}")


@collector.command()
@store_option
@out_option("The backup: .sqlite.", ".sqlite")
@json_option
def backup(*, store: str, out: Path) -> Result:
    """Copy a consistent snapshot of a store into a file that "nomadp serve" can use.

    \b
    Example:
      nomadp collector backup --out backup.sqlite
    """
    from nomadp.collector.copying import back_up

    back_up(open_store(store), out)
    return Result({"out": str(out)}, f"backup in {out}")


@collector.command()
@click.argument("backup_file", metavar="BACKUP", type=PATH)
@store_option
@json_option
def restore(*, backup_file: Path, store: str) -> Result:
    """Copy BACKUP into a new store. An interrupted copy resumes.

    \b
    Example:
      nomadp collector restore backup.sqlite --store again.sqlite
    """
    return _copy(open_store(str(backup_file)), store)


@collector.command()
@store_option
@click.option("--to", "target", required=True, metavar="STORE", help="Store to copy into.")
@json_option
def migrate(*, store: str, target: str) -> Result:
    """Copy one store into another, empty one. An interrupted copy resumes.

    Stop the collector first. A store that is in use is refused, because reports that arrive
    during the copy would be missing from it.

    \b
    Example:
      nomadp collector migrate --to postgresql://nomadp@localhost/nomadp
    """
    source = open_store(store)
    from nomadp.collector.copying import check_at_rest

    check_at_rest(source)  # before the target is created
    return _copy(source, target, moves=True)


def _copy(source: "Store", target_name: str, *, moves: bool = False) -> Result:
    from nomadp.collector.copying import copy_store

    target = open_store(target_name, new=True)
    with progress_bar("copying reports") as bar:
        count = copy_store(source, target, bar.advance, moves=moves)
    content: dict[str, Any] = {"reports": count, "from": source.name, "to": target.name}
    return Result(content, f"{count} reports copied from {source.name} to {target.name}")


@collector.command()
@click.argument("role", type=click.Choice(["analyst", "operator"]))
@store_option
@json_option
def tokens(*, role: str, store: str) -> Result:
    """Create a new token for ROLE. It is shown once, and replaces the old one immediately.

    If the environment of the collector contains a token, replace it there, too. Otherwise the
    next start restores the old one.

    \b
    Example:
      nomadp collector tokens analyst
    """
    from nomadp.collector.tokens import renew_token

    with closing(open_store(store).connect()) as connection:
        token = renew_token(connection, role)
    text = (
        f"{role} token, shown once: {token}\n"
        f"if NOMADP_{role.upper()}_TOKEN is set where the collector is started, set it to the "
        "new token; otherwise the next start restores the old one"
    )
    return Result({"role": role, "token": token}, text)
