"""``nomadp query --collector``: an analyst's question to a collector that runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from collecting import TOKENS, bundle_of, collector, report
from refusals import json_code, printed_code

from nomadp.cli import main
from nomadp.collector.export import export_reports
from nomadp.collector.loaded_task import add_task
from nomadp.collector.store import Store
from nomadp.protocol.folder import write_task_folder
from nomadp.reports.report_files import HEADER_NAME

REPORTS = 5


def asked(tmp_path: Path, port: int, *arguments: str) -> Any:
    bundle = bundle_of("starts")
    where = ["--collector", f"http://127.0.0.1:{port}", "--task", bundle.task.id]
    out = ["--out", str(tmp_path / "answer.csv"), "--json"]
    return CliRunner().invoke(main, ["query", "hotspots", *where, *arguments, *out])


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOMADP_ANALYST_TOKEN", TOKENS["analyst"])


@pytest.fixture
def starts(sqlite: Store) -> Store:
    connection = sqlite.connect()
    add_task(connection, bundle_of("starts"))
    connection.close()
    return sqlite


@pytest.mark.usefixtures("told")
def test_a_collector_is_asked_and_needs_no_file_of_locations(
    starts: Store, tmp_path: Path
) -> None:
    bundle = bundle_of("starts")
    with collector(starts) as address:
        for _ in range(REPORTS):
            assert address.send(bundle, report(bundle)).body == b""
        done = asked(tmp_path, address.port, "--map", str(tmp_path / "map.html"))
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["reports"], said["task"]) == (REPORTS, bundle.task.id)
    assert (tmp_path / "answer.csv").exists()
    assert (tmp_path / "map.html").exists()


@pytest.mark.usefixtures("told")
def test_too_few_reports_are_counted_as_missing_and_nothing_is_written(
    starts: Store, tmp_path: Path
) -> None:
    bundle = bundle_of("starts")
    with collector(starts) as address:
        address.send(bundle, report(bundle))
        done = asked(tmp_path, address.port)
    assert done.exit_code == 2
    assert json_code(done.stdout) == "too_few_reports"
    assert str(bundle.task.min_batch_size - 1) in done.output
    assert not (tmp_path / "answer.csv").exists()


def test_a_collector_is_not_asked_without_the_analysts_token(
    starts: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOMADP_ANALYST_TOKEN", raising=False)
    with collector(starts) as address:
        done = asked(tmp_path, address.port)
        assert json_code(done.stdout) == "token_missing"
        assert "NOMADP_ANALYST_TOKEN" in done.output
        monkeypatch.setenv("NOMADP_ANALYST_TOKEN", "somebody's")
        done = asked(tmp_path, address.port)
        assert json_code(done.stdout) == "unexpected_status"
        assert "401" in done.output
        for wrong in ("some\nbody's", "somebody\x7f's", "wröng"):
            monkeypatch.setenv("NOMADP_ANALYST_TOKEN", wrong)
            done = asked(tmp_path, address.port)
            assert done.exit_code == 2
            assert json_code(done.stdout) == "token_malformed"
            assert "body" not in done.output


@pytest.mark.usefixtures("told")
def test_a_collector_an_export_and_a_folder_of_it_give_the_same_answer(
    starts: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOMADP_ANALYST_TOKEN", f" {TOKENS['analyst']}\r\n")
    connection = starts.connect()
    add_task(connection, bundle_of("atlas"))
    connection.close()
    for name in ("starts", "atlas"):
        bundle = bundle_of(name)
        with collector(starts) as address:
            for _ in range(2 * REPORTS):
                assert address.send(bundle, report(bundle)).body == b""
            url = f"http://127.0.0.1:{address.port}"
            ask(f"{name}.csv", "--collector", f"{url}/tasks/{bundle.task.id}")
            named = f"{name}-named.csv"
            ask(named, "--collector", url, "--task", bundle.task.id)
            assert Path(named).read_bytes() == Path(f"{name}.csv").read_bytes()
        export_reports(starts, bundle.task.id, tmp_path / "exported.parquet")
        write_task_folder(tmp_path / name, bundle)
        ask(f"{name}-exported.csv", "exported.parquet", "--task", name)
        rows = pq.read_table("exported.parquet")
        Path("parts").mkdir(exist_ok=True)
        for k in range(2):
            pq.write_table(rows.slice(k * REPORTS, REPORTS), f"parts/part-{k}.parquet")
        Path("parts", HEADER_NAME).write_bytes(rows.schema.metadata[b"nomadp"])
        ask(f"{name}-parts.csv", "--reports", "parts", "--task", name)
        one, *others = (
            Path(f"{name}{more}.csv").read_bytes() for more in ("", "-exported", "-parts")
        )
        assert others == [one, one]
        said = [
            json.loads(Path(f"{name}{more}.csv.meta.json").read_bytes())
            for more in ("", "-exported", "-parts")
        ]
        assert said[0] == said[1] == said[2]
        assert (said[0]["task"], said[0]["reports"]) == (bundle.task.id, 2 * REPORTS)


def ask(out: str, *where: str) -> None:
    done = CliRunner().invoke(
        main, ["query", "hotspots", *where, "--areas", "grid:1", "--out", out]
    )
    assert done.exit_code == 0, done.output


def test_files_of_a_task_are_asked_on_its_terms(
    starts: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = bundle_of("starts")
    with collector(starts) as address:
        address.send(bundle, report(bundle))
    export_reports(starts, bundle.task.id, tmp_path / "exported.parquet")
    write_task_folder(tmp_path / "task", bundle)
    ask("few.csv", "exported.parquet", "--task", "task")
    said = json.loads(Path("few.csv.meta.json").read_bytes())
    assert (said["missing"], said["rows"]) == (bundle.task.min_batch_size - 1, 0)
    wrong = [
        "query",
        "hotspots",
        "exported.parquet",
        "--task",
        bundle.task.id,
        "--out",
        "x.csv",
    ]
    done = CliRunner().invoke(main, wrong)
    assert done.exit_code == 2
    assert printed_code(done.stderr) == "not_one_source"


@pytest.mark.usefixtures("told")
def test_a_collector_and_files_are_not_asked_together(tmp_path: Path) -> None:
    file = tmp_path / "reports.csv"
    file.write_text("")
    done = asked(tmp_path, 1, "--reports", str(file))
    assert done.exit_code == 2
    assert json_code(done.stdout) == "not_one_source"
