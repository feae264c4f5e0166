"""Every block of code in the documents is run, or says why it is not; every option exists."""

import contextlib
import io
import re
from collections import Counter
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from snippet_files import make_files
from snippets import DOCUMENTS, ROOT, Snippet, commands, named, snippets, spans
from tutorials_maker import GUIDES, PAGES

from nomadp.cli import main

ELSEWHERE = {
    "README.md": "test_examples.py",
    "CONTRIBUTING.md": "plugin.py",
    "docs/analyst.md": "test_analyst_page.py",
    **{
        named(path): "test_examples.py"
        for path in sorted((ROOT / "docs" / "reference" / "python").glob("*.md"))
    },
}
"""Pages whose Python other tests run, and all of the analyst's."""
WALKED = {named(page) for page in (*PAGES, *GUIDES)}
"""Tutorials and guides, by test_tutorials.py."""
HERE = ("docs/index.md", "docs/answers.md", "docs/data.md", "docs/scale.md")
TYPED = ("", "bash", "console", "sh")
UNRUN = {
    "README.md": 2,  # dev.py itself, and an installation from the index
    "CONTRIBUTING.md": 1,  # what runs the tests
    "docs/answers.md": 2,  # hours, and the paper's sets
    "docs/cluster.md": 3,  # installations, YARN, benchmarks
    "docs/demo.md": 1,  # stays until it is stopped
    "docs/experiments.md": 1,  # hours
    "docs/operate.md": 1,  # nginx
    "docs/reproduction.md": 1,  # hours, and the paper's sets
    "web/client/README.md": 1,  # a browser
}
"""How many blocks of a page nothing runs as they are: one more is added here on purpose."""


def parsed(words: list[str]) -> str:
    """Hand the words of a command to its own parser; what is wrong, if anything is."""
    command: click.Command = main
    context = click.Context(main, info_name="nomadp")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(context, words[0])
        if inner is None:
            return f"there is no command {words[0]}"
        command, words = inner, words[1:]
        context = click.Context(command, parent=context, info_name=command.name)
    try:
        command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("page", DOCUMENTS, ids=named)
def test_every_command_that_is_shown_exists_with_its_options(page: Path) -> None:
    shown = [words for snippet in snippets(page) for words in commands(snippet.text)]
    for span in spans(page):
        for words in commands(span):
            # In a sentence an option may stand for itself.
            shown.append([*words, "VALUE"] if words[-1].startswith("--") else words)
    assert [(words, wrong) for words in shown if (wrong := parsed(words))] == []


@pytest.mark.parametrize("page", DOCUMENTS, ids=named)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    name = named(page)
    for snippet in snippets(page):
        if snippet.is_typed and snippet.reason is None and snippet.runner is None:
            is_python = snippet.kind in ("python", "pycon")
            run = name in ELSEWHERE and (is_python or name == "docs/analyst.md")
            assert run or name in WALKED or name in HERE, f"{name}:{snippet.line} is not run"


def every_block() -> list[Snippet]:
    return [snippet for page in DOCUMENTS for snippet in snippets(page)]


def test_a_test_that_is_said_to_run_a_block_is_there_and_reads_its_page() -> None:
    for snippet in every_block():
        assert snippet.runner or not snippet.note.startswith("run by:"), snippet
        if snippet.runner is not None:
            text = snippet.runner.read_text(encoding="utf-8")
            assert f'"{snippet.page}"' in text, f"{snippet.page}:{snippet.line}"


def test_what_a_reason_names_is_there() -> None:
    for snippet in every_block():
        for name in re.findall(r"\b(?:tests|examples|benchmarks)/[\w/.]*\w", snippet.note):
            assert (ROOT / name).exists(), f"{snippet.page}:{snippet.line} names {name}"


def test_what_is_not_run_is_known() -> None:
    unrun = Counter(each.page for each in every_block() if each.is_typed and each.reason)
    assert unrun == UNRUN


def test_every_command_of_the_clone_that_is_shown_exists() -> None:
    known = re.findall(r'^    "(\w+)": \w+,$', (ROOT / "dev.py").read_text("utf-8"), re.M)
    assert "release" in known
    shown = re.findall(r"python3 dev\.py (\w+)", "".join(each.text for each in every_block()))
    assert set(shown) - set(known) == set()


@pytest.mark.parametrize("module", sorted(set(ELSEWHERE.values())))
def test_the_tests_that_run_them_are_there(module: str) -> None:
    text = (ROOT / "tests" / module).read_text(encoding="utf-8")
    pages = [page for page, by in ELSEWHERE.items() if by == module]
    assert all(Path(page).name in text or "docstring" in text for page in pages)


def run(snippet: Snippet, names: dict[str, object]) -> None:
    if snippet.kind == "python":
        code = compile(snippet.text, f"{snippet.page}:{snippet.line}", "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
        return
    assert snippet.kind in TYPED, f"nobody runs {snippet.kind}"
    for words in commands(snippet.text):
        # What an earlier line of a page wrote may be written again.
        again = ["--overwrite"] if "--out" in words and can_overwrite(words) else []
        done = CliRunner().invoke(main, [*words, *again])
        assert done.exit_code == 0, (snippet.page, words, done.output)


def can_overwrite(words: list[str]) -> bool:
    return parsed([*words, "--overwrite"]) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", HERE)
def test_the_blocks_of_a_page_run_in_their_order(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOMADP_HOME", str(tmp_path / "home"))
    names: dict[str, object] = {}
    ran = 0
    for snippet in snippets(ROOT / name):
        elsewhere = name in ELSEWHERE and snippet.kind == "python"
        left = snippet.reason is not None or snippet.runner is not None or elsewhere
        if snippet.is_typed and not left:
            make_files(tmp_path)  # each block finds its inputs, whatever another wrote
            run(snippet, names)
            ran += 1
    assert ran
