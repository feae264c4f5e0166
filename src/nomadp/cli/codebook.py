"""``nomadp codebook``: the public codebook of ATLAS as a file with a hash."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nomadp.cli.file_options import out_option
from nomadp.cli.options import (
    PARAMETERS,
    PATH,
    ManyNumbers,
    Whole,
    file_option,
    locations_option,
)
from nomadp.cli.output import Result, json_option, print_table, progress_bar, say

if TYPE_CHECKING:
    from nomadp.mechanisms.atlas import PinnedCodebooks

__all__ = ["codebook"]

VERDICTS = {
    True: "building it again gives the same codewords",
    False: "building it again gives DIFFERENT codewords: as private, but of unknown utility",
    None: "this version does not know the recipe and could not build it again",
}


@click.group()
def codebook() -> None:
    """Build and check the public codebook that ATLAS draws its reports from.

    The file is optional: a client builds the same codebook from the location set and epsilon.
    Use a file for tasks that pin their mechanism by a hash, and for clients that should not
    build the codebook themselves. With --codebook FILE, the identity of the mechanism and its
    reports contain the hash of the file. A different codebook can reduce utility, but never
    privacy. Both commands take --json.

    \b
    Example:
      nomadp codebook build --locations places.csv --epsilon 4 --length 3 4 5 \\
        --out codebook.parquet
      nomadp codebook show codebook.parquet --locations places.csv
      nomadp perturb trips.csv --locations places.csv --codebook codebook.parquet --epsilon 4 \\
        --out reports.csv
    """


@codebook.command(
    cls=ManyNumbers,
    short_help="Write the codebook of a location set to a file.",
)
@locations_option
@click.option(
    "--epsilon", required=True, metavar="E", help="Privacy budget of a whole trajectory."
)
@click.option(
    "--length",
    "lengths",
    type=Whole(1, 64),
    multiple=True,
    required=True,
    metavar="N...",
    help="Numbers of points of a trajectory; above 8, its control points are encoded.",
)
@click.option(
    "--size",
    type=PARAMETERS["size"].kind,
    metavar="K",
    help="Maximum number of codewords per length (default: chosen by utility).",
)
@out_option("The codebook: .parquet.", ".parquet")
@json_option
def build(
    *, locations: Path, epsilon: str, lengths: tuple[int, ...], size: int | None, out: Path
) -> Result:
    """Write the codebook for trajectories of these lengths.

    It depends only on the location set, epsilon, the lengths and --size.

    \b
    Example:
      nomadp codebook build --locations places.csv --epsilon 4 --length 1 2 3 4 5 6 7 8 \\
        --out codebook.parquet
    """
    from nomadp.budget import as_epsilon
    from nomadp.formats.codebook_files import codebook_description, write_codebooks
    from nomadp.formats.location_files import read_locations
    from nomadp.mechanisms.atlas import build_pinned, design

    budget, world = as_epsilon(epsilon), read_locations(locations)
    with progress_bar("building the codebook", len(set(lengths))) as bar:
        for length in sorted(set(lengths)):
            design(world, length, budget, size)
            bar.advance(1)
    pinned = build_pinned(world, lengths, budget, size)
    write_codebooks(out, pinned)
    lengths_text = ", ".join(map(str, pinned.lengths))
    count = sum(len(table.codewords) for table in pinned.tables)
    return Result(
        {"out": str(out), **codebook_description(pinned)},
        f"{count} codewords of length {lengths_text}: {out}\nsha256 {pinned.sha256}",
    )


@codebook.command(short_help="Describe and verify a codebook file.")
@click.argument("file", type=PATH)
@file_option(
    "--locations",
    "Location set of the codebook; the codebook is then built again and compared.",
)
@json_option
def show(*, file: Path, locations: Path | None) -> Result:
    """Describe a codebook file after checking its hashes.

    Exits with 2 if the content or the location set does not match its hash, and with 1 if the
    recipe gives different codewords.

    \b
    Example:
      nomadp codebook show codebook.parquet --locations places.csv
    """
    from nomadp.formats.codebook_files import codebook_description, read_codebooks
    from nomadp.formats.location_files import read_locations
    from nomadp.mechanisms.atlas.lloyd import follows_its_recipe

    if locations is None:
        pinned, checked = read_codebooks(file), None
        facts, verdict = {}, ""
    else:
        world = read_locations(locations)
        pinned = read_codebooks(file, world)
        checked = follows_its_recipe(pinned, world)
        facts, verdict = (
            {"follows_recipe": checked},
            f"recipe {pinned.recipe}: {VERDICTS[checked]}",
        )
    return Result(
        {"file": str(file), **codebook_description(pinned), **facts},
        lambda: _print(pinned, verdict),
        checked is not False,
    )


def _print(pinned: "PinnedCodebooks", verdict: str) -> None:
    say(f"sha256        {pinned.sha256}")
    say(f"location set  {pinned.location_set_sha256}")
    say(f"epsilon       {pinned.epsilon}")
    say(f"recipe        {pinned.recipe}, {_size_text(pinned.size)}\n")
    print_table(
        ["length", "codewords", "k nearest", "error km"],
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


def _size_text(size: int | None) -> str:
    return "size chosen by utility" if size is None else f"up to {size} codewords"
