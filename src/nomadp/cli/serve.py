"""``nomadp serve``: the collector that devices report to."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from nomadp.cli.collector import open_store, store_option
from nomadp.cli.exit_codes import BadUsage, Stopped
from nomadp.cli.options import PATH, Whole, file_option
from nomadp.cli.output import print_json, say
from nomadp.extras import require

__all__ = ["serve"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

LOOPBACK = "127.0.0.1"
CAN_SHARE_LISTENERS = os.name == "posix"
"""Whether a process can inherit the sockets of another one."""


def port_option(flag: str, default: int, help_text: str) -> Callable[[Decorated], Decorated]:
    return click.option(
        flag, type=Whole(0, 65_535), default=default, show_default=True, help=help_text
    )


@click.command()
@click.argument("folders", metavar="[FOLDER...]", type=PATH, nargs=-1)
@store_option
@click.option(
    "--host", default=LOOPBACK, show_default=True, help="Address for devices and analysts."
)
@port_option("--port", 8000, "Port for devices and analysts.")
@click.option(
    "--operator-host",
    default=LOOPBACK,
    show_default=True,
    help="Address for the operator; keep it private.",
)
@port_option("--operator-port", 8001, "Port for the operator.")
@click.option(
    "--workers",
    type=Whole(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of processes; more than one needs PostgreSQL.",
)
@file_option("--basemap", "Background map of the dashboard: a PMTiles file, version 3.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print addresses, tasks and new tokens as JSON."
)
def serve(**options: Any) -> None:
    """Run a collector for the tasks in its store, and add the tasks in FOLDERs to the store.

    A FOLDER is the output of "nomadp task create". A report is acknowledged only once it is on
    disk. Tokens for the analyst and the operator are printed once, when they are created. To
    choose them yourself, set NOMADP_ANALYST_TOKEN and NOMADP_OPERATOR_TOKEN. The log is JSON on
    standard error and contains nothing about senders. After Ctrl-C or SIGTERM, the collector
    finishes open requests and exits.

    \b
    Example:
      nomadp serve task
      nomadp serve task --basemap city.pmtiles
      nomadp serve --store postgresql://nomadp@localhost/nomadp --workers 4 --port 8000
    """
    require("collector")
    from nomadp.collector.basemap import load_basemap
    from nomadp.collector.disk_space import bytes_to_keep_free

    bytes_to_keep_free()  # before any file is opened or created
    basemap = options["basemap"] and load_basemap(options["basemap"])
    if options["workers"] > 1 and not CAN_SHARE_LISTENERS:
        raise BadUsage(
            f"--workers must be 1 on this system, got {options['workers']}; processes cannot "
            "share a listener here",
            code="workers_unsupported",
        )
    store = open_store(options["store"], new=True)
    if options["workers"] > 1 and not store.shared:
        raise BadUsage(
            "--workers above 1 needs a store that processes can share; add --store "
            "postgresql://...",
            code="store_not_shared",
        )
    signal_number = _run({**options, "basemap": basemap}, store)
    if signal_number:
        interruption = Stopped(signal_number)
        interruption.add_note("all acknowledged reports are on disk")
        raise interruption


def _prepare_store(connection: Any, folders: tuple[Path, ...]) -> dict[str, Any]:
    """Add tasks and create missing tokens; return all tasks and the new tokens."""
    from nomadp.collector.copying import check_whole
    from nomadp.collector.loaded_task import add_task, task_rows
    from nomadp.collector.tokens import first_tokens
    from nomadp.protocol.folder import read_task_folder
    from nomadp.protocol.outlines import read_outlines

    check_whole(connection)
    for bundle in [read_outlines(folder, read_task_folder(folder)) for folder in folders]:
        add_task(connection, bundle)
    new_tokens = first_tokens(connection)
    tasks = [{"task_id": row.id, "closed": row.closed} for row in task_rows(connection)]
    return {"tokens": new_tokens, "tasks": tasks}


def _run(options: dict[str, Any], store: Any) -> int:
    """Run until a signal arrives; return its number, or 0."""
    from nomadp.collector.server import Listeners, listen_on, run_process

    # Ports come first: tokens are shown only once, and a busy port must not lose them.
    public = listen_on(options["host"], options["port"])
    operator = listen_on(options["operator_host"], options["operator_port"])
    listeners = Listeners(public, operator)
    names = [_address(listener) for listener in listeners]
    connection = store.connect()
    try:
        addresses = {"devices and analysts": names[0], "the operator": names[1]}
        state = _prepare_store(connection, options["folders"])
        if store.shared:  # a file stays open: its last close truncates the write-ahead log
            connection.close()
        if options["as_json"]:
            print_json({"addresses": addresses, **state})
        else:
            _print(addresses, state)
        if options["workers"] == 1:
            return run_process(store, listeners, names, options["basemap"])
        from nomadp.collector.workers import run_workers

        return run_workers(options["store"], listeners, options["workers"], options["basemap"])
    finally:
        connection.close()
        listeners.close()


def _address(listener: Any) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _print(addresses: dict[str, str], state: dict[str, Any]) -> None:
    for role, token in state["tokens"].items():
        say(f"{role} token, shown once: {token}")
    for task in state["tasks"]:
        say(f"task {task['task_id']}{' (closed)' if task['closed'] else ''}")
    for users, address in addresses.items():
        say(f"for {users}: {address}")
