"""A device in a process of its own, that reports until its budget is spent or it is killed.

    python device_process.py HOME URL ORDER TASK_ID...

ORDER is "right", or one of two that are wrong on purpose: "perturb-first" sends before it
charges, and "store-last" stores after it sent and makes unfinished reports anew.
"""

import sys
import time
from typing import Any

from nomadp.client import Client, ledger
from nomadp.client.body import upload_body
from nomadp.client.http import post
from nomadp.client.ledger import Charge
from nomadp.client.ledger_file import fresh_id
from nomadp.client.private_trajectory import PrivateTrajectory
from nomadp.errors import LedgerRefused
from nomadp.protocol.address import Address
from nomadp.protocol.upload import UPLOAD_TYPE

JOURNEY, HOUR = [0, 5, 7, 11], 30


def posted(client: Client, url: str, bundle: Any, charge: Charge) -> bytes:
    private = PrivateTrajectory.of(JOURNEY, bundle, HOUR)
    body = upload_body(bundle, private, charge.report_id, charge.time)
    post(Address.parse(url), f"/tasks/{bundle.task.id}/reports", body, UPLOAD_TYPE)
    return body


def perturb_first(client: Client, url: str, bundle: Any) -> None:
    charge = Charge(0, fresh_id(), bundle.task.epoch(time.time()))
    body = posted(client, url, bundle, charge)
    ledger.fresh_id = lambda: charge.report_id
    paid = client._ledger.charge(bundle.task, charge.time)
    client._outbox.store(paid, body, 0)
    client._outbox.accept(paid.report_id)


def store_last(client: Client, url: str, bundle: Any) -> None:
    charge = client._ledger.charge(bundle.task, bundle.task.epoch(time.time()))
    finish(client, url, bundle, charge)


def finish(client: Client, url: str, bundle: Any, charge: Charge) -> None:
    client._outbox.store(charge, posted(client, url, bundle, charge), 0)
    client._outbox.accept(charge.report_id)


def unfinished(client: Client) -> list[tuple[Charge, str]]:
    rows = client._file.rows(
        "SELECT number, report_id, time, task FROM charges WHERE state = 'charged'"
    )
    return [(Charge(*row[:3]), row[3]) for row in rows]


def main(home: str, url: str, order: str, *task_ids: str) -> None:
    with Client(home) as client:
        bundles = [client.bundle(client.join(url, each).id) for each in task_ids]
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if order == "store-last":
            for charge, task_id in unfinished(client):
                finish(client, url, client.bundle(task_id), charge)
        client.send(now=True)
        for bundle in bundles:
            try:
                while True:
                    if order == "right":
                        client.report(JOURNEY, task_id=bundle.task.id, hour=HOUR)
                    elif order == "perturb-first":
                        client._ledger.check(bundle.task)
                        perturb_first(client, url, bundle)
                    else:
                        store_last(client, url, bundle)
            except LedgerRefused:
                continue


if __name__ == "__main__":
    main(*sys.argv[1:])
