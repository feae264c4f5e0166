"""``nomadp ledger``: what a device has spent, and may still."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.devices import budget_said, home_option, receipt_sentence
from nomadp.cli.output import Answer, json_option, print_table, say

if TYPE_CHECKING:
    from nomadp.client import Budget, Receipt, TaskBudget

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
        budget, receipts = client.budget(), client.receipts()
    said = {
        "home": str(folder),
        **budget_said(budget),
        "tasks": [_task_said(task) for task in budget.tasks],
        "receipts": [asdict(each) for each in receipts],
    }
    return Answer(said, lambda: _print(budget, receipts))


def _task_said(task: "TaskBudget") -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "purpose": task.purpose,
        "address": task.address,
        "epsilon": task.epsilon,
        "spent": task.used,
        "reports": task.reports,
        "reports_per_contributor": task.reports_most,
        "states": task.states,
    }


def _print(budget: "Budget", receipts: "list[Receipt]") -> None:
    say(f"epsilon spent {budget.used}, left {budget.remaining}, of {budget.lifetime} for life")
    if budget.tasks:
        say()
        header = ["task", "each", "spent", "reports", "of", "accepted", "waiting", "purpose"]
        rows = [
            [
                task.task_id,
                str(task.epsilon),
                str(task.used),
                str(task.reports),
                str(task.reports_most),
                str(task.states["accepted"]),
                str(task.states["waiting"]),
                task.purpose,
            ]
            for task in budget.tasks
        ]
        print_table(header, rows)
        say()
    for receipt in receipts:
        say(receipt_sentence(receipt))
