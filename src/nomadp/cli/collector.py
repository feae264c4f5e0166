"""``nomadp collector``: what an operator does with a collector's store."""

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
    "status": "Tasks, reports, and what was refused for which reason.",
    "export": "The reports of a task as Parquet.",
    "backup": "All of a store in one file, while it is in use.",
    "restore": "A backup into a new store.",
    "migrate": "One store into another, say a file into PostgreSQL.",
    "clock": "Whether the clock can be believed, and that it is right.",
    "check": "Whether a store is whole, and what to do if it is not.",
    "tokens": "A new token for the analyst or the operator.",
}
"""Each is here, or in the module nomadp.cli.collector_NAME with a command of its name."""

store_option = click.option(
    "--store",
    default="collector.sqlite",
    show_default=True,
    metavar="STORE",
    envvar="NOMADP_STORE",
    help="A file, or postgresql://USER@HOST/DATABASE.",
)


def opened_store(named: str, *, new: bool = False) -> "Store":
    from nomadp.extras import require

    require("collector")
    from nomadp.collector.connections import open_store

    return open_store(named, new=new)


@click.group(cls=CommandModules, summaries=COMMANDS, modules="nomadp.cli.collector_{}")
def collector() -> None:
    """Look after the store of a collector; "nomadp serve" runs one. All take --json.

    \b
    Example:
      nomadp collector status
      nomadp collector export --task ID --out reports.parquet
      nomadp collector backup --out backup.sqlite
      nomadp collector migrate --store collector.sqlite --to postgresql://nomadp@localhost/nomadp
    """


@collector.command()
@store_option
@click.option("--task", "task_id", required=True, metavar="ID", help="Which task.")
@out_option("Reports: .parquet.", ".parquet")
@json_option
def export(*, store: str, task_id: str, out: Path) -> Answer:
    """Reports as "nomadp perturb" writes them, for "nomadp query", "decode" and clusters.

    In the order of their random ids, each with its epoch: nothing of senders is there to be
    exported.

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
@out_option("A store of its own: .sqlite.", ".sqlite")
@json_option
def backup(*, store: str, out: Path) -> Answer:
    """Everything as of one moment, in a file that can be served itself.

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
    """BACKUP into a new store; one that was interrupted is taken up again.

    \b
    Example:
      nomadp collector restore backup.sqlite --store again.sqlite
    """
    return _copied(opened_store(str(backup_file)), store)


@collector.command()
@store_option
@click.option("--to", "target", required=True, metavar="STORE", help="Where to.")
@json_option
def migrate(*, store: str, target: str) -> Answer:
    """One store into another that is empty; an interrupted one is taken up again.

    Stop the collector first: what came in during the copy would not be in it, so a store that
    is in use is refused.

    \b
    Example:
      nomadp collector migrate --to postgresql://nomadp@localhost/nomadp
    """
    source = opened_store(store)
    from nomadp.collector.copying import check_at_rest

    check_at_rest(source)  # before the other is made
    return _copied(source, target, moves=True)


def _copied(one: "Store", target: str, *, moves: bool = False) -> Answer:
    from nomadp.collector.copying import copy_store

    other = opened_store(target, new=True)
    with progress_bar("copying reports") as bar:
        count = copy_store(one, other, bar.advance, moves=moves)
    found: dict[str, Any] = {"reports": count, "from": one.name, "to": other.name}
    return Answer(found, f"{count} reports from {one.name} in {other.name}")


@collector.command()
@click.argument("role", type=click.Choice(["analyst", "operator"]))
@store_option
@json_option
def tokens(*, role: str, store: str) -> Answer:
    """A new token for ROLE, shown once; the old one is worth nothing from now on.

    Where the collector is started with a token in its environment, put the new one there, too:
    at its next start it takes that of the environment again.

    \b
    Example:
      nomadp collector tokens analyst
    """
    from nomadp.collector.tokens import renew_token

    with closing(opened_store(store).connect()) as connection:
        token = renew_token(connection, role)
    said = (
        f"{role} token, shown once: {token}\n"
        f"if the collector is started with NOMADP_{role.upper()}_TOKEN, set it there, too: the "
        "next start takes what is there"
    )
    return Answer({"role": role, "token": token}, said)
