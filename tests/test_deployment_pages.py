"""What the pages for operators and devices show is typed, from a task to a backup."""

import json
import re
import shutil
from collections.abc import Iterator

import pytest
from postgres import Postgres, program
from snippet_files import make_files
from snippets import block_of
from tutorial_walk import Walk

COLLECT = "docs/operate.md", "nomadp task create"
KEEP = "docs/operate.md", "nomadp collector backup"
CLOCK = "docs/operate.md", "nomadp collector clock"
CHECK = "docs/operate.md", "nomadp collector check"
REPORT = "docs/device.md", "nomadp report"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """A reader who has the files that the pages name."""
    with Walk(tmp_path_factory.mktemp("pages")) as walk:
        make_files(walk.folder)
        for name in ("my-trips.gpx", "monday.gpx"):
            shutil.copyfile(walk.folder / "walk.gpx", walk.folder / name)
        yield walk


@pytest.fixture(scope="module")
def collected(walk: Walk) -> str:
    """What the operator of a new collection sees, whose task takes more than one report."""
    more = "nomadp task create --reports-per-contributor 4"
    return typed(walk, block_of(*COLLECT).replace("nomadp task create", more))


def typed(walk: Walk, block: str) -> str:
    """What is printed to somebody who says yes, with the collector on this machine."""
    block = block.replace("https://HOST", "http://127.0.0.1:8000")
    block = re.sub(r"^nomadp report", r"\g<0> --yes", block, flags=re.MULTILINE)
    # One by one: a line may name the task that the line before it made.
    return "".join(walk.typed(line, refused=False) for line in block.splitlines())


def test_a_collection_leads_from_a_task_to_what_arrived(collected: str) -> None:
    assert re.search(r"^ *accepted +1$", collected, re.MULTILINE), collected


@pytest.mark.usefixtures("collected")
def test_a_device_reports_waits_sends_and_says_what_it_spent(walk: Walk) -> None:
    assert typed(walk, block_of(*REPORT))
    states = json.loads(walk.typed("nomadp ledger show --json", refused=False))["receipts"]
    assert {"accepted", "waiting"} & {each["state"] for each in states}, states


@pytest.mark.usefixtures("collected")
def test_the_clock_is_confirmed_and_the_store_checked_while_it_is_served(walk: Walk) -> None:
    assert typed(walk, block_of(*CLOCK))
    assert typed(walk, block_of(*CHECK))  # it would fail if anything were wrong


@pytest.mark.usefixtures("collected")
def test_a_store_is_saved_restored_moved_and_exported(walk: Walk) -> None:
    if program("initdb") is None or program("postgres") is None:
        pytest.skip("PostgreSQL is not installed here; Debian's package is postgresql")
    server = Postgres()
    try:
        server.start()
        ours = server.database()
        block = block_of(*KEEP).replace("postgresql://nomadp@localhost/nomadp", ours)
        running, migrate, stopped = block.partition("nomadp collector migrate")
        typed(walk, running)
        walk.stop()
        typed(walk, migrate + stopped)
    finally:
        server.end()
    made = {"backup.sqlite", "again.sqlite", "reports.parquet"}
    assert made <= {path.name for path in walk.folder.iterdir()}
