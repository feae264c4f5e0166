"""--out: nothing is replaced unasked, and what cannot be written is said before the work."""

import os
import subprocess
import sys
from collections.abc import Iterator
from errno import ENAMETOOLONG, ENOSPC
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import printed_code

from tests.cli.conftest import Run, assert_refused

WRITING = {
    "perturb": "perturb trips.csv --locations places.csv --epsilon 4 --out {}.csv",
    "decode": "decode trips.csv --locations places.csv --epsilon 4 --out {}.csv",
    "codebook build": "codebook build --locations places.csv --length 2 --epsilon 4 "
    "--out {}.parquet",
    "data build": "data build city --places 20 --trips 10 --out {}",
    "data convert": "data convert trips.csv --locations places.csv --out {}.csv",
    "data convert to a folder": "data convert trips.csv --locations places.csv --out {}",
    "data nest": "data nest points.parquet --out {}.parquet",
}
FOLDERS = {"demo": "demo --quick --out {}", "paper": "paper table1 --out {}"}


@pytest.fixture
def points(folder: Path) -> Path:
    table = {"tid": ["t"], "seq": [0], "location_id": ["place-a"]}
    pq.write_table(pa.table(table), folder / "points.parquet")
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", WRITING)
def test_what_is_there_is_replaced_only_when_asked(
    command: str, points: Path, run: Run
) -> None:
    arguments = WRITING[command].format("out").split()
    assert run(*arguments).exit_code == 0
    before = contents(points)
    again = run(*arguments)
    assert_refused(again, "output_already_there", "--out", arguments[-1], "--overwrite")
    assert contents(points) == before
    assert run(*arguments, "--overwrite").exit_code == 0


@pytest.mark.parametrize("command", WRITING)
def test_a_dangling_link_is_something_that_is_there(
    command: str, points: Path, run: Run
) -> None:
    arguments = WRITING[command].format("out").split()
    (points / arguments[-1]).symlink_to("nowhere-to-be-found")
    assert_refused(run(*arguments), "output_already_there", arguments[-1])
    assert not (points / "nowhere-to-be-found").exists()


@pytest.mark.parametrize("command", WRITING)
def test_no_input_is_replaced_even_when_asked(command: str, points: Path, run: Run) -> None:
    *arguments, _ = WRITING[command].format("out").split()
    inputs = [each for each in arguments if (points / each).is_file()]
    for path in inputs:
        result = run(*arguments, path, "--overwrite")
        assert result.exit_code == 2
        assert printed_code(result.stderr) in ("output_is_an_input", "unknown_suffix")


@pytest.mark.parametrize("command", WRITING)
def test_an_output_below_a_file_is_bad_input(command: str, points: Path, run: Run) -> None:
    assert_refused(
        run(*WRITING[command].format("places.csv/out").split()), "file", "places.csv"
    )


@pytest.fixture
def small_disk(points: Path) -> Iterator[Path]:
    """A disk of 64 KiB, which only root can make."""
    disk = points / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=20", "tmpfs", str(disk)]
    try:
        made = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        made = False
    if not made:
        pytest.skip("no disk can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("command", [*WRITING, *FOLDERS])
def test_a_read_only_disk_is_exit_code_1_before_the_work(
    command: str, small_disk: Path, run: Run
) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    result = run(*(WRITING | FOLDERS)[command].format("disk/out").split())
    assert_refused(result, "file_unwritable", "disk/out", exit_code=1)


@pytest.mark.parametrize("command", WRITING)
def test_a_full_disk_is_exit_code_1_and_leaves_nothing(
    command: str, small_disk: Path, run: Run
) -> None:
    filler = small_disk / "filler"
    with filler.open("wb") as file:
        try:
            while True:
                os.write(file.fileno(), bytes(4096))
        except OSError:
            pass
    result = run(*WRITING[command].format("disk/out").split())
    assert result.exit_code == 1, result.stderr
    last = result.stderr.splitlines()[-1]
    assert printed_code(f"{last}\n") == "file_unwritable"
    # The system's words, whose number (28, ENOSPC) no message has.
    assert "disk/out" in last
    assert os.strerror(ENOSPC) in last
    assert contents(small_disk).keys() == {filler}


def test_a_name_too_long_to_write_is_said_before_the_work(run: Run) -> None:
    result = run(*WRITING["perturb"].format("x" * 245).split())
    assert_refused(result, "file_unwritable", os.strerror(ENAMETOOLONG).lower(), exit_code=1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_standard_output_is_exit_code_1() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-m", "nomadp", "explain", "--epsilon", "4", "--length", "3"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert printed_code(done.stderr) == "file"
    assert os.strerror(ENOSPC).lower() in done.stderr
    assert done.stderr.count("\n") == 1
