"""Options several commands share: numbers after one option, and choices left alone."""

from dataclasses import fields

import click
import pytest
from click.testing import CliRunner

from nomadp.cli import main
from nomadp.cli.options import VARIANTS, ManyNumbers, chosen_options
from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS, PUBLISHED


@click.command(cls=ManyNumbers)
@click.argument("files", nargs=-1)
@click.option("--epsilon", multiple=True)
@click.option("--length", type=int, multiple=True)
@click.option("--seed", type=int)
def command(**options: object) -> None:
    click.echo(repr(tuple(options[name] for name in ("epsilon", "length", "seed", "files"))))


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        ("--epsilon 1 2 4", (("1", "2", "4"), (), None, ())),
        ("--epsilon 1/3 .5 1e-2 --length 1 2", (("1/3", ".5", "1e-2"), (1, 2), None, ())),
        ("a.csv --epsilon -1 nan b.csv", (("-1", "nan"), (), None, ("a.csv", "b.csv"))),
        ("--epsilon 1 --seed 3 4", (("1",), (), 3, ("4",))),
        ("--epsilon=1 2", (("1",), (), None, ("2",))),
        ("--epsilon", None),
    ],
)
def test_a_repeatable_option_takes_the_numbers_that_follow_it(
    arguments: str, parsed: tuple[object, ...] | None
) -> None:
    result = CliRunner().invoke(command, arguments.split())
    assert result.output == f"{parsed!r}\n" if parsed else result.exit_code == 2


def test_only_what_was_asked_for_is_passed_on() -> None:
    assert chosen_options({"granularity": None, "merge": "coin", "other": 1}) == {
        "merge": "coin"
    }
    assert chosen_options({"granularity": "12"}) == {"granularity": 12}
    assert chosen_options({"granularity": "table"}) == {"granularity": "table"}


@pytest.mark.parametrize("command", ["perturb", "decode", "explain"])
def test_the_help_lists_every_mechanism_that_is_registered(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MECHANISMS, "theirs", MECHANISMS["exp"])
    text = "".join(CliRunner().invoke(main, [command, "--help"]).stdout.split())
    others = ",".join([*EXPERIMENTAL, *PUBLISHED])
    assert "Oneofatlas,exp,tp" in text  # lines are broken anywhere
    assert f"theirs;forexperimentsonly:{others}." in text


def test_the_options_are_those_of_the_mechanisms() -> None:
    kinds = {**MECHANISMS, **PUBLISHED, **EXPERIMENTAL}.values()
    options = {field.name for kind in kinds for field in fields(kind)}
    left_to_the_api = {"locations", "epsilon", "resolution"}
    assert VARIANTS.keys() == options - left_to_the_api
