"""``nomadp codebook``: the public book of journeys as a file with a hash."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nomadp.cli.files import out_option
from nomadp.cli.options import EXISTING, ManyNumbers, Whole, file_option, locations_option
from nomadp.cli.output import Answer, json_option, print_table, progress_bar, say

if TYPE_CHECKING:
    from nomadp.mechanisms.atlas import PinnedCodebooks

__all__ = ["codebook"]

VERDICTS = {
    True: "building it again gives the same journeys",
    False: "NOT what its recipe gives here: as private, but nobody knows how useful",
    None: "its recipe is unknown to this version, so it was not built again",
}


@click.group()
def codebook() -> None:
    """Build and check the public book of journeys that reports of atlas are drawn from.

    Nobody needs the file: a client builds the same book from the location set and epsilon. It
    is for tasks that pin their mechanism by a hash, and for clients that do not want to build.
    A mechanism that is given one (--codebook FILE) has its hash in its identity and in its
    reports. Another atlas can cost utility, never privacy. Both commands take --json.

    \b
    Example:
      nomadp codebook build --locations places.csv --epsilon 4 --length 3 4 5 \\
        --out atlas.parquet
      nomadp codebook show atlas.parquet --locations places.csv
      nomadp perturb trips.csv --locations places.csv --codebook atlas.parquet --epsilon 4 \\
        --out reports.csv
    """


@codebook.command(
    cls=ManyNumbers,
    short_help="The atlas of a location set, as one file to pin and to hand out.",
)
@locations_option
@click.option("--epsilon", required=True, metavar="E", help="Budget of a whole trajectory.")
@click.option(
    "--length",
    "lengths",
    type=Whole(1, 64),
    multiple=True,
    required=True,
    metavar="N...",
    help="Numbers of points; a trajectory of more than 8 uses the atlas of its control points.",
)
@click.option(
    "--size",
    type=Whole(1, 4096),
    metavar="K",
    help="Journeys of each length; by default the fewest that are good enough.",
)
@out_option("The atlas: .parquet.", ".parquet")
@json_option
def build(
    *, locations: Path, epsilon: str, lengths: tuple[int, ...], size: int | None, out: Path
) -> Answer:
    """Write the atlas of some lengths; it depends on the location set and epsilon alone.

    \b
    Example:
      nomadp codebook build --locations places.csv --epsilon 4 --length 1 2 3 4 5 6 7 8 \\
        --out atlas.parquet
    """
    from nomadp.budget import as_epsilon
    from nomadp.formats.codebook_files import described, write_atlas
    from nomadp.formats.location_files import read_locations
    from nomadp.mechanisms.atlas import build_pinned, design

    budget, world = as_epsilon(epsilon), read_locations(locations)
    with progress_bar("making journeys", len(set(lengths))) as bar:
        for length in sorted(set(lengths)):
            design(world, length, budget, size)
            bar.advance(1)
    pinned = build_pinned(world, lengths, budget, size)
    write_atlas(out, pinned)
    several = ", ".join(map(str, pinned.lengths))
    count = sum(len(table.codewords) for table in pinned.tables)
    return Answer(
        {"out": str(out), **described(pinned)},
        f"{count} journeys of length {several}: {out}\nsha256 {pinned.sha256}",
    )


@codebook.command(
    short_help="What an atlas file holds, and whether it is what it claims to be."
)
@click.argument("file", type=EXISTING)
@file_option(
    "--locations",
    "The location set it must belong to; then it is also built again and compared.",
)
@json_option
def show(*, file: Path, locations: Path | None) -> Answer:
    """Describe an atlas file after checking its hashes.

    Exit 2 if its content or its location set is not the one it was pinned with, 1 if its own
    recipe gives other journeys.

    \b
    Example:
      nomadp codebook show atlas.parquet --locations places.csv
    """
    from nomadp.formats.codebook_files import described, read_atlas
    from nomadp.formats.location_files import read_locations
    from nomadp.mechanisms.atlas.lloyd import follows_its_recipe

    if locations is None:
        pinned, checked = read_atlas(file), None
        told, verdict = {}, ""
    else:
        world = read_locations(locations)
        pinned = read_atlas(file, world)
        checked = follows_its_recipe(pinned, world)
        told, verdict = (
            {"follows_recipe": checked},
            f"recipe {pinned.recipe}: {VERDICTS[checked]}",
        )
    return Answer(
        {"file": str(file), **described(pinned), **told},
        lambda: _print(pinned, verdict),
        checked is not False,
    )


def _print(pinned: "PinnedCodebooks", verdict: str) -> None:
    say(f"sha256        {pinned.sha256}")
    say(f"location set  {pinned.location_set_sha256}")
    say(f"epsilon       {pinned.epsilon}")
    say(f"recipe        {pinned.recipe}, {_asked(pinned.size)}\n")
    print_table(
        ["length", "journeys", "near", "error in km"],
        [
            [
                str(table.codewords.shape[1]),
                str(len(table.codewords)),
                str(table.near_count),
                f"{table.error_km:.3g}",
            ]
            for table in pinned.tables
        ],
    )
    say()
    if verdict:
        say(verdict)


def _asked(size: int | None) -> str:
    return "of the size it found good enough" if size is None else f"up to {size} journeys"
