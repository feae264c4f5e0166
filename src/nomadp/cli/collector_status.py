"""``nomadp collector status``: counts of reports and refusals."""

import sys
import time
from contextlib import closing
from typing import Any

import click

from nomadp.cli.addresses import insecure_option
from nomadp.cli.collector import open_store, store_option
from nomadp.cli.options import above_zero
from nomadp.cli.output import Result, json_option, print_table, say
from nomadp.cli.task import TOKEN, operator_at

__all__ = ["status"]


@click.command()
@store_option
@click.option(
    "--url",
    metavar="URL",
    help=f"Operator's address of a running collector; the token is read from {TOKEN}.",
)
@insecure_option
@click.option(
    "--watch",
    type=above_zero("seconds must be a number above 0"),
    metavar="S",
    help="Repeat every S seconds until Ctrl-C.",
)
@json_option
def status(*, store: str, url: str | None, insecure: bool, watch: float | None) -> Result:
    """Count the reports of each task, and refusals by reason.

    \b
    Example:
      nomadp collector status --watch 2
      nomadp collector status --url http://127.0.0.1:8001
    """
    while watch is not None:
        content = _overview(store, url, insecure=insecure)
        if sys.stdout.isatty():
            click.clear()
        _print(content)
        time.sleep(watch)
    content = _overview(store, url, insecure=insecure)
    return Result(content, lambda: _print(content))


def _overview(store: str, url: str | None, *, insecure: bool) -> dict[str, Any]:
    if url is not None:
        content: dict[str, Any] = operator_at(url, insecure=insecure).tasks()
        return content
    from nomadp.collector.loaded_task import read_task, task_rows
    from nomadp.collector.overview import overview

    with closing(open_store(store).connect()) as connection:
        tasks = [read_task(connection, row.id) for row in task_rows(connection)]
        return overview(connection, [task for task in tasks if task is not None])


def _print(content: dict[str, Any]) -> None:
    if not content["tasks"]:
        say("no tasks")
    for task in content["tasks"]:
        closed = ", closed" if task["closed"] else ""
        say(f"task {task['task_id']}: {task['reports']} reports{closed}")
        say(f"  {task['purpose']} ({task['mechanism']}, epsilon {task['epsilon']})")
        if task["counters"]:
            print_table(["reason", "count"], _rows(task["counters"]))
    if content["collector"]:
        say("requests without a task:")
        print_table(["reason", "count"], _rows(content["collector"]))


def _rows(counters: dict[str, int]) -> list[list[str]]:
    return [[reason, str(n)] for reason, n in sorted(counters.items())]
