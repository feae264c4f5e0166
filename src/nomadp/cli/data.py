"""``nomadp data``: builds, describes and converts data sets."""

from pathlib import Path

import click

from nomadp.cli.file_options import out_option
from nomadp.cli.group import CommandModules
from nomadp.cli.options import PATH
from nomadp.cli.output import Result, json_option

__all__ = ["data"]

COMMANDS = {
    "build": "Build a data set: city, campus, foursquare or gowalla.",
    "describe": "Print statistics of trajectories or of a data set.",
    "convert": "Convert files of trajectories, or snap them into a data set.",
    "locations": "Create a location set from a grid, H3 cells, zones or public points.",
    "nest": "Write Parquet with one row per trajectory, for streaming.",
}
"""Each is in this module, or in nomadp.cli.data_NAME."""


@click.group(cls=CommandModules, summaries=COMMANDS, modules="nomadp.cli.data_{}")
def data() -> None:
    """Build data sets from downloads or simulations, describe them, and convert files.

    A data set is a folder with locations.csv, trajectories.csv and recipe.json. These commands
    read and write original data, which is not private. All take --json.

    \b
    Example:
      nomadp data build city --out city
      nomadp data build foursquare dataset_TSMC2014_NYC.txt --preset nyc --out nyc
      nomadp data describe city --compare nyc
      nomadp data convert trips.gpx --out trips.parquet
    """


@data.command()
@click.argument("source", metavar="POINTS", type=PATH)
@out_option("Trajectories: .parquet.", ".parquet")
@json_option
def nest(*, source: Path, out: Path) -> Result:
    """Convert Parquet with one row per point (tid, seq, location_id) to one per trajectory.

    POINTS must be sorted by tid and seq; a tid that appears again later is refused. Uids are
    kept. The command needs 8 bytes of memory per trajectory, whatever the size of the file, and
    so does "nomadp perturb" on the result.

    \b
    Example:
      nomadp data nest points.parquet --out trips.parquet
      nomadp perturb trips.parquet --locations places.csv --epsilon 4 --out reports.parquet
    """
    from nomadp.formats.nested_files import nest_file

    count = nest_file(source, out)
    content = {"trajectories": count, "out": str(out)}
    return Result(content, f"{count} trajectories, one per row: {out}")
