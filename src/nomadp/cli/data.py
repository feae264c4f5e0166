"""``nomadp data``: data sets built, described and converted."""

from pathlib import Path

import click

from nomadp.cli.files import out_option
from nomadp.cli.group import CommandModules
from nomadp.cli.options import EXISTING
from nomadp.cli.output import Answer, json_option

__all__ = ["data"]

COMMANDS = {
    "build": "A data set in a folder: city, campus, foursquare or gowalla.",
    "describe": "Counts, lengths and intervals of tracks; steps and visits of a set.",
    "convert": "Any file of trajectories into another, or snapped into a folder.",
    "locations": "A location set from a box, H3 cells, zones or public points.",
    "nest": "Parquet with one row per trajectory, which perturb streams.",
}
"""Each is here, or in the module nomadp.cli.data_NAME with a command of its name."""


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
