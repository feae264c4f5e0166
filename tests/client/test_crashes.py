"""A device killed at any instant: never overspent, never two bodies for one charge."""

import os
import signal
import subprocess
import time
from fractions import Fraction
from pathlib import Path

import pytest
from device_kills import EACH, findings, killed_at_random, run, start
from devices import Asked, Said, collecting, question_bundle
from processes import wait_until

from nomadp.client import Client

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no kill -9 on Windows")


def survives(home: Path, kills: int, lifetime: Fraction) -> None:
    found = killed_at_random(home, kills, lifetime)
    assert found.wrong == []
    # All that may be spent, and not a report more.
    assert found.reports + found.wasted == lifetime / EACH
    assert found.wasted <= kills
    # Some kills hit between charge and bytes, or between bytes and their acceptance.
    assert found.wasted + found.again > 0 or kills < 100


def test_a_device_killed_a_few_times_never_overspends(tmp_path: Path) -> None:
    survives(tmp_path / "home", 4, lifetime=Fraction(1, 2))


@pytest.mark.slow
def test_a_device_killed_two_hundred_times_never_overspends(tmp_path: Path) -> None:
    survives(tmp_path / "home", 200, lifetime=Fraction(20))


class Killing:
    """Kills the device that sends, when its bytes have come and before it knows."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, asked: Asked) -> Said:
        assert wait_until(lambda: self.process is not None, 60)  # it may be quicker than we are
        assert self.process is not None
        self.process.kill()
        time.sleep(0.05)
        return Said()


def killed_while_sending(folder: Path, order: str, kills: int) -> list[str]:
    # Of 112 labels, so that two reports are never the same by chance.
    bundle = question_bundle(
        "trips", "k", when="weekday", epsilon="1/10", reports_per_contributor=6
    )
    with collecting(bundle) as collector:
        with Client(folder, lifetime=2) as client:
            client.join(collector.url, bundle.task.id)
        for _ in range(kills):
            killing = Killing()
            collector.replies = [killing]
            process = start(folder, collector.url, order, [bundle.task.id])
            killing.process = process
            process.communicate()
            assert process.returncode == -signal.SIGKILL
        assert run(folder, collector.url, order, [bundle.task.id]) == 0
        return findings(folder, collector.uploads)


def test_a_device_killed_while_it_sends_sends_the_same_bytes_again(tmp_path: Path) -> None:
    assert killed_while_sending(tmp_path, "right", 3) == []


@pytest.mark.slow
def test_a_device_that_perturbs_before_it_charges_is_found_out(tmp_path: Path) -> None:
    assert killed_while_sending(tmp_path / "whole", "perturb-first", 0) == []
    wrong = killed_while_sending(tmp_path / "killed", "perturb-first", 2)
    assert [each.split(" ", 1)[1] for each in wrong] == ["was not paid"] * 2


@pytest.mark.slow
def test_a_device_that_stores_after_it_sent_is_found_out(tmp_path: Path) -> None:
    assert killed_while_sending(tmp_path / "whole", "store-last", 0) == []
    wrong = killed_while_sending(tmp_path / "killed", "store-last", 2)
    assert wrong
    assert all(each.startswith("two bodies for") for each in wrong)
