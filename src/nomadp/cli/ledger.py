"""``nomadp ledger``: what a device has spent, and may still."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.devices import home_option, receipt_sentence, spending_said
from nomadp.cli.output import Answer, json_option, print_table, say

if TYPE_CHECKING:
    from nomadp.client import Receipt, Spending, TaskSpending

__all__ = ["ledger"]


@click.group()
@home_option
@click.pass_context
def ledger(context: click.Context, home: Path | None) -> None:
    """What this device has spent, in exact numbers, and may still; nothing ever renews.

    The ledger is one file in your folder for data (NOMADP_HOME names another). Keep it: where
    it is missing or damaged, nothing is reported. All take --json.

    \b
    Example:
      nomadp ledger show
      nomadp ledger --home DIR show
    """
    context.obj = home


@ledger.command()
@home_option
@json_option
@click.pass_obj
def show(named: Path | None, *, home: Path | None) -> Answer:
    """Spent and left, task by task, and every receipt.

    \b
    Example:
      nomadp ledger show --json
    """
    from nomadp.client import Client
    from nomadp.client.ledger_file import LEDGER, default_home, has_begun

    folder = home or named or default_home()
    if not (folder / LEDGER).exists() and not has_begun(folder):
        nothing: dict[str, Any] = {"lifetime": None, "spent": 0, "left": None}
        text = f"there is no ledger in {folder} yet: nothing was spent"
        return Answer({"home": str(folder), **nothing, "tasks": [], "receipts": []}, text)
    with Client(folder) as client:
        spending, receipts = client.spending(), client.receipts()
    said = {
        "home": str(folder),
        **spending_said(spending),
        "tasks": [_task_said(task) for task in spending.tasks],
        "receipts": [asdict(each) for each in receipts],
    }
    return Answer(said, lambda: _print(spending, receipts))


def _task_said(task: "TaskSpending") -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "purpose": task.purpose,
        "address": task.address,
        "epsilon": task.epsilon,
        "spent": task.spent,
        "reports": task.reports,
        "reports_per_contributor": task.reports_most,
        "states": task.states,
    }


def _print(spending: "Spending", receipts: "list[Receipt]") -> None:
    say(
        f"epsilon spent {spending.spent}, left {spending.left}, of {spending.lifetime} for life"
    )
    if spending.tasks:
        say()
        header = ["task", "each", "spent", "reports", "of", "accepted", "waiting", "purpose"]
        rows = [
            [
                task.task_id,
                str(task.epsilon),
                str(task.spent),
                str(task.reports),
                str(task.reports_most),
                str(task.states["accepted"]),
                str(task.states["waiting"]),
                task.purpose,
            ]
            for task in spending.tasks
        ]
        print_table(header, rows)
        say()
    for receipt in receipts:
        say(receipt_sentence(receipt))
