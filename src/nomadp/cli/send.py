"""``nomadp send``: what was reported and waits to be sent."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.devices import all_settled, home_option, receipt_sentence
from nomadp.cli.output import Answer, json_option

if TYPE_CHECKING:
    from nomadp.client import Client

__all__ = ["send"]


@click.command()
@click.option("--now", is_flag=True, help="Send what is not due yet, too.")
@click.option("--again", is_flag=True, help="Try what a collector refused once more.")
@click.option("--wait", is_flag=True, help="Stay until nothing waits any more.")
@home_option
@json_option
def send(*, now: bool, again: bool, wait: bool, home: Any) -> Answer:
    """Send the reports that are due: the same bytes as before, and nothing is spent.

    A report is due at a random time that its task bounds, so that when it comes does not tell
    when a journey was. Run this now and then, or with --wait. Exits with 1 if a collector was
    out of reach or refused a report; it is kept.

    \b
    Example:
      nomadp send
      nomadp send --wait
    """
    from nomadp.client import Client

    with Client(home) as client:
        found = {each.report_id: each for each in client.send(now=now, again=again)}
        while wait and _slept(client):
            found |= {each.report_id: each for each in client.send()}
        waiting = [each for each in client.receipts() if each.state == "waiting"]
    receipts = list(found.values())
    rest = [each for each in waiting if each.report_id not in found]
    said = {"sent": [asdict(each) for each in receipts], "waiting": len(waiting)}
    text = "\n".join(map(receipt_sentence, [*receipts, *rest])) or "nothing waits to be sent"
    return Answer(said, text, all_settled(receipts))


def _slept(client: "Client") -> bool:
    """Until the next is due; False if none is or can ever be."""
    addresses = {task.task_id for task in client.budget().tasks if task.address is not None}
    waiting = [r for r in client.receipts() if r.state == "waiting" and r.task_id in addresses]
    if not waiting:
        return False
    next_due = min(receipt.not_before or 0 for receipt in waiting)
    time.sleep(max(0.0, next_due - time.time()))
    return True
