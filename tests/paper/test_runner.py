"""Work is done once, on any number of cores, and survives being killed."""

import os
import random
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import processes
import pytest
from processes import children, is_gone, wait_until
from refusals import refused

from nomadp.errors import DomainError
from nomadp.paper.cells import Cell, Setting
from nomadp.paper.datasets import Catalogue, SetKey
from nomadp.paper.store import Store, _batches, complete_all, missing

SETTINGS = [Setting(SetKey("north"), name, (), "1") for name in ("exp", "tp")]
CELLS = [Cell(setting, k) for setting in SETTINGS for k in range(3)]


@pytest.fixture
def catalogue(data: Path) -> Catalogue:
    return Catalogue(data, 6)


def test_nothing_is_done_twice(tmp_path: Path, catalogue: Catalogue) -> None:
    store = Store(tmp_path)
    store.complete(CELLS[1], catalogue)
    todo = missing([*CELLS, *CELLS], catalogue, store)
    assert todo == [CELLS[0], *CELLS[2:]]


def test_the_number_of_processes_does_not_change_a_result(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    stores = {jobs: Store(tmp_path / str(jobs)) for jobs in (1, 2)}
    counts: dict[int, list[int]] = {1: [], 2: []}
    for jobs, store in stores.items():
        complete_all(CELLS, catalogue, store, jobs=jobs, progress=counts[jobs].append)
    assert sum(counts[1]) == sum(counts[2]) == len(CELLS)
    for cell in CELLS:
        assert stores[1].find(cell, catalogue) == stores[2].find(cell, catalogue)


def test_reports_and_what_is_decoded_from_them_go_together(catalogue: Catalogue) -> None:
    decoded = [Cell(replace(SETTINGS[0], decoded=True), k) for k in range(3)]
    first, second = _batches([*CELLS, *decoded])
    assert first == [cell for pair in zip(CELLS[:3], decoded, strict=True) for cell in pair]
    assert second == CELLS[3:]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_is_raised_and_what_was_finished_is_kept(
    tmp_path: Path, catalogue: Catalogue, jobs: int
) -> None:
    store = Store(tmp_path)
    # After the others of its setting, in one process: what other processes have finished by
    # then is up to the machine. Nobody can decode reports of TP.
    undecodable = Cell(replace(SETTINGS[1], decoded=True), 3)
    with refused(DomainError, "mechanism_not_decodable", mechanism="tp"):
        complete_all(
            [*CELLS, undecodable], catalogue, store, jobs=jobs, progress=lambda count: None
        )
    assert missing(CELLS[3:], catalogue, store) == []
    assert missing([undecodable], catalogue, store) == [undecodable]


def start(data: Path, out: Path, jobs: int) -> "subprocess.Popen[str]":
    command = ["paper", "granularity", "--quick", "--runs", "4", "--jobs", str(jobs)]
    return processes.start([*command, "--data", str(data), "--out", str(out)], out.parent)


def finished(out: Path) -> int:
    """Cells in the store; a part that nobody could finish writing is none."""
    found = (out / "cells").glob("*.json")
    return sum(not path.name.startswith(".") for path in found)


@pytest.fixture(scope="module")
def uninterrupted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("uninterrupted")
    _, complaint = start(data, out, 1).communicate()
    assert finished(out) > 50, complaint
    return out


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_run_killed_at_any_moment_ends_with_the_same_numbers(
    data: Path, tmp_path: Path, uninterrupted: Path, seed: int
) -> None:
    total = finished(uninterrupted)
    enough = random.Random(seed).randrange(1, total // 2)  # far from the end: it is killed
    first = start(data, tmp_path, 2)
    assert wait_until(lambda: finished(tmp_path) >= enough, 600)
    workers = children(first.pid)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    assert wait_until(lambda: all(map(is_gone, workers)), 120), "a worker outlived its parent"
    assert not (tmp_path / "report.html").exists()
    kept = finished(tmp_path)
    assert enough <= kept < total

    second = start(data, tmp_path, 2)
    _, told = second.communicate()
    assert second.returncode == 0, told
    assert str(total - kept) in re.findall(r"\d+", told)  # what is left to do
    assert finished(tmp_path) == total
    for name in ("granularity.csv", "granularity.json", "granularity.svg", "report.html"):
        assert (tmp_path / name).read_bytes() == (uninterrupted / name).read_bytes(), name


@pytest.mark.skipif(os.name == "nt", reason="sends a signal as a terminal does")
@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished_and_says_so(data: Path, tmp_path: Path) -> None:
    process = start(data, tmp_path, 2)
    assert wait_until(lambda: finished(tmp_path) >= 3, 600)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 130
    assert finished(tmp_path) >= 3
