"""``nomadp atlas``: the public book of journeys as a file with a hash."""

import click

from nomadp.cli.modules import CommandModules

__all__ = ["atlas"]

COMMANDS = {
    "build": "The atlas of a location set, as one file to pin and to hand out.",
    "show": "What an atlas file holds, and whether it is what it claims to be.",
}
"""Each is the module nomadp.cli.atlas_NAME, with a command of its name."""


class AtlasCommands(CommandModules):
    summaries = COMMANDS
    modules = "nomadp.cli.atlas_{}"


@click.group(cls=AtlasCommands)
def atlas() -> None:
    """Build and check the public book of journeys that reports of atlas are drawn from.

    Nobody needs the file: a client builds the same book from the location set. It is for tasks
    that pin their mechanism by a hash, and for clients that do not want to build. A mechanism
    that is given one (--atlas FILE) has its hash in its identity and in its reports. Another
    atlas can cost utility, never privacy. Both commands take --json.

    \b
    Example:
      nomadp atlas build --locations places.csv --length 3 4 5 --out atlas.parquet
      nomadp atlas show atlas.parquet --locations places.csv
      nomadp perturb trips.csv --locations places.csv --atlas atlas.parquet --epsilon 4 \\
        --out reports.csv
    """
