"""Every command of the analyst's page runs, in its order, and so does its Python."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from collecting import TOKENS, bundle_of, collector, report

from nomadp.cli import main
from nomadp.collector.connections import open_store
from nomadp.protocol.folder import write_task_folder

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "analyst.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
URL = "http://127.0.0.1:8000"
"""Of the collector on the page."""


def commands(block: str) -> Iterator[list[str]]:
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "nomadp":
            yield words[1:]
        else:
            assert words[:1] in (["pip"], ["export"]), f"nothing runs this line: {line}"


def test_the_page_has_commands_and_python() -> None:
    asked = [words for kind, block in BLOCKS if not kind for words in commands(block)]
    assert {"query", "plan", "perturb"} <= {words[0] for words in asked}
    assert {kind for kind, _ in BLOCKS if kind} == {"python"}


def test_every_file_that_is_linked_is_there() -> None:
    linked = re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE)
    assert linked
    assert [name for name in linked if not (ROOT / "docs" / name).is_file()] == []


@pytest.mark.slow
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = bundle_of("atlas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOMADP_ANALYST_TOKEN", TOKENS["analyst"])
    with collector(open_store(str(tmp_path / "collector.sqlite")), bundle) as address:
        for number in range(9):
            assert address.send(bundle, report(bundle, number)).body == b""
        write_task_folder(tmp_path / "task", bundle)
        here = {URL: f"http://127.0.0.1:{address.port}", "ID": bundle.task.id}
        for kind, block in BLOCKS:
            if kind == "python":
                exec(compile(block, "docs/analyst.md", "exec"), {})
                continue
            for words in commands(block):
                done = CliRunner().invoke(main, [here.get(word, word) for word in words])
                assert done.exit_code == 0, (words, done.output)
    made = {path.name for path in tmp_path.iterdir()}
    named = set(re.findall(r"--(?:out|map|learned) (\S+)", "\n".join(b for _, b in BLOCKS)))
    assert named <= made
    assert {"flowmap.csv", "flowmap.locations.csv"} <= made
