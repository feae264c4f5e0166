"""``nomadp serve``: the collector that devices report to."""

import os
from pathlib import Path
from typing import Any

import click

from nomadp.cli.collector import opened_store, store_option
from nomadp.cli.exit_codes import BadUsage, Stopped
from nomadp.cli.options import EXISTING, Whole, file_option
from nomadp.cli.output import print_json, say
from nomadp.extras import require

__all__ = ["serve"]

LOOPBACK = "127.0.0.1"
CAN_SHARE_LISTENERS = os.name == "posix"
"""Whether a process can be handed the sockets of another one as they are."""


@click.command()
@click.argument("folders", metavar="[FOLDER...]", type=EXISTING, nargs=-1)
@store_option
@click.option("--host", default=LOOPBACK, show_default=True, help="For devices and analysts.")
@click.option("--port", type=Whole(0, 65_535), default=8000, show_default=True)
@click.option(
    "--operator-host",
    default=LOOPBACK,
    show_default=True,
    help="Where the operator's address is; keep it from the public.",
)
@click.option("--operator-port", type=Whole(0, 65_535), default=8001, show_default=True)
@click.option(
    "--workers",
    type=Whole(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes; more than one needs PostgreSQL.",
)
@file_option("--basemap", "A map beneath the dashboard's, in one file: PMTiles 3.")
@click.option("--json", "as_json", is_flag=True, help="Print what is served as JSON, once.")
def serve(**options: Any) -> None:
    """Take reports for the tasks in the store, and for those in the FOLDERs, which are added.

    A FOLDER is what "nomadp task create" wrote. Every report that is acknowledged is on disk.
    Tokens for the analyst and the operator are printed when they are made, once; or take them
    from NOMADP_ANALYST_TOKEN and NOMADP_OPERATOR_TOKEN. The log is JSON on standard error and
    tells nothing of senders. Ctrl-C or SIGTERM answers what was begun, and ends.

    \b
    Example:
      nomadp serve task
      nomadp serve task --basemap city.pmtiles
      nomadp serve --store postgresql://nomadp@localhost/nomadp --workers 4 --port 8000
    """
    require("collector")
    from nomadp.collector.basemap import load_basemap
    from nomadp.collector.disk_space import bytes_to_keep_free

    bytes_to_keep_free()  # before anything is opened or made
    basemap = options["basemap"] and load_basemap(options["basemap"])
    if options["workers"] > 1 and not CAN_SHARE_LISTENERS:
        raise BadUsage(
            f"--workers must be 1 on this system, got {options['workers']}; several processes "
            "cannot share a listener here",
            code="workers_unsupported",
        )
    store = opened_store(options["store"], new=True)
    if options["workers"] > 1 and not store.shared:
        raise BadUsage(
            "--workers above 1 needs a store that processes share; name one with --store "
            "postgresql://...",
            code="store_not_shared",
        )
    number = _run({**options, "basemap": basemap}, store)
    if number:
        stopped = Stopped(number)
        stopped.add_note("what was acknowledged is on disk")
        raise stopped


def _prepared(connection: Any, folders: tuple[Path, ...]) -> dict[str, Any]:
    """Its tasks, and the tokens that were made."""
    from nomadp.collector.copying import check_whole
    from nomadp.collector.loaded_task import add_task, task_rows
    from nomadp.collector.tokens import first_tokens
    from nomadp.protocol.folder import read_task_folder
    from nomadp.protocol.outlines import read_outlines

    check_whole(connection)
    for bundle in [read_outlines(folder, read_task_folder(folder)) for folder in folders]:
        add_task(connection, bundle)
    made = first_tokens(connection)
    tasks = [{"task_id": row.id, "closed": row.closed} for row in task_rows(connection)]
    return {"tokens": made, "tasks": tasks}


def _run(options: dict[str, Any], store: Any) -> int:
    from nomadp.collector.server import Listeners, listen_on, run_process

    # Before tokens are made: a port that is taken must not cost the one time they are shown.
    public = listen_on(options["host"], options["port"])
    operator = listen_on(options["operator_host"], options["operator_port"])
    listeners = Listeners(public, operator)
    names = [_address(each) for each in listeners]
    connection = store.connect()
    try:
        addresses = {"devices and analysts": names[0], "the operator": names[1]}
        found = _prepared(connection, options["folders"])
        if store.shared:  # a file's is open to the end: its last close empties the log first
            connection.close()
        if options["as_json"]:
            print_json({"addresses": addresses, **found})
        else:
            _say(addresses, found)
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


def _say(addresses: dict[str, str], found: dict[str, Any]) -> None:
    for role, token in found["tokens"].items():
        say(f"{role} token, shown once: {token}")
    for task in found["tasks"]:
        say(f"task {task['task_id']}{' (closed)' if task['closed'] else ''}")
    for what, address in addresses.items():
        say(f"for {what}: {address}")
