"""``nomadp data build``: a data set in a folder, downloaded or simulated."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.file_options import out_option
from nomadp.cli.options import PATH, Whole, file_option, finite
from nomadp.cli.output import Result, json_option, print_table, progress_bar, say

if TYPE_CHECKING:
    from nomadp.datasets.built import BuiltData
    from nomadp.datasets.checkins import CheckInRecipe

__all__ = ["build", "print_counts"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

STAGE_LABELS = {
    "rows": "rows read",
    "malformed": "malformed rows, skipped",
    "points_read": "points read",
    "trajectories_read": "trajectories read",
    "outside_box": "outside the box",
    "places_found": "places found",
    "places_kept": "most visited places kept",
    "at_other_places": "points at other places",
    "at_other_coordinates": "points whose place had different coordinates earlier",
    "thinned": "points too soon after the previous one",
    "pieces": "pieces after splitting at gaps",
    "in_pieces_too_short": "points in pieces that are too short",
    "beyond_longest": "points beyond the longest length",
    "repeated_buildings": "repeated parts of buildings",
    "buildings": "buildings",
    "places": "places",
    "of_one_point": "trajectories with one point",
    "trajectories": "trajectories",
    "points": "points",
}
"""Labels of the counts of a recipe, in the order of the stages."""

COUNT = Whole(max=100_000_000)
folder_option = out_option("Folder to write.", or_folder=True)


def seed_option(help_text: str) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--seed", type=Whole(0), default=1, show_default=True, metavar="N", help=help_text
    )


def count_option(flag: str, default: int, help_text: str) -> Callable[[Decorated], Decorated]:
    return click.option(
        flag, type=COUNT, default=default, show_default=True, metavar="N", help=help_text
    )


@click.group()
def build() -> None:
    """Build a data set: locations.csv, trajectories.csv and recipe.json in a folder.

    The recipe contains every parameter, the counts of every stage, and the hashes of the input
    and the output. The same recipe on the same file gives the same output.

    \b
    Example:
      nomadp data build city --out city --places 1000 --trips 10000
      nomadp data build campus --out campus
      nomadp data build gowalla loc-gowalla_totalCheckins.txt.gz --preset chi --out chi
    """


@build.command(short_help="Simulate a city with trips that resemble check-ins.")
@folder_option
@count_option("--places", 1000, "Number of places.")
@count_option("--trips", 2000, "Number of trips.")
@seed_option("Seed of the city and the trips.")
@json_option
def city(*, out: Path, places: int, trips: int, seed: int) -> Result:
    """Simulate a city with trips that resemble check-in data. No real data is used.

    Its public districts are in districts.geojson, for --zones.

    \b
    Example:
      nomadp data build city --out city --places 1000 --trips 10000
    """
    from nomadp.datasets.city import build_city

    with progress_bar("simulating trips") as bar:
        built = build_city(seed, places=places, trips=trips, progress=bar.reach)
    return _write_data_set(out, built)


@build.command(short_help="Simulate walks on a campus (CPS in the paper).")
@folder_option
@file_option(
    "--buildings", "GeoJSON with BLDG_ID (default: a simulated campus of 262 buildings)."
)
@count_option("--walks", 4000, "Number of walks.")
@click.option(
    "--length",
    type=COUNT,
    metavar="L",
    help="Number of points of every walk (default: 3 to 8, equally likely).",
)
@click.option(
    "--speed-km-h",
    type=finite,
    default=4.0,
    show_default=True,
    metavar="V",
    help="Walking speed.",
)
@click.option("--no-speed-limit", is_flag=True, help="Allow steps of any length.")
@seed_option("Seed of the campus and the walks.")
@json_option
def campus(**options: Any) -> Result:
    """Simulate walks on a campus by the paper's recipe (CPS), with its parameters.

    \b
    Example:
      nomadp data build campus --out campus-fast --length 5 --speed-km-h 16
    """
    from nomadp.datasets.campus import build_campus

    built = build_campus(
        options["buildings"],
        count=options["walks"],
        lengths=(3, 8) if options["length"] is None else options["length"],
        speed_km_h=None if options["no_speed_limit"] else options["speed_km_h"],
        seed=options["seed"],
    )
    return _write_data_set(options["out"], built)


def checkin_options(command: Decorated) -> Decorated:
    """Options for both kinds of check-in files."""
    for option in (
        json_option,
        seed_option("Seed of the choice of one point per window."),
        click.option(
            "--longest",
            type=COUNT,
            metavar="L",
            help="Longest trajectory; further points are dropped.",
        ),
        click.option(
            "--gap-hours",
            type=finite,
            metavar="H",
            help="Split at gaps of more than H hours (default: 3).",
        ),
        click.option(
            "--window-minutes",
            type=finite,
            metavar="T",
            help="Keep one point per window of T minutes (default: 10).",
        ),
        click.option(
            "--places", type=COUNT, metavar="K", help="Keep the K most visited places."
        ),
        click.option("--box", metavar="W,S,E,N", help="Area in degrees (default: everywhere)."),
        click.option(
            "--preset", metavar="NAME", help="Data set of the paper: nyc, chi or cle."
        ),
        folder_option,
        click.argument("file", type=PATH),
    ):
        command = option(command)
    return command


@build.command(short_help="Build a data set from Foursquare check-ins (TSMC2014).")
@checkin_options
def foursquare(**options: Any) -> Result:
    """Build a data set from a TSMC2014 file (dataset_TSMC2014_NYC.txt or _TKY.txt, or .gz).

    \b
    Example:
      nomadp data build foursquare dataset_TSMC2014_NYC.txt --preset nyc --out nyc
    """
    return _build_checkins("foursquare", options)


@build.command(short_help="Build a data set from Gowalla check-ins (SNAP).")
@checkin_options
def gowalla(**options: Any) -> Result:
    """Build a data set from SNAP's Gowalla file (loc-gowalla_totalCheckins.txt or .gz).

    The preset cle is the paper's "Cleveland", a box in Portland, Oregon.

    \b
    Example:
      nomadp data build gowalla loc-gowalla_totalCheckins.txt.gz --preset chi --out chi
    """
    return _build_checkins("gowalla", options)


def _build_checkins(source: str, options: dict[str, Any]) -> Result:
    from nomadp.datasets.built import check_folder
    from nomadp.datasets.checkins import build_checkins

    recipe = _checkin_recipe(source, options)
    check_folder(options["out"])
    with progress_bar("reading check-ins") as bar:
        built = build_checkins(options["file"], recipe, bar.reach)
    return _write_data_set(options["out"], built)


def _checkin_recipe(source: str, options: dict[str, Any]) -> "CheckInRecipe":
    """The preset, with the given options replaced."""
    from dataclasses import replace

    from nomadp.datasets.checkins import PRESETS, CheckInRecipe
    from nomadp.formats.box import Box

    preset, places = options["preset"], options["places"]
    if preset is None and places is None:
        raise BadUsage(
            "the number of places must be given; add --places K or --preset NAME",
            code="option_missing",
        )
    if preset is not None and preset not in PRESETS:
        raise BadUsage(
            f"unknown preset '{preset}'; choose one of {', '.join(PRESETS)}",
            code="unknown_recipe",
        )
    recipe = CheckInRecipe(source, None, places or 2) if preset is None else PRESETS[preset]
    if recipe.source != source:
        raise BadUsage(
            f"the preset {preset} is made from a {recipe.source} file",
            code="recipe_of_another_source",
        )
    overrides = {
        name: options[name]
        for name in ("places", "window_minutes", "gap_hours", "longest", "seed")
        if options[name] is not None
    }
    if options["box"] is not None:
        overrides["box"] = Box.parse(options["box"])
    return replace(recipe, **overrides)


def _write_data_set(out: Path, built: "BuiltData") -> Result:
    from nomadp.datasets.built import write_built

    recipe = write_built(out, built)
    counts = recipe["counts"]
    if counts.get("malformed"):
        lines = ", ".join(map(str, counts["malformed_lines"]))
        say(
            f"nomadp: {counts['malformed']} malformed rows skipped; the first are on lines "
            f"{lines}",
            err=True,
        )

    def show() -> None:
        print_counts(counts)
        say(f"\n{out}: {recipe['recipe']}, version {recipe['version']}")

    return Result({"out": str(out), **recipe}, show)


def print_counts(counts: Mapping[str, Any]) -> None:
    """Print the counts of every stage."""
    rows = [
        [label, str(counts[name])] for name, label in STAGE_LABELS.items() if name in counts
    ]
    print_table(["stage", "count"], rows)
