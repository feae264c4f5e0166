"""``nomadp atlas build``: a location set in, its public book of journeys out."""

from pathlib import Path

import click

from nomadp.cli.options import ManyNumbers, Whole, json_option, locations_option
from nomadp.cli.out import out_option
from nomadp.cli.output import print_json
from nomadp.cli.progress import progress_bar

__all__ = ["build"]


@click.command(cls=ManyNumbers)
@locations_option
@click.option(
    "--length",
    "lengths",
    type=Whole(1, 64),
    multiple=True,
    required=True,
    metavar="N...",
    help="Numbers of points; beyond 8 a trajectory uses the atlas of its 8 control points.",
)
@click.option(
    "--size",
    type=Whole(1, 1_000_000),
    default=8192,
    show_default=True,
    metavar="K",
    help="Journeys of each length.",
)
@out_option("The atlas: .parquet.", ".parquet")
@json_option
def build(
    *, locations: Path, lengths: tuple[int, ...], size: int, out: Path, as_json: bool
) -> None:
    """Write the atlas of some lengths; it depends on the location set and nothing else.

    \b
    Example:
      nomadp atlas build --locations places.csv --length 1 2 3 4 5 6 7 8 --out atlas.parquet
    """
    from nomadp.cli.atlas_show import described
    from nomadp.formats.atlas_files import write_atlas
    from nomadp.formats.tables import read_locations
    from nomadp.mechanisms.atlas import build_pinned

    world = read_locations(locations)
    with progress_bar("drawing journeys", len(set(lengths))) as bar:
        pinned = build_pinned(world, lengths, size, bar.advance)
    write_atlas(out, pinned)
    if as_json:
        print_json({"out": str(out), **described(pinned)})
        return
    several = ", ".join(map(str, pinned.lengths))
    click.echo(f"{sum(map(len, pinned.pages))} journeys of length {several}: {out}")
    click.echo(f"sha256 {pinned.sha256}")
