"""Tables that commands print."""

import re
from pathlib import Path

import pytest

from nomadp.cli import output
from nomadp.cli.exit_codes import report_failure
from nomadp.cli.output import print_table, say
from nomadp.errors import UploadFailed


@pytest.mark.parametrize("number", ["12", "0.35", "1/2", "3e-05", "1,849", "18.4 %", "1.3x"])
def test_numbers_stand_on_the_right(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["a long header"], [[number]])
    assert capsys.readouterr().out.splitlines()[1] == number.rjust(13)


@pytest.mark.parametrize("first", "aZ4-_")
def test_an_id_stands_on_the_left_whatever_it_begins_with(
    first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_table(["task"], [[first + "OSfVu2KDfVL6hY1jCwc0wXRmQUTp73TtK3rLpkQPvU"]])
    assert capsys.readouterr().out.startswith("task\n")


STEERING = "\x1b]0;title\x07\u202e"
ESCAPED = "\\x1b]0;title\\x07\\u202e"


def test_text_of_others_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"said by a collector: {STEERING}\n  and more")
    assert capsys.readouterr().out == f"said by a collector: {ESCAPED}\n  and more\n"


def test_cells_cannot_steer_a_terminal_or_add_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["zone", "share"], [[f"a{STEERING}\nb 0.9", "0.1"]])
    header, row = capsys.readouterr().out.splitlines()
    assert row == f"a{ESCAPED}\\nb 0.9    0.1"
    assert len(header) == len(row)


def test_a_failure_is_one_line_whatever_was_replied(capsys: pytest.CaptureFixture[str]) -> None:
    report_failure(UploadFailed(f"it replied {STEERING}\nnomadp: done"), as_json=False)
    assert capsys.readouterr().err == f"nomadp: it replied {ESCAPED}\\nnomadp: done [upload]\n"


def test_whatever_a_command_says_is_escaped() -> None:
    """Nothing is printed past `say`, but for the bar that clears its own line."""
    folder = Path(output.__file__).parent
    past = re.compile(r"click\.s?echo\(|\bprint\(|std(?:out|err)\.write\(")
    counts = {path.name: len(past.findall(path.read_text())) for path in folder.glob("*.py")}
    assert {name: count for name, count in counts.items() if count} == {"output.py": 2}
