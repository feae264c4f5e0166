"""``nomadp data``: data sets built, described and converted."""

import click

from nomadp.cli.group import CommandModules

__all__ = ["data"]

COMMANDS = {
    "build": "A data set in a folder: city, campus, foursquare or gowalla.",
    "describe": "Steps, visits, lengths and extents, of one set or of two.",
    "convert": "Any file of trajectories into another, or snapped into a folder.",
    "nest": "Parquet with one row per trajectory, which perturb streams.",
}
"""Each is the module nomadp.cli.data_NAME, with a command of its name."""


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
