"""``nomadp task``: tasks made, checked and published."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from nomadp.protocol.folder import read_task_folder
from tests.cli.conftest import Run, as_json, assert_refused
from tests.protocol.test_fetch import Server, serve

TOKEN = "NOMADP_OPERATOR_TOKEN"


@pytest.fixture
def create(run: Run) -> Run:
    def invoke(*more: str) -> Any:
        return run(
            *("task", "create", "--locations", "places.csv", "--epsilon", "4", "--out", "made"),
            *("--purpose", "Where buses should go.", "--start", "2026-11-16"),
            *("--end", "2027-01-31", *more),
        )

    return invoke


def test_a_task_is_made_and_its_promise_printed(
    create: Run, folder: Path, wording: Any
) -> None:
    done = create("--length", "3")
    assert done.exit_code == 0, done.stderr
    bundle = read_task_folder(folder / "made")
    wording("cli", "task create", done.stdout, hide={bundle.task.id: "ID"})
    assert (bundle.task.start, bundle.task.end, bundle.task.length) == (20_773, 20_850, 3)


def test_every_parameter_can_be_given(create: Run, folder: Path) -> None:
    done = create(
        *("--mechanism", "trips", "--zones", "grid:2", "--when", "day-part"),
        *("--reports-per-contributor", "5", "--min-batch-size", "7"),
        *("--retention-days", "100", "--time-precision", "3600", "--send-within", "60"),
        "--json",
    )
    content = as_json(done)
    task = read_task_folder(folder / "made", content["task_id"]).task
    assert task.params == {"zones": "grid:2", "when": "day-part"}
    numbers = task.reports_per_contributor, task.min_batch_size, task.retention
    assert numbers == (5, 7, 2400)
    assert (task.time_precision, task.send_within) == (3600, 60)
    assert content["guarantee"]["odds_in_all_at_most"] == "485165195.41"


def test_a_record_for_the_registry_is_written(create: Run, folder: Path) -> None:
    about = ("--curator", "A city", "--curator-type", "Government", "--region", "New York")
    done = create("--length", "2", "--registry", "record.yaml", *about)
    assert done.exit_code == 0, done.stderr
    text = (folder / "record.yaml").read_text(encoding="utf-8")
    assert 'model_name: "Local"' in text
    assert 'data_curator_name: "A city"' in text
    assert create("--length", "2", "--overwrite", "--registry", "record.txt").exit_code == 2


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ((), "options_of_another_mechanism"),
        (("--length", "9"), "option_out_of_range"),
        (("--length", "3", "--zones", "grid:2"), "options_of_another_mechanism"),
        (("--length", "3", "--retention-days", "5"), "retention_shorter_than_task"),
        (("--mechanism", "tp"), "mechanism_not_for_tasks"),
        (("--mechanism", "trips", "--length", "3"), "options_of_another_mechanism"),
        (("--length", "3", "--end", "soon"), "not_a_day"),
        (("--length", "3", "--end", "2020-01-01"), "task_field_out_of_range"),
        (("--length", "3", "--epsilon", "11"), "report_epsilon_out_of_range"),
        (("--length", "3", "--purpose", "two\nlines"), "purpose_malformed"),
        (("--length", "3", "--time-precision", "60"), "task_field_out_of_range"),
    ],
)
def test_what_no_device_would_join_is_not_written(
    create: Run, folder: Path, more: tuple[str, ...], code: str
) -> None:
    assert_refused(create(*more), code)
    assert not (folder / "made").exists()


def test_single_locations_as_zones_are_refused_with_the_reason(create: Run) -> None:
    done = create("--mechanism", "trips", "--zones", "locations")
    assert_refused(done, "unknown_zone_rule", "locations")


def test_verify_says_what_a_contributor_should_know(
    create: Run, run: Run, wording: Any
) -> None:
    made = as_json(create("--length", "3", "--json"))
    done = run("task", "verify", "made", "--id", made["task_id"])
    assert done.exit_code == 0, done.stderr
    assert made["task_id"] in done.stdout
    checks = "\n\n".join(done.stdout.split("\n\n")[:2])  # then as "task create" says it
    wording("cli", "task verify", checks, hide={made["task_id"]: "ID"})
    content = as_json(run("task", "verify", "made", "--json"))
    assert content["ok"]
    assert content["follows_its_rule"]


def test_verify_ends_with_one_where_a_device_would_refuse(
    create: Run, run: Run, folder: Path
) -> None:
    create("--length", "3")
    refused = run("task", "verify", "made", "--id", "A" * 43, "--json")
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)["code"] == "task_id_mismatch"
    places = folder / "made" / "locations.csv"
    places.write_bytes(places.read_bytes().replace(b"place-a", b"place-z"))
    assert run("task", "verify", "made").exit_code == 1
    done = run("task", "verify", "made", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["code"] == "task_file_hash_mismatch"
    assert run("task", "verify", "nowhere").exit_code == 1
    assert run("task", "show", "made").exit_code == 2


def test_verify_ends_with_one_for_zones_that_are_not_by_their_rule(
    create: Run, run: Run, folder: Path
) -> None:
    from nomadp.protocol import Task, TaskBundle
    from nomadp.protocol.folder import write_task_folder
    from nomadp.zones import Zones

    create("--mechanism", "starts", "--zones", "grid:3")
    bundle = read_task_folder(folder / "made")
    assert isinstance(bundle.domain, Zones)
    turned = Zones(bundle.locations, bundle.domain.of[::-1], bundle.domain.names, "grid:3")
    text = bundle.task.as_dict() | {"zones_sha256": turned.sha256}
    from nomadp.protocol.canonical import canonical_bytes

    write_task_folder(
        folder / "made",
        TaskBundle(Task.from_bytes(canonical_bytes(text)), bundle.locations, turned),
    )
    assert run("task", "verify", "made").exit_code == 1
    done = run("task", "verify", "made", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["follows_its_rule"] is False


def test_tasks_are_shown_and_listed(create: Run, run: Run) -> None:
    made = as_json(create("--length", "3", "--json"))
    shown = run("task", "show", "made")
    assert made["task_id"] in shown.stdout
    assert "min_batch_size" in shown.stdout
    assert as_json(run("task", "show", "made", "--json"))["locations"] == 9
    listed = as_json(run("task", "list", "made", "made", "--json"))
    assert [each["task_id"] for each in listed["tasks"]] == [made["task_id"]] * 2
    assert made["task_id"] in run("task", "list", "made").stdout
    assert_refused(run("task", "list"), "not_one_source", "--collector")


@pytest.fixture
def server() -> Any:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def test_a_task_is_verified_by_its_address(
    create: Run, run: Run, folder: Path, server: Any
) -> None:
    create("--length", "3")
    url = serve(server, read_task_folder(folder / "made"))
    assert run("task", "verify", url).exit_code == 0
    assert run("task", "verify", url, "--id", "A" * 43).exit_code == 1
    server.replies.clear()
    gone = run("task", "verify", url)
    assert_refused(gone, "unexpected_status", "404", exit_code=1)


def test_a_collector_is_given_a_task_and_told_to_close_it(
    create: Run, run: Run, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = as_json(create("--length", "3", "--json"))["task_id"]
    where = ("--collector", server.url)
    assert_refused(run("task", "publish", "made", *where), "token_missing", TOKEN)
    monkeypatch.setenv(TOKEN, "secret")
    listed = json.dumps({"tasks": [{"task_id": made, "closed": False, "reports": 5}]})
    server.replies["/operator/tasks"] = (201, listed.encode())
    server.replies[f"/operator/tasks/{made}/close"] = (200, b"{}")
    assert as_json(run("task", "publish", "made", *where, "--json"))["published"]
    row = run("task", "list", *where).stdout.splitlines()[-1].split()
    assert (row[0], row[-1]) == (made, "5")
    assert as_json(run("task", "close", "made", *where, "--json"))["task_id"] == made
    assert run("task", "close", made, *where).exit_code == 0
    server.replies.clear()
    assert run("task", "close", made, *where).exit_code == 1
    assert all(headers["Authorization"] == "Bearer secret" for *_, headers, _ in server.asked)


@pytest.mark.parametrize("begin", ["-0eZ", "-h_-", "--he"])
def test_a_task_is_closed_whatever_its_id_begins_with(
    run: Run, server: Any, monkeypatch: pytest.MonkeyPatch, begin: str
) -> None:
    monkeypatch.setenv(TOKEN, "secret")
    name = begin + "A" * 39
    server.replies[f"/operator/tasks/{name}/close"] = (200, b"{}")
    closed = run("task", "close", name, "--collector", server.url)
    assert closed.exit_code == 0, closed.stderr
    assert name in closed.stdout


def code_of(result: Result) -> str:
    """Of a refusal with --json, which "task verify" tells as its answer."""
    content = json.loads(result.stdout)
    return str(content.get("error", content)["code"])


@pytest.mark.parametrize(
    "command",
    [
        ("task", "list", "--collector", "URL"),
        ("task", "close", "A" * 43, "--collector", "URL"),
        ("task", "show", "URL/tasks/" + "A" * 43),
        ("task", "verify", "URL/tasks/" + "A" * 43),
        ("collector", "status", "--url", "URL"),
        ("query", "flows", "--collector", "URL", "--task", "A" * 43, "--out", "flows.csv"),
    ],
)
def test_no_token_goes_over_http_to_another_machine(
    command: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOMADP_OPERATOR_TOKEN", "secret")
    monkeypatch.setenv("NOMADP_ANALYST_TOKEN", "secret")
    requested = [part.replace("URL", "http" + "://collector.example") for part in command]
    assert code_of(run(*requested, "--json")) == "address_not_https"
    done = run(*requested, "--insecure", "--json")
    assert done.exit_code
    assert code_of(done) == "collector_unreachable"
