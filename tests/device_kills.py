"""Kill devices at any time, and compare what they sent with the budget they used."""

import json
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from devices import Asked, atlas_bundle, collecting

from nomadp.client import Client
from nomadp.client.ledger_file import LEDGER

TESTS = Path(__file__).resolve().parent
EACH = Fraction(1, 100)
"""The epsilon of a report in these tests."""


class Survived(NamedTuple):
    """How a device used its whole privacy budget."""

    reports: int
    """Distinct reports that the collector received."""
    wasted: int
    """Charges without a report."""
    again: int
    """Repeated uploads of the same bytes."""
    wrong: list[str]


def start(home: Path, url: str, order: str, task_ids: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(TESTS / "device_process.py"), str(home), url, order, *task_ids],
        stdout=subprocess.PIPE,
        text=True,
    )


def killed(process: "subprocess.Popen[str]", after_s: float) -> None:
    """Kill a process ``after_s`` seconds after its first output."""
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after_s)
    process.kill()
    process.wait()
    process.stdout.close()


def run(home: Path, url: str, order: str, task_ids: list[str]) -> int:
    process = start(home, url, order, task_ids)
    process.communicate()
    return process.returncode


def findings(home: Path, uploads: list[Asked]) -> list[str]:
    """Contradictions between what the collector received and the ledger."""
    db = sqlite3.connect(home / LEDGER)
    paid = db.execute("SELECT report_id, task, epsilon, state FROM charges").fetchall()
    most = dict(db.execute("SELECT id, reports FROM tasks").fetchall())
    ((lifetime,),) = db.execute("SELECT lifetime FROM about").fetchall()
    db.close()
    bodies: dict[str, set[bytes]] = {}
    for asked in uploads:
        (report,) = json.loads(asked.body)["reports"]
        bodies.setdefault(report["report_id"], set()).add(asked.body)
    known = {report_id for report_id, *_ in paid}
    wrong = [f"two bodies for {each}" for each, found in bodies.items() if len(found) > 1]
    wrong += [f"{each} was not paid" for each in bodies.keys() - known]
    if sum(Fraction(epsilon) for _, _, epsilon, _ in paid) > Fraction(lifetime):
        wrong.append("overspent for life")
    for task, count in Counter(task for _, task, _, _ in paid).items():
        if count > most[task]:
            wrong.append("overspent in a task")
    accepted = {report_id for report_id, _, _, state in paid if state == "accepted"}
    wrong += [f"{each} was never sent" for each in accepted - bodies.keys()]
    return wrong


def killed_at_random(home: Path, kills: int, lifetime: Fraction) -> Survived:
    """Kill a device ``kills`` times, then let it run until its whole budget is used."""
    bundles = [
        atlas_bundle(f"t{k}", epsilon=EACH, reports_per_contributor=366) for k in range(6)
    ]
    ids, instants = [bundle.task.id for bundle in bundles], random.Random(kills)
    wrong: list[str] = []
    with collecting(*bundles) as collector:
        with Client(home, lifetime=lifetime) as client:
            for task_id in ids:
                client.join(collector.url, task_id)
        for _ in range(kills):
            killed(start(home, collector.url, "right", ids), instants.uniform(0, 0.06))
            wrong += findings(home, collector.uploads)
        if run(home, collector.url, "right", ids) != 0:
            wrong.append("the last process failed")
        wrong += findings(home, collector.uploads)
        with Client(home) as client:
            budget = client.budget()
        sent = {json.loads(each.body)["reports"][0]["report_id"] for each in collector.uploads}
        if budget.remaining != 0:
            wrong.append("something was left")
        wasted = sum(task.states["charged"] for task in budget.tasks)
        again = len(collector.uploads) - len(sent)
    return Survived(len(sent), wasted, again, wrong)
