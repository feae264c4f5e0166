"""``nomadp report``, ``send`` and ``ledger``: a person's device on the command line."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from devices import Collector, Said, atlas_bundle, collecting, question_bundle
from refusals import printed_code

from nomadp.client import Client, sending
from nomadp.protocol.folder import write_task_folder
from tests.cli.conftest import Run, as_json, assert_refused, write

BUNDLE = atlas_bundle("cli", reports_per_contributor=3, epsilon="3/2")
WHEN = question_bundle("starts", "cli", when="weekday")
ID = re.compile(r"(?<![\w-])[\w-]{22}(?![\w-])")
"""Of a report, which is random."""
DAY = re.compile(r"\d{4}-\d\d-\d\d")

Given = list[tuple[Any, dict[str, Any]]]


@pytest.fixture(autouse=True)
def journeys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOMADP_HOME", str(folder / "home"))
    write(
        folder / "week.csv",
        "tid,datetime,lat,lng",
        "a,2020-01-06T10:00:00Z,40.001,-74.001",
        "a,2020-01-06T11:00:00Z,40.021,-73.98",
        "b,2020-01-07T10:00:00Z,40.031,-73.951",
        "b,2020-01-07T11:00:00Z,40.041,-73.941",
        "b,2020-01-07T12:00:00Z,40.001,-73.981",
    )


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting(BUNDLE, WHEN) as found:
        yield found


@pytest.fixture
def report(run: Run, collector: Collector) -> Run:
    url = f"{collector.url}/tasks/{BUNDLE.task.id}"

    def invoke(*more: str) -> object:
        return run("report", "week.csv", "--task", url, "--yes", *more)

    return invoke  # type: ignore[return-value]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Given:
    """What the client is asked to report, and how."""
    found: Given = []
    plain = Client.report

    def look(self: Client, journey: Any, **how: Any) -> object:
        placed = list(map(list, zip(journey.lat.tolist(), journey.lng.tolist(), strict=True)))
        found.append((placed if journey.ids is None else list(journey.ids), how))
        return plain(self, journey, **how)

    monkeypatch.setattr(Client, "report", look)
    return found


def test_a_report_says_what_was_spent_and_what_is_left(
    report: Run, collector: Collector, wording: Any
) -> None:
    result = report()
    assert result.exit_code == 0, result.stderr
    assert "37/2" in result.stdout
    assert len(collector.uploads) == 1
    wording("cli", "report", ID.sub("REPORT", result.stdout) + result.stderr)


def test_a_report_as_json_holds_its_receipt(report: Run) -> None:
    content = as_json(report("--json", "--lifetime", "5"))
    (receipt,) = content["reports"]
    assert receipt["state"] == "accepted"
    assert receipt["task_id"] == BUNDLE.task.id
    assert (content["used"], content["remaining"], content["lifetime"]) == ("3/2", "7/2", "5")


def test_a_task_may_be_a_folder_and_its_collector_named(
    run: Run, folder: Path, collector: Collector
) -> None:
    write_task_folder(folder / "task", BUNDLE)
    where = ("--task", "task", "--id", BUNDLE.task.id, "--to", collector.url)
    result = run("report", "week.csv", *where, "--yes")
    assert result.exit_code == 0, result.stderr
    paths = [each.line.split()[1].rpartition("/")[2] for each in collector.seen]
    assert paths == [
        "status",
        "reports",
    ]  # whether it is closed, and nothing that is in the folder
    again = run("report", "week.csv", "--id", BUNDLE.task.id, "--yes")
    assert again.exit_code == 0, again.stderr


def test_a_report_of_an_unexpected_id_is_refused(run: Run, collector: Collector) -> None:
    where = ("--task", collector.url, "--id", WHEN.task.id[:-1])
    result = run("report", "week.csv", *where, "--yes")
    assert_refused(result, "task_id_missing", "43")


def test_what_is_queued_is_sent_later(
    run: Run, report: Run, collector: Collector, wording: Any
) -> None:
    (receipt,) = as_json(report("--queue", "--json"))["reports"]
    assert receipt["state"] == "waiting"
    assert collector.uploads == []
    content = as_json(run("send", "--json"))
    assert [each["state"] for each in content["sent"]] == ["accepted"]
    assert content["waiting"] == 0
    wording("cli", "send, nothing", run("send").stdout)


def test_a_collector_out_of_reach_is_exit_code_1_and_the_report_is_kept(
    run: Run, report: Run, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "RETRY_FIRST_S", 100.0)
    collector.replies = [Said(503), Said(400)]
    result = report()
    assert result.exit_code == 1
    assert "503" in result.stdout
    stopped = run("send", "--now")
    assert stopped.exit_code == 1
    assert "400" in stopped.stdout
    assert as_json(run("send", "--now", "--json"))["sent"] == []
    assert run("send", "--again").exit_code == 0
    assert len({each.body for each in collector.uploads}) == 1


def test_waiting_for_what_is_due_sends_all_of_it(
    run: Run, report: Run, collector: Collector
) -> None:
    collector.replies = [Said(503, headers=(("Retry-After", "1"),))] * 1
    report("--queue")
    result = run("send", "--wait")
    assert result.exit_code == 0, result.stdout
    assert len(collector.uploads) == 2


def test_the_budget_is_refused_before_anything_is_spent(report: Run) -> None:
    result = report("--choose", "1", "--choose", "2", "--lifetime", "2")
    assert (result.exit_code, printed_code(result.stderr)) == (1, "budget_exhausted")
    with Client() as client:
        assert client.budget().used == 0


@pytest.mark.parametrize(
    ("choose", "rows"), [((), slice(2, 5)), (("1",), slice(0, 2)), (("last",), slice(2, 5))]
)
def test_the_person_chooses_which_journey(
    report: Run, given: Given, choose: tuple[str, ...], rows: slice
) -> None:
    assert report(*(each for name in choose for each in ("--choose", name))).exit_code == 0
    table = [
        [40.001, -74.001],
        [40.021, -73.98],
        [40.031, -73.951],
        [40.041, -73.941],
        [40.001, -73.981],
    ]
    assert [journey for journey, _ in given] == [table[rows]]


def test_journeys_of_several_files_and_folders_are_counted_through(
    run: Run, folder: Path, collector: Collector, given: Given
) -> None:
    (folder / "more").mkdir()
    write(
        folder / "more" / "day.csv", "tid,seq,lat,lng", "a,0,40.011,-73.991", "a,1,40.0,-74.0"
    )
    url = f"{collector.url}/tasks/{BUNDLE.task.id}"
    files = ("week.csv", "more", "--points", "2")
    result = run("report", *files, "--task", url, "--yes", "--choose", "1", "--choose", "3")
    assert result.exit_code == 0, result.stderr
    first, second = (journey for journey, _ in given)
    assert first == [[40.001, -74.001], [40.021, -73.98]]
    assert second == [[40.011, -73.991], [40.0, -74.0]]


@pytest.mark.parametrize("choose", ["0", "-1", "first", "1.5", "\u0661", "1_0"])
def test_what_is_no_number_of_a_journey_is_refused(
    report: Run, collector: Collector, choose: str
) -> None:
    result = report(f"--choose={choose}")
    assert_refused(result, "not_a_trajectory_number", "--choose")
    assert collector.seen == []


def test_beyond_the_last_journey_is_the_last(report: Run, given: Given) -> None:
    assert report("--choose", "3").exit_code == 0
    assert len(given[0][0]) == 3


def test_a_file_of_another_form_is_refused_before_any_request(
    run: Run, folder: Path, collector: Collector
) -> None:
    write(folder / "other.csv", "name,colour", "a,blue")
    url = f"{collector.url}/tasks/{BUNDLE.task.id}"
    refused = run("report", "other.csv", "--task", url, "--yes", "--now")
    assert_refused(refused, "columns_insufficient", "other.csv")
    assert collector.seen == []
    assert not (folder / "home").exists()


def test_journeys_by_location_id_are_those_locations(
    run: Run, folder: Path, collector: Collector, given: Given
) -> None:
    write(folder / "ids.csv", "tid,seq,location_id", "a,0,p3", "a,1,p7")
    url = f"{collector.url}/tasks/{BUNDLE.task.id}"
    assert run("report", "ids.csv", "--task", url, "--yes").exit_code == 0
    assert [journey for journey, _ in given] == [["p3", "p7"]]


def test_a_question_of_when_reads_the_hour_of_the_file(
    run: Run, folder: Path, collector: Collector, given: Given
) -> None:
    url = f"{collector.url}/tasks/{WHEN.task.id}"
    result = run("report", "week.csv", "--task", url, "--yes", "--time-zone", "UTC")
    assert result.exit_code == 0, result.stderr
    assert [how["hour"] for _, how in given] == [24 + 10]  # a Tuesday


def test_without_anybody_to_ask_yes_must_be_said(run: Run, collector: Collector) -> None:
    url = f"{collector.url}/tasks/{BUNDLE.task.id}"
    result = run("report", "week.csv", "--task", url)
    assert_refused(result, "confirmation_missing", "--yes")
    with Client() as client:
        assert client.budget().used == 0


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals on Windows")
@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_person_at_a_terminal_is_asked(
    folder: Path, collector: Collector, answer: str, wording: Any
) -> None:
    write(folder / "far.csv", "tid,seq,lat,lng", "a,0,-33.9,151.2", "a,1,-33.8,151.2")
    url = f"{collector.url}/tasks/{BUNDLE.task.id}"
    import pty

    arguments = [sys.executable, "-m", "nomadp", "report", "far.csv", "--task", url]
    terminal, end = pty.openpty()
    child = subprocess.Popen(arguments, cwd=folder, stdin=end, stdout=end, stderr=end)
    os.close(end)
    printed = b""
    try:
        while b"[y/N]" not in printed:
            printed += os.read(terminal, 4096)
        os.write(terminal, f"{answer}\n".encode())
        while more := os.read(terminal, 4096):
            printed += more
    except OSError:
        pass  # it has ended
    finally:
        os.close(terminal)
        child.wait()
    text = printed.decode().replace("\r\n", "\n")
    assert BUNDLE.task.purpose in text
    assert "33.9" not in text
    prompt = text.partition("[y/N]")[0]
    wording("cli", "report, the question", prompt, hide={BUNDLE.task.id: "ID"})
    assert (child.returncode == 0) == (answer == "y")
    assert len(collector.uploads) == (answer == "y")


def test_the_ledger_tells_what_was_spent(run: Run, report: Run, wording: Any) -> None:
    report()
    report("--queue")
    content = as_json(run("ledger", "show", "--json"))
    (task,) = content["tasks"]
    assert (content["used"], content["remaining"]) == ("3", "17")
    assert (task["reports"], task["reports_per_contributor"]) == (2, 3)
    states = {"charged": 0, "waiting": 1, "accepted": 1, "stopped": 0}
    assert task["states"] == states
    assert sorted(each["state"] for each in content["receipts"]) == ["accepted", "waiting"]
    text = run("ledger", "show").stdout
    assert BUNDLE.task.id in text
    lines = ID.sub("REPORT", DAY.sub("DAY", text)).splitlines()
    by_sentence = [*lines[:-2], *sorted(lines[-2:])]  # receipts come by their random ids
    hidden = {BUNDLE.task.id: f"{'ID':43}"}
    wording("cli", "ledger show", "\n".join(by_sentence), hide=hidden)


def test_a_ledger_may_be_named_before_or_after_its_command(run: Run, report: Run) -> None:
    report("--home", "mine")
    for words in (["--home", "mine", "show"], ["show", "--home", "mine"]):
        assert as_json(run("ledger", *words, "--json"))["used"] == "3/2"
    both = ["--home", "other", "show", "--home", "mine"]
    assert as_json(run("ledger", *both, "--json"))["used"] == "3/2"
    assert as_json(run("ledger", "--home", "other", "show", "--json"))["used"] == 0


def test_looking_at_no_ledger_begins_none(run: Run, folder: Path) -> None:
    assert run("ledger", "show").exit_code == 0
    content = as_json(run("ledger", "show", "--json"))
    assert (content["used"], content["receipts"]) == (0, [])
    assert not (folder / "home").exists()


def test_a_ledger_that_is_gone_is_refused_by_every_command(
    run: Run, report: Run, folder: Path
) -> None:
    report()
    (folder / "home" / "ledger.sqlite3").unlink()
    for command in (["ledger", "show"], ["send"]):
        assert_refused(run(*command), "ledger_missing", "ledger.sqlite3", exit_code=1)
    assert report().exit_code == 1


def test_nothing_a_script_sees_depends_on_the_journey(
    run: Run, folder: Path, collector: Collector
) -> None:
    write(folder / "far.csv", "tid,seq,lat,lng", "a,0,-33.9,151.2")
    url = f"{collector.url}/tasks/{BUNDLE.task.id}"
    said = []
    for file in ("week.csv", "far.csv"):
        result = run("report", file, "--task", url, "--yes", "--json")
        answer = json.loads(result.stdout)
        for each in answer["reports"]:
            del each["report_id"]
        for name in ("used", "remaining"):
            del answer[name]
        said.append((result.exit_code, answer, result.stderr))
    assert said[0] == said[1]
