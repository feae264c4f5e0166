"""``nomadp data``: data sets built, described and converted."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.files import out_option
from nomadp.cli.group import CommandModules
from nomadp.cli.options import EXISTING, file_option
from nomadp.cli.output import Answer, json_option, print_table

if TYPE_CHECKING:
    from nomadp.datasets.statistics import Description

__all__ = ["data"]

COMMANDS = {
    "build": "A data set in a folder: city, campus, foursquare or gowalla.",
    "describe": "Steps, visits, lengths and extents, of one set or of two.",
    "convert": "Any file of trajectories into another, or snapped into a folder.",
    "nest": "Parquet with one row per trajectory, which perturb streams.",
}
"""Each is here, or in the module nomadp.cli.data_NAME with a command of its name."""

SECTIONS = {
    "step": "step length / diameter",
    "gyration": "radius of gyration / diameter",
    "top_visits": "share of visits at the most visited",
    "length": "share of trajectories by length",
}


@click.group(cls=CommandModules, summaries=COMMANDS, modules="nomadp.cli.data_{}")
def data() -> None:
    """Build data sets from downloads or from nothing, describe them, and convert files.

    A data set is a folder with locations.csv, trajectories.csv and recipe.json. What these
    commands read and write is true data: nothing of it is private yet. All take --json.

    \b
    Example:
      nomadp data build city --out city
      nomadp data build foursquare dataset_TSMC2014_NYC.txt --preset nyc --out nyc
      nomadp data describe city --compare nyc
      nomadp data convert trips.gpx --out trips.parquet
    """


@data.command()
@click.argument("source", metavar="POINTS", type=EXISTING)
@out_option("Trajectories: .parquet.", ".parquet")
@json_option
def nest(*, source: Path, out: Path) -> Answer:
    """Parquet with one row per point (tid, seq, location_id) to one row per trajectory.

    POINTS must be sorted by tid and seq; a tid that comes back later is refused. A uid is kept
    beside its trajectories. Memory does not grow with the file but for 8 bytes a trajectory,
    and neither does that of `nomadp perturb` on the result.

    \b
    Example:
      nomadp data nest points.parquet --out trips.parquet
      nomadp perturb trips.parquet --locations places.csv --epsilon 4 --out reports.parquet
    """
    from nomadp.formats.nested_files import nest_file

    count = nest_file(source, out)
    found = {"trajectories": count, "out": str(out)}
    return Answer(found, f"{count} trajectories, one row each: {out}")


@data.command()
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
