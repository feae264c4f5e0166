"""``nomadp ledger``: the privacy budget of a device."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.devices import budget_content, home_option, receipt_sentence
from nomadp.cli.output import Result, json_option, print_table, say

if TYPE_CHECKING:
    from nomadp.client import Budget, Receipt, TaskBudget

__all__ = ["ledger"]


@click.group()
@home_option
@click.pass_context
def ledger(context: click.Context, home: Path | None) -> None:
    """Show the privacy budget of this device: used and remaining, in exact numbers.

    The budget never renews. The ledger is one file in your data folder (or in NOMADP_HOME).
    Keep it: without an intact ledger, nothing can be reported. All commands take --json.

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
def show(group_home: Path | None, *, home: Path | None) -> Result:
    """Show the used and remaining budget by task, and every receipt.

    \b
    Example:
      nomadp ledger show --json
    """
    from nomadp.client import Client
    from nomadp.client.ledger_file import LEDGER, default_home, has_begun

    folder = home or group_home or default_home()
    if not (folder / LEDGER).exists() and not has_begun(folder):
        empty: dict[str, Any] = {"lifetime": None, "used": 0, "remaining": None}
        text = f"no ledger in {folder} yet; no budget has been used"
        return Result({"home": str(folder), **empty, "tasks": [], "receipts": []}, text)
    with Client(folder) as client:
        budget, receipts = client.budget(), client.receipts()
    content = {
        "home": str(folder),
        **budget_content(budget),
        "tasks": [_task_content(task) for task in budget.tasks],
        "receipts": [asdict(receipt) for receipt in receipts],
    }
    return Result(content, lambda: _print(budget, receipts))


def _task_content(task: "TaskBudget") -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "purpose": task.purpose,
        "address": task.address,
        "epsilon": task.epsilon,
        "used": task.used,
        "reports": task.reports,
        "reports_per_contributor": task.reports_most,
        "states": task.states,
    }


def _print(budget: "Budget", receipts: "list[Receipt]") -> None:
    say(
        f"lifetime budget: epsilon {budget.lifetime}, used {budget.used}, remaining "
        f"{budget.remaining}"
    )
    if budget.tasks:
        say()
        header = ["task", "epsilon", "used", "reports", "max", "accepted", "waiting", "purpose"]
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
