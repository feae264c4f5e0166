"""``nomadp data describe``: what a set of trajectories looks like, alone or beside another."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import EXISTING, file_option
from nomadp.cli.output import Answer, json_option, print_table

if TYPE_CHECKING:
    from nomadp.datasets.statistics import Description

__all__ = ["describe"]

SECTIONS = {
    "step": "step length / diameter",
    "gyration": "radius of gyration / diameter",
    "top_visits": "share of visits at the most visited",
    "length": "share of trajectories by length",
}


@click.command()
@click.argument("source", metavar="DATA", type=EXISTING)
@file_option(
    "--locations", "The location set, where DATA is a file of trajectories and not a folder."
)
@file_option(
    "--compare", "Another folder, or another file over the same locations, beside it.", "OTHER"
)
@json_option
def describe(*, source: Path, locations: Path | None, compare: Path | None) -> Answer:
    """Quantiles of steps and extents, visit skew and lengths of DATA.

    Lengths in km are divided by the largest distance between two places, so that cities of any
    size compare. These are the numbers of the true data; they are not private.

    \b
    Example:
      nomadp data describe city
      nomadp data describe city --compare nyc
      nomadp data describe trips.csv --locations places.csv --compare reports.csv
    """
    sets = {"data": (source, _described(source, locations))}
    if compare is not None:
        sets["other"] = (compare, _described(compare, locations))
    content = {
        name: {"source": str(path), **description.as_dict()}
        for name, (path, description) in sets.items()
    }
    names = [path.resolve().name for path, _ in sets.values()]
    rows = _rows([description for _, description in sets.values()])
    return Answer(content, lambda: print_table(["", *names], rows))


def _described(source: Path, locations: Path | None) -> "Description":
    from nomadp.datasets.built import read_built
    from nomadp.datasets.statistics import describe
    from nomadp.formats.tables import read_locations, read_trajectories

    if source.is_dir():
        return describe(*read_built(source))
    if locations is None:
        raise click.UsageError(f"{source} is not a folder, so it needs --locations FILE")
    world = read_locations(locations)
    return describe(world, read_trajectories(source, world)[0])


def _rows(descriptions: "list[Description]") -> list[list[str]]:
    rows = [
        [label, *(_cell(getattr(each, name), form) for each in descriptions)]
        for name, label, form in (
            ("places", "places", "d"),
            ("trajectories", "trajectories", "d"),
            ("points", "points", "d"),
            ("diameter_km", "diameter km", ".3f"),
            ("visited_share", "share of places visited", ".3f"),
            ("stay_share", "share of steps that stay", ".3f"),
        )
    ]
    for name, title in SECTIONS.items():
        rows.append([title, *("" for _ in descriptions)])
        found: list[dict[str, Any]] = [getattr(each, name) or {} for each in descriptions]
        for key in next((each for each in found if each), {}):
            rows.append([f"  {key}", *(_cell(each.get(key), ".4f") for each in found)])
    return rows


def _cell(value: Any, form: str) -> str:
    return "-" if value is None else format(value, form)
