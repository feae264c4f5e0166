"""``nomadp atlas show``: what an atlas file holds, and whether it is what it claims to be."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import EXISTING, json_option
from nomadp.cli.output import print_json, print_table

if TYPE_CHECKING:
    from nomadp.mechanisms.atlas import PinnedAtlases

__all__ = ["described", "show"]

VERDICTS = {
    True: "building it again gives the same journeys",
    False: "NOT what its recipe gives here: as private, but nobody knows how useful",
    None: "its recipe is unknown to this version, so it was not built again",
}


@click.command()
@click.argument("file", type=EXISTING)
@click.option(
    "--locations",
    type=EXISTING,
    metavar="FILE",
    help="The location set it must belong to; then it is also built again and compared.",
)
@json_option
@click.pass_context
def show(
    context: click.Context, /, *, file: Path, locations: Path | None, as_json: bool
) -> None:
    """Describe an atlas file after checking its hashes.

    Exit 2 if its content or its location set is not the one it was pinned with, 1 if its own
    recipe gives other journeys.

    \b
    Example:
      nomadp atlas show atlas.parquet --locations places.csv
    """
    from nomadp.formats.atlas_files import read_atlas
    from nomadp.formats.tables import read_locations
    from nomadp.mechanisms.atlas.pinned import follows_its_recipe

    told: dict[str, Any]
    if locations is None:
        pinned, checked = read_atlas(file), None
        told = described(pinned)
    else:
        world = read_locations(locations)
        pinned = read_atlas(file, world)
        checked = follows_its_recipe(pinned, world)
        told = {**described(pinned), "follows_recipe": checked}
    if as_json:
        print_json({"file": str(file), **told})
    else:
        _print(pinned)
        if locations is not None:
            click.echo(f"recipe {pinned.recipe}: {VERDICTS[checked]}")
    if checked is False:
        context.exit(1)


def described(pinned: "PinnedAtlases") -> dict[str, Any]:
    """All that is to be said about it, for --json."""
    return {
        "sha256": pinned.sha256,
        "recipe": pinned.recipe,
        "size": pinned.size,
        "location_set_sha256": pinned.location_set_sha256,
        "atlases": [
            {"length": length, "journeys": len(page), "sha256": pinned.page_sha256[length]}
            for length, page in zip(pinned.lengths, pinned.pages, strict=True)
        ],
    }


def _print(pinned: "PinnedAtlases") -> None:
    click.echo(f"sha256        {pinned.sha256}")
    click.echo(f"location set  {pinned.location_set_sha256}")
    click.echo(f"recipe        {pinned.recipe}, {pinned.size} journeys of each length\n")
    print_table(
        ["length", "journeys", "sha256"],
        [
            [str(length), str(len(page)), pinned.page_sha256[length]]
            for length, page in zip(pinned.lengths, pinned.pages, strict=True)
        ],
    )
    click.echo()
