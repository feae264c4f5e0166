"""``nomadp data nest``: one row per trajectory, the layout that is streamed."""

from pathlib import Path

import click

from nomadp.cli.options import EXISTING
from nomadp.cli.out import out_option
from nomadp.cli.output import Answer, json_option

__all__ = ["nest"]


@click.command()
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
    from nomadp.formats.nesting import nest_file

    count = nest_file(source, out)
    found = {"trajectories": count, "out": str(out)}
    return Answer(found, f"{count} trajectories, one row each: {out}")
