"""Shared by the commands of a device: the option of its ledger, and texts about receipts."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import PATH

if TYPE_CHECKING:
    from nomadp.client import Budget, Receipt

__all__ = ["all_settled", "home_option", "receipt_sentence", "budget_content"]

home_option = click.option(
    "--home",
    type=PATH,
    metavar="DIR",
    help="Folder of the ledger (default: NOMADP_HOME, or your data folder).",
)


def receipt_sentence(receipt: "Receipt") -> str:
    report = f"report {receipt.report_id}"
    if receipt.accepted:
        return f"{report} was accepted"
    reason = "" if receipt.reason is None else f": {receipt.reason}"
    if receipt.state == "stopped":
        return f'{report} was refused and is kept{reason}; "nomadp send --again" tries again'
    if receipt.state == "charged":
        return f"{report} was charged but never created; its budget remains used"
    wait_s = (receipt.not_before or 0) - int(time.time())
    due = "is due" if wait_s <= 0 else f"is due in {_duration(wait_s)}"
    return f'{report} is waiting and {due}{reason}; "nomadp send" sends it'


def _duration(seconds: int) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {name}"
    return f"{seconds} seconds"


def budget_content(budget: "Budget") -> dict[str, Any]:
    """The budget for --json."""
    lifetime, used, remaining = budget.lifetime, budget.used, budget.remaining
    return {"lifetime": lifetime, "used": used, "remaining": remaining}


def all_settled(receipts: "Iterable[Receipt]") -> bool:
    """Whether no send failed: each collector was reached and accepted its report."""
    return all(receipt.accepted or receipt.reason is None for receipt in receipts)
