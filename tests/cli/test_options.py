"""Options several commands share: numbers after one option, and choices left alone."""

from dataclasses import fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from worlds import scattered

from nomadp.cli import main
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.file_options import reading_of
from nomadp.cli.options import (
    DEFAULT_MECHANISM,
    PARAMETERS,
    ManyNumbers,
    chosen_options,
    parameter_option,
)
from nomadp.formats.json_files import feature, write_features
from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS, PUBLISHED
from nomadp.zones import zones_of


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


@pytest.mark.parametrize("command", ["perturb", "decode", "explain", "plan"])
def test_the_help_lists_every_mechanism_that_is_registered(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MECHANISMS, "theirs", MECHANISMS["exp"])
    text = "".join(CliRunner().invoke(main, [command, "--help"]).stdout.split())
    # Lines are broken anywhere.
    first = dict.fromkeys((DEFAULT_MECHANISM, *MECHANISMS))
    for names in (first, (*EXPERIMENTAL, *PUBLISHED)):
        assert ",".join(names) in text


def test_the_options_are_those_of_the_mechanisms() -> None:
    kinds = {**MECHANISMS, **PUBLISHED, **EXPERIMENTAL}.values()
    options = {field.name for kind in kinds for field in fields(kind)}
    left_to_the_api = {"locations", "epsilon", "resolution"}
    assert PARAMETERS.keys() == options - left_to_the_api


def test_zones_are_those_of_the_map_that_is_given(tmp_path: Path) -> None:
    world = scattered(30)
    by_rule = chosen_options({"zones": "grid:3", "when": "weekday"}, world)
    assert by_rule == {"zones": zones_of(world, "grid:3"), "when": "weekday"}
    assert chosen_options({"zones": "grid:3"}) == {"zones": "grid:3"}
    west = [[-88, 41], [-87.5, 41], [-87.5, 42], [-88, 42], [-88, 41]]
    file = tmp_path / "areas.geojson"
    write_features(file, [feature("Polygon", [west], name="west")])
    assert chosen_options({"zones": file}, world)["zones"].names == ("west", "elsewhere")


def test_polygons_without_a_map_are_refused() -> None:
    with pytest.raises(BadUsage) as caught:
        chosen_options({"zones": Path("areas.geojson")})
    assert caught.value.code == "option_missing"
    assert "--locations" in caught.value.message


@pytest.mark.parametrize(("when", "asked"), [(None, False), ("day-part", True)])
def test_hours_are_read_only_where_somebody_asks_when(when: str | None, *, asked: bool) -> None:
    said = {
        "time_zone": None,
        "columns": (),
        "from_preset": "nomadp",
        "split_hours": None,
        "raw_signals": False,
        "stops": False,
        **dict.fromkeys(("stop_radius_m", "stop_minutes", "thin_every_s", "thin_points")),
    }
    assert reading_of({**said, "when": when}).options.hours is asked
    assert reading_of(said).options.hours is False


@click.command()
@parameter_option("zones", required=True)
def asking(zones: object) -> None:
    click.echo(repr(zones))


@pytest.mark.parametrize("said", ["grid:16", "h3:8", "areas.geojson"])
def test_zones_are_a_rule_or_a_file(said: str) -> None:
    expected = repr(Path(said) if "." in said else said)
    assert CliRunner().invoke(asking, ["--zones", said]).output == f"{expected}\n"


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_option_takes_the_numbers_that_mechanisms_take(name: str) -> None:
    kind = PARAMETERS[name].kind
    ranges = [each.ranges[name] for each in MECHANISMS.values() if name in each.ranges]
    if isinstance(kind, click.IntRange):
        assert (kind.min, kind.max) == (
            min(low for low, _ in ranges),
            max(h for _, h in ranges),
        )
