"""What the commands of a device share: where its ledger is, and how receipts are told."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import EXISTING

if TYPE_CHECKING:
    from nomadp.client import Budget, Receipt

__all__ = ["all_settled", "home_option", "receipt_sentence", "budget_said"]

home_option = click.option(
    "--home",
    type=EXISTING,
    metavar="DIR",
    help="Where the ledger is; NOMADP_HOME or your folder for data by default.",
)


def receipt_sentence(receipt: "Receipt") -> str:
    about = f"report {receipt.report_id}"
    if receipt.accepted:
        return f"{about} was accepted"
    why = "" if receipt.reason is None else f": {receipt.reason}"
    if receipt.state == "stopped":
        return f'{about} was not accepted, and is kept{why}; "nomadp send --again" tries again'
    if receipt.state == "charged":
        return f"{about} was lost before it was made; its charge stays"
    wait_s = (receipt.not_before or 0) - int(time.time())
    due = "is due" if wait_s <= 0 else f"is due in {_lasting(wait_s)}"
    return f'{about} is kept and {due}{why}; "nomadp send" sends it'


def _lasting(seconds: int) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {name}"
    return f"{seconds} seconds"


def budget_said(budget: "Budget") -> dict[str, Any]:
    return {"lifetime": budget.lifetime, "spent": budget.used, "left": budget.remaining}


def all_settled(receipts: "Iterable[Receipt]") -> bool:
    """Whether no collector was out of reach and none refused."""
    return all(each.accepted or each.reason is None for each in receipts)
