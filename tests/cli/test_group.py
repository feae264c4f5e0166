"""The ``nomadp`` command itself: quick, light, and each command with an example."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from limits import on_this_machine
from refusals import printed_code

import nomadp
from nomadp.cli.group import COMMANDS, ROLES
from tests.cli.conftest import Run

HEAVY = ("numpy", "scipy", "pyarrow", "rich", "cryptography", "importlib.metadata")


def in_a_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )


def test_help_answers_within_a_fifth_of_a_second() -> None:
    def seconds() -> float:
        before = os.times()
        assert in_a_process("-m", "nomadp", "--help").returncode == 0
        after = os.times()
        user_s = after.children_user - before.children_user
        return user_s + after.children_system - before.children_system

    # Of its own, and the quickest: what else the machine is doing is not what is tested.
    assert min(seconds() for _ in range(4)) < on_this_machine(0.2)


LISTING = ("perturb", "decode", "explain", "plan")
"""Name mechanisms, which only their registry knows."""

HELPED = f"""
import contextlib, io, sys
from nomadp.cli import main
for arguments in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()):
        try: main(arguments.split())
        except SystemExit as stopped: assert not stopped.code
    print(arguments, [name for name in {HEAVY} if name in sys.modules], sep="|")
"""


def heavy_after(*asked: str) -> dict[str, set[str]]:
    """What one process has loaded after it was asked for each of these."""
    done = in_a_process("-c", HELPED, *asked)
    assert done.returncode == 0, done.stderr
    told = (line.split("|") for line in done.stdout.splitlines())
    return {arguments: set(ast.literal_eval(names)) for arguments, names in told}


def test_help_imports_nothing_heavy() -> None:
    others = (f"{command} --help" for command in COMMANDS if command not in LISTING)
    loaded = heavy_after("--help", "--version", *others)
    assert len(loaded) == 2 + len(COMMANDS) - len(LISTING)
    assert {asked for asked, names in loaded.items() if names} == set()


def test_help_that_lists_mechanisms_imports_what_they_need() -> None:
    loaded = heavy_after(*(f"{command} --help" for command in LISTING))
    assert set.union(*loaded.values()) <= {"numpy", "cryptography", "importlib.metadata"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example_and_offers_json(command: str, run: Run) -> None:
    text = run(command, "--help").stdout
    assert f"Example:\n    nomadp {command}" in text
    assert "--json" in text


def test_help_lists_every_command(run: Run) -> None:
    text = run("--help").stdout
    for command, summary in COMMANDS.items():
        assert f"{command} " in text
        assert summary in text


def test_help_groups_commands_by_role(run: Run) -> None:
    lines = run("--help").stdout.splitlines()
    headings = [lines.index(f"{role}:") for role in ROLES]
    assert headings == sorted(headings)
    for role, commands in ROLES.items():
        first = lines.index(f"{role}:") + 1
        shown = [line.split()[0] for line in lines[first : first + len(commands)]]
        assert shown == list(commands)


def test_tells_its_version(run: Run) -> None:
    assert run("--version").stdout == f"nomadp {nomadp.__version__}\n"


def test_a_refusal_in_a_real_process_is_one_line_and_exit_code_2(
    tmp_path: Path,
) -> None:
    done = in_a_process(
        *("-m", "nomadp", "perturb", "none.csv", "--locations", "none.csv", "--epsilon", "4"),
        *("--out", str(tmp_path / "reports.csv")),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert printed_code(done.stderr) == "file_unreadable"
    assert "none.csv" in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_a_command_shows_the_help_and_exit_code_2(run: Run) -> None:
    result = run()
    assert result.exit_code == 2
    assert [name for name in COMMANDS if f"\n  {name} " not in result.stderr] == []
