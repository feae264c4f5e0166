"""``nomadp task publish``, ``list``, ``verify`` and ``close`` with a collector that runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from collecting import TOKENS, bundle_of, collector, report
from refusals import printed_code

from nomadp.cli import main
from nomadp.collector.store import Store
from nomadp.protocol.folder import write_task_folder


def run(*arguments: str) -> Any:
    done = CliRunner().invoke(main, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("mechanism", ["atlas", "trips"])
def test_a_task_is_published_verified_listed_and_closed(
    sqlite: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    bundle = bundle_of(mechanism)
    folder = str(write_task_folder(tmp_path / "made", bundle))
    monkeypatch.setenv("NOMADP_OPERATOR_TOKEN", TOKENS["operator"])
    with collector(sqlite) as address:
        where = ("--collector", f"http://127.0.0.1:{address.operator_port}")
        assert run("task", "publish", folder, *where)["task_id"] == bundle.task.id
        public = f"http://127.0.0.1:{address.port}/tasks/{bundle.task.id}"
        assert run("task", "show", public)["task_id"] == bundle.task.id
        assert address.send(bundle, report(bundle)).body == b""
        (listed,) = run("task", "list", *where)["tasks"]
        assert (listed["task_id"], listed["reports"], listed["closed"]) == (
            bundle.task.id,
            1,
            False,
        )
        assert run("task", "close", folder, *where)["closed"]
        assert address.send(bundle, report(bundle)).failures == ["report_dropped"]


def test_a_wrong_token_publishes_nothing(
    sqlite: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(write_task_folder(tmp_path / "made", bundle_of()))
    monkeypatch.setenv("NOMADP_OPERATOR_TOKEN", "wrong")
    with collector(sqlite) as address:
        where = ("--collector", f"http://127.0.0.1:{address.operator_port}")
        done = CliRunner().invoke(main, ["task", "publish", folder, *where])
    assert done.exit_code == 1
    assert printed_code(done.stderr) == "unexpected_status"
    assert "401 (unauthorized)" in done.stderr


def test_who_takes_the_devices_address_for_the_operators_is_told(
    sqlite: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(write_task_folder(tmp_path / "made", bundle_of()))
    monkeypatch.setenv("NOMADP_OPERATOR_TOKEN", TOKENS["operator"])
    with collector(sqlite) as address:
        where = ("--collector", f"http://127.0.0.1:{address.port}")
        done = CliRunner().invoke(main, ["task", "publish", folder, *where])
    assert done.exit_code == 1
    assert printed_code(done.stderr) == "unexpected_status"
    assert "404 (not_found)" in done.stderr
