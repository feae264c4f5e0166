"""``nomadp serve`` and ``nomadp collector`` as an operator meets them."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from collecting import TOKENS, Process, bundle_of, collector, prepared, report
from refusals import printed_code

from nomadp.cli import main
from nomadp.collector.connections import open_store
from nomadp.collector.tokens import first_tokens
from nomadp.protocol.folder import write_task_folder
from nomadp.reports.report_files import read_reports


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False)


def run_json(*arguments: object) -> Any:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A store with five reports of one task, and one refusal."""
    named, bundle = str(tmp_path / "collector.sqlite"), bundle_of()
    with collector(open_store(named), bundle) as address:
        address.send(bundle, *[report(bundle, k) for k in range(5)])
        address.send(bundle, report(bundle, time=0))
        address.counters(bundle, "task_not_started")
    return named


def test_a_folder_is_served_and_its_tokens_are_shown_once(tmp_path: Path) -> None:
    bundle = bundle_of()
    folder = write_task_folder(tmp_path / "task", bundle)
    with Process("collector.sqlite", tmp_path, [str(folder)]) as running:
        assert running.address.send(bundle, report(bundle)).body == b""
        assert running.end() == 143
    text = running.log.read_text()
    assert bundle.task.id in text
    assert not any(token in text for token in TOKENS.values())
    status = run_json("collector", "status", "--store", tmp_path / "collector.sqlite")
    assert [each["reports"] for each in status["tasks"]] == [1]


def test_status_says_what_was_refused_and_why(place: str, wording: Any) -> None:
    (task,) = run_json("collector", "status", "--store", place)["tasks"]
    assert (task["task_id"], task["reports"]) == (bundle_of().task.id, 5)
    assert task["counters"] == {"accepted": 5, "task_not_started": 1}
    done = run("collector", "status", "--store", place)
    wording("cli", "collector status", done.output, hide={bundle_of().task.id: "ID"})


def test_status_asks_a_running_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = bundle_of()
    with collector(open_store(str(tmp_path / "c.sqlite")), bundle) as address:
        address.send(bundle, report(bundle))
        url = f"http://127.0.0.1:{address.operator_port}"
        monkeypatch.setenv("NOMADP_OPERATOR_TOKEN", TOKENS["operator"])
        status = run_json("collector", "status", "--url", url)
        assert status["tasks"][0]["counters"] == {"accepted": 1}
        monkeypatch.setenv("NOMADP_OPERATOR_TOKEN", "wrong")
        refused = run("collector", "status", "--url", url)
        assert (refused.exit_code, printed_code(refused.stderr)) == (1, "unexpected_status")
        assert "401" in refused.stderr


def test_export_writes_what_is_read_back(place: str, tmp_path: Path) -> None:
    bundle, out = bundle_of(), tmp_path / "reports.parquet"
    content = run_json(
        "collector", "export", "--store", place, "--task", bundle.task.id, "--out", out
    )
    assert content["reports"] == 5
    assert len(read_reports(out, bundle.locations)) == 5


def test_backup_restore_and_migrate_keep_all(place: str, tmp_path: Path) -> None:
    backup, again = tmp_path / "backup.sqlite", tmp_path / "again.sqlite"
    assert run("collector", "backup", "--store", place, "--out", backup).exit_code == 0
    assert run_json("collector", "restore", backup, "--store", again)["reports"] == 5
    third = tmp_path / "third.sqlite"
    assert run_json("collector", "migrate", "--store", again, "--to", third)["reports"] == 5
    one, other = (run_json("collector", "status", "--store", each) for each in (place, third))
    assert one == other


def test_a_store_in_use_is_not_migrated(place: str, tmp_path: Path) -> None:
    third = tmp_path / "third.sqlite"
    with Process(place, tmp_path):
        done = run("collector", "migrate", "--store", place, "--to", third)
        assert (done.exit_code, printed_code(done.stderr)) == (1, "store_in_use")
        assert not third.exists()
    assert run_json("collector", "migrate", "--store", place, "--to", third)["reports"] == 5


def test_a_new_token_is_printed_once(place: str) -> None:
    content = run_json("collector", "tokens", "analyst", "--store", place)
    assert len(content["token"]) >= 32


def test_who_renews_a_token_is_told_that_the_environment_brings_back_the_old_one(
    place: str,
) -> None:
    text = run("collector", "tokens", "operator", "--store", place).stdout
    assert "NOMADP_OPERATOR_TOKEN" in text


def test_an_export_is_asked_and_decoded_with_the_files_of_its_task(
    place: str, tmp_path: Path
) -> None:
    bundle, out = bundle_of(), tmp_path / "reports.parquet"
    folder = write_task_folder(tmp_path / "task", bundle)
    run_json("collector", "export", "--store", place, "--task", bundle.task.id, "--out", out)
    public = ("--locations", folder / "locations.csv", "--codebook", folder / "atlas.json")
    content = run_json("query", "hotspots", out, *public, "--out", tmp_path / "hotspots.csv")
    assert content["reports"] == 5
    run_json("decode", out, *public, "--out", tmp_path / "where.csv")
    assert (tmp_path / "where.csv").exists()


@pytest.mark.parametrize("command", ["status", "backup", "export"])
def test_a_store_that_is_not_there_is_not_made(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.sqlite"
    more = {
        "status": [],
        "backup": ["--out", tmp_path / "x.sqlite"],
        "export": ["--task", "x", "--out", tmp_path / "x.parquet"],
    }[command]
    done = run("collector", command, "--store", missing, *more)
    assert (done.exit_code, printed_code(done.stderr)) == (1, "store_missing")
    assert not missing.exists()


def test_workers_are_refused_where_no_listener_can_be_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nomadp.cli.serve.CAN_SHARE_LISTENERS", False)
    done = run("serve", "--store", tmp_path / "c.sqlite", "--workers", 2)
    assert (done.exit_code, printed_code(done.stderr)) == (2, "workers_unsupported")
    assert not (tmp_path / "c.sqlite").exists()


def test_workers_need_a_store_that_they_can_share(tmp_path: Path) -> None:
    done = run("serve", "--store", tmp_path / "c.sqlite", "--workers", 2)
    assert (done.exit_code, printed_code(done.stderr)) == (2, "store_not_shared")
    assert "postgresql://" in done.stderr


def test_a_folder_that_is_no_task_is_refused(tmp_path: Path) -> None:
    done = run("serve", tmp_path, "--store", tmp_path / "c.sqlite")
    assert (done.exit_code, printed_code(done.stderr)) == (2, "task_file_missing")
    assert "task.json" in done.stderr


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "file"),
        (b"", "basemap_not_pmtiles"),
        (b"PMTiles\x02" + bytes(200), "basemap_not_pmtiles"),
    ],
    ids=["missing", "empty", "version 2"],
)
def test_a_basemap_that_cannot_be_used_is_refused_before_tokens_are_made(
    tmp_path: Path, content: bytes | None, code: str
) -> None:
    store, basemap = tmp_path / "c.sqlite", tmp_path / "city.pmtiles"
    if content is not None:
        basemap.write_bytes(content)
    done = run("serve", "--store", store, "--basemap", basemap)
    assert (done.exit_code, printed_code(done.stderr)) == (2, code)
    assert len(done.stderr.splitlines()) == 1
    assert "city.pmtiles" in done.stderr
    assert not store.exists()


def test_an_address_that_is_taken_is_refused(tmp_path: Path) -> None:
    prepared(open_store(str(tmp_path / "c.sqlite")))
    with collector(open_store(str(tmp_path / "other.sqlite"))) as address:
        done = run("serve", "--store", tmp_path / "c.sqlite", "--port", address.port)
    assert (done.exit_code, printed_code(done.stderr)) == (1, "address_unavailable")
    assert f"127.0.0.1:{address.port}" in done.stderr


def test_a_port_that_is_taken_costs_no_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in TOKENS:
        monkeypatch.delenv(f"NOMADP_{role.upper()}_TOKEN", raising=False)
    store = tmp_path / "collector.sqlite"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--store", store, "--port", port, "--operator-port", 0)
    assert done.exit_code == 1
    connection = open_store(str(store)).connect()
    assert set(first_tokens(connection)) == set(TOKENS)  # made now, and shown now
    connection.close()
