"""Every block of code in the documents is run, or says why it is not; every option exists."""

import contextlib
import io
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
    "docs/reference/python.md": "test_examples.py",
}
"""Pages whose Python other tests run, and all of the analyst's."""
WALKED = {named(page) for page in (*PAGES, *GUIDES)}
"""Tutorials and guides, by test_tutorials.py."""
HERE = ("docs/index.md", "docs/answers.md", "docs/data.md", "docs/scale.md")
TYPED = ("", "bash", "console", "sh")


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
        if snippet.is_typed and snippet.reason is None:
            is_python = snippet.kind in ("python", "pycon")
            run = name in ELSEWHERE and (is_python or name == "docs/analyst.md")
            assert run or name in WALKED or name in HERE, f"{name}:{snippet.line} is not run"


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
        if snippet.is_typed and snippet.reason is None and not elsewhere:
            make_files(tmp_path)  # each block finds its inputs, whatever another wrote
            run(snippet, names)
            ran += 1
    assert ran
