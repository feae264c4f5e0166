"""Kill collectors and databases under load: every acknowledged report is stored, once."""

import json
import os
import random
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple

from collecting import Address, report
from processes import wait_until

from nomadp.collector.connections import open_store
from nomadp.collector.messages import UPLOAD_TYPE, report_id_text
from nomadp.protocol.bundle import TaskBundle

SENDERS = 8


class Tally(NamedTuple):
    acknowledged: int
    lost: int
    """Reports that were acknowledged, but are not stored as they were sent."""
    doubled: int
    """Reports that were counted more often than stored."""


class Load:
    """Threads that send each report until it is acknowledged, and record what they sent."""

    def __init__(self, address: Address, bundle: TaskBundle, senders: int = SENDERS) -> None:
        self._address, self._bundle = address, bundle
        self._path = f"/tasks/{bundle.task.id}/reports"
        self._is_over = threading.Event()
        self.acknowledged: dict[str, str] = {}
        self.statuses: set[int] = set()
        self._threads = [threading.Thread(target=self._send) for _ in range(senders)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def has_sent(self, more: int) -> bool:
        """Wait until ``more`` reports were acknowledged, however slow the machine is."""
        enough = len(self.acknowledged) + more
        return wait_until(lambda: len(self.acknowledged) >= enough, 300)

    def _send(self) -> None:
        number, connection = 0, self._connection()
        while not self._is_over.is_set():
            number += 1
            size = 1 + number % 3
            reports = [report(self._bundle, int.from_bytes(os.urandom(2))) for _ in range(size)]
            body = json.dumps({"reports": reports}).encode()
            while not self._is_over.is_set():
                try:
                    connection.request("POST", self._path, body, {"content-type": UPLOAD_TYPE})
                    reply = connection.getresponse()
                    said = reply.read()
                except (OSError, HTTPException):
                    connection.close()
                    time.sleep(0.01)
                    connection = self._connection()
                    continue
                self.statuses.add(reply.status)
                if reply.status == 200:
                    assert said == b""
                    self.acknowledged |= {each["report_id"]: each["value"] for each in reports}
                    break
                time.sleep(0.01)
        connection.close()

    def _connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self._address.port, timeout=60)


def killed_under_load(
    load: Load, times: int, kill: Callable[[], None], start: Callable[[], float | None]
) -> list[float]:
    """Kill at random times under load; returns the seconds of each restart."""
    chance, ready_s = random.Random(1), []
    with load:
        for _ in range(times):
            assert load.has_sent(10)
            time.sleep(chance.uniform(0.02, 0.3))
            kill()
            began_s = time.monotonic()
            start()
            ready_s.append(time.monotonic() - began_s)
        assert load.has_sent(10)
    return ready_s


def tally(place: str, bundle: TaskBundle, acknowledged: dict[str, str]) -> Tally:
    """Compare what a store contains with what was acknowledged."""
    connection = open_store(place).connect()
    rows = connection.rows("SELECT id, value FROM report")
    ((counted,),) = connection.rows("SELECT COALESCE(SUM(n), 0) FROM cell")
    connection.close()
    stored = {report_id_text(bytes(name)): bytes(value) for name, value in rows}
    parse = bundle.code.parse_text
    lost = [i for i, value in acknowledged.items() if stored.get(i) != parse(value)]
    return Tally(len(acknowledged), len(lost), int(counted) - len(stored) * bundle.code.entries)
