"""``nomadp send``: sends the reports that are waiting."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.devices import all_settled, home_option, receipt_sentence
from nomadp.cli.output import Result, json_option

if TYPE_CHECKING:
    from nomadp.client import Client

__all__ = ["send"]


@click.command()
@click.option("--now", is_flag=True, help="Also send reports that are not due yet.")
@click.option("--again", is_flag=True, help="Retry reports that a collector refused.")
@click.option("--wait", is_flag=True, help="Keep running until no report is waiting.")
@home_option
@json_option
def send(*, now: bool, again: bool, wait: bool, home: Any) -> Result:
    """Send the reports that are due. This uses no privacy budget.

    A report is due at a random time within the bounds of its task, so that its arrival does not
    reveal the time of the trajectory. A retry sends the same bytes. Run this command regularly,
    or with --wait. Exits with 1 if a collector could not be reached or refused a report; the
    report is kept.

    \b
    Example:
      nomadp send
      nomadp send --wait
    """
    from nomadp.client import Client

    with Client(home) as client:
        sent = {receipt.report_id: receipt for receipt in client.send(now=now, again=again)}
        while wait and _sleep_until_due(client):
            sent |= {receipt.report_id: receipt for receipt in client.send()}
        waiting = [receipt for receipt in client.receipts() if receipt.state == "waiting"]
    receipts = list(sent.values())
    unsent = [receipt for receipt in waiting if receipt.report_id not in sent]
    content = {"sent": [asdict(receipt) for receipt in receipts], "waiting": len(waiting)}
    text = "\n".join(map(receipt_sentence, [*receipts, *unsent])) or "no report is waiting"
    return Result(content, text, all_settled(receipts))


def _sleep_until_due(client: "Client") -> bool:
    """Sleep until the next report is due; return False if no report is waiting."""
    addresses = {task.task_id for task in client.budget().tasks if task.address is not None}
    waiting = [r for r in client.receipts() if r.state == "waiting" and r.task_id in addresses]
    if not waiting:
        return False
    next_due = min(receipt.not_before or 0 for receipt in waiting)
    time.sleep(max(0.0, next_due - time.time()))
    return True
