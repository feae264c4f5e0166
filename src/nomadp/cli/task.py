"""``nomadp task``: creates, verifies and publishes the public parameters of a collection."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.addresses import address_of, insecure_option
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.group import CommandModules
from nomadp.cli.output import Result, json_option, print_table

if TYPE_CHECKING:
    from nomadp.protocol.bundle import TaskBundle
    from nomadp.protocol.fetch import Operator

__all__ = ["TOKEN", "collector_option", "bundle_of", "operator_at", "task", "task_content"]

TOKEN = "NOMADP_OPERATOR_TOKEN"

COMMANDS = {
    "create": "Write a task and its public files to a folder.",
    "verify": "Recompute the id, hashes, law and privacy bound of a task.",
    "show": "Print the parameters of a task.",
    "list": "List the tasks in folders, or of a collector.",
    "publish": "Publish a task at a collector.",
    "close": "Stop accepting reports for a task.",
}
"""Each is in this module, or in nomadp.cli.task_NAME."""

collector_option = click.option(
    "--collector",
    metavar="URL",
    required=True,
    help=f"Operator's address of the collector; the token is read from {TOKEN}.",
)


@click.group(cls=CommandModules, summaries=COMMANDS, modules="nomadp.cli.task_{}")
def task() -> None:
    """Create, verify and publish the public parameters of a collection.

    The id of a task is the hash of all its parameters, so everyone with the same id has the
    same task. Contributors can recompute everything with "nomadp task verify". All commands
    take --json.

    \b
    Example:
      nomadp task create --locations places.csv --epsilon 4 --length 4 \\
        --purpose "Where buses should go." --end 2027-01-31 --out task
      nomadp task verify task
      nomadp task publish task --collector http://127.0.0.1:8001
    """


@task.command()
@click.argument("source", metavar="FOLDER|URL")
@insecure_option
@json_option
def show(*, source: str, insecure: bool) -> Result:
    """Print the parameters of a task, after checking its files against their hashes.

    \b
    Example:
      nomadp task show task
    """
    bundle = bundle_of(source, insecure=insecure)
    rows = [[name, str(value)] for name, value in sorted(_table_fields(bundle).items())]
    return Result(task_content(bundle), lambda: print_table(["", bundle.task.id], rows))


@task.command(name="list")
@click.argument("folders", metavar="FOLDER...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--collector",
    metavar="URL",
    help=f"Operator's address of a collector; the token is read from {TOKEN}.",
)
@insecure_option
@json_option
def list_tasks(*, folders: tuple[Path, ...], collector: str | None, insecure: bool) -> Result:
    """List the tasks in folders, or those of a collector.

    \b
    Example:
      nomadp task list task-1 task-2
      nomadp task list --collector http://127.0.0.1:8001
    """
    if bool(folders) == bool(collector):
        raise BadUsage(
            "either folders or --collector URL must be given, and not both",
            code="not_one_source",
        )
    if collector:
        content: Any = operator_at(collector, insecure=insecure).tasks()
        listed = content if isinstance(content, list) else content.get("tasks", [])
        rows = [_row(status) for status in listed if isinstance(status, dict)]
        return Result(
            {"tasks": listed}, lambda: print_table(["task", "state", "reports"], rows)
        )
    bundles = [bundle_of(str(folder)) for folder in folders]
    rows = [
        [bundle.task.id, bundle.task.mechanism, str(bundle.task.epsilon), bundle.task.purpose]
        for bundle in bundles
    ]
    return Result(
        {"tasks": [task_content(bundle) for bundle in bundles]},
        lambda: print_table(["task", "mechanism", "epsilon", "purpose"], rows),
    )


@task.command()
@click.argument("folder", type=click.Path(path_type=Path))
@collector_option
@insecure_option
@json_option
def publish(*, folder: Path, collector: str, insecure: bool) -> Result:
    """Publish a task and its files at a collector, which verifies them as a device would.

    \b
    Example:
      NOMADP_OPERATOR_TOKEN=... nomadp task publish task --collector http://127.0.0.1:8001
    """
    from nomadp.protocol.outlines import read_outlines

    bundle = read_outlines(folder, bundle_of(str(folder)))
    operator_at(collector, insecure=insecure).publish(bundle)
    return Result(
        {"task_id": bundle.task.id, "published": True},
        f"published: {bundle.task.id}",
    )


# An id may begin with a hyphen, and must not be read as an option.
@task.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]}
)
@click.argument("source", metavar="FOLDER|ID")
@collector_option
@insecure_option
@json_option
def close(*, source: str, collector: str, insecure: bool) -> Result:
    """Stop accepting reports for a task. The collector keeps the reports that it has.

    \b
    Example:
      NOMADP_OPERATOR_TOKEN=... nomadp task close task --collector http://127.0.0.1:8001
    """
    from nomadp.protocol.task import is_task_id

    task_id = source if is_task_id(source) else bundle_of(source).task.id
    operator_at(collector, insecure=insecure).close(task_id)
    return Result({"task_id": task_id, "closed": True}, f"closed: {task_id}")


def bundle_of(
    source: str, expected_id: str | None = None, *, insecure: bool = False
) -> "TaskBundle":
    """The task in a folder or at an address."""
    from nomadp.client.bundles import fetched, is_address
    from nomadp.protocol.folder import read_task_folder

    if is_address(source):
        address = address_of(source, insecure=insecure)
        return fetched(address, address.task(expected_id))
    return read_task_folder(Path(source), expected_id)


def task_content(bundle: "TaskBundle") -> dict[str, Any]:
    """A task for --json: its fields, and values derived from them."""
    return {
        "task_id": bundle.task.id,
        **bundle.task.as_dict(),
        "locations": len(bundle.locations),
        "value_characters": bundle.code.characters,
    }


def _table_fields(bundle: "TaskBundle") -> dict[str, Any]:
    """`task_content` without nesting."""
    fields = task_content(bundle)
    del fields["task_id"]
    law = fields.pop("mechanism")
    params = {f"mechanism {name}": value for name, value in law["params"].items()}
    return fields | {"mechanism": f"{law['name']}, version {law['version']}"} | params


def _row(status: dict[str, Any]) -> list[str]:
    """Text and numbers only, because the collector may send anything."""
    name = status.get("task_id", "")
    state = "closed" if status.get("closed") else "open"
    return [str(name)[:43], state, str(status.get("reports", "-"))[:20]]


def operator_at(url: str, *, insecure: bool) -> "Operator":
    """The operator's requests to a collector, with the token from the environment."""
    from nomadp.protocol.fetch import Operator

    token = os.environ.get(TOKEN, "")
    if not token.isascii() or not token.isprintable() or not token:
        raise BadUsage(f"the operator's token must be in {TOKEN}; set it", code="token_missing")
    return Operator(address_of(url, insecure=insecure), token)
