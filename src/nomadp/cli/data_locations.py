"""``nomadp data locations``: a public location set in one command."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.files import out_option
from nomadp.cli.options import Whole, file_option, kilometres
from nomadp.cli.output import Answer, json_option

if TYPE_CHECKING:
    from nomadp.locations import LocationSet

__all__ = ["locations"]

SOURCES = {
    "grid": "--grid",
    "grid_km": "--grid-km",
    "h3_resolution": "--h3",
    "zones": "--zones",
    "pois": "--pois",
}
IN_A_BOX = ("grid", "grid_km", "h3_resolution")


@click.command()
@click.option("--box", metavar="W,S,E,N", help="The public area, in degrees.")
@click.option("--grid", type=Whole(2, 1024), metavar="N", help="Centres of N by N cells.")
@click.option("--grid-km", type=kilometres, metavar="KM", help="Centres of cells this wide.")
@click.option(
    "--h3", "h3_resolution", type=Whole(0, 15), metavar="R", help="Centres of H3 cells."
)
@file_option("--zones", "GeoJSON polygons: their centroids.")
@file_option("--pois", "A public file of points: CSV, Parquet or GeoJSON.")
@click.option("--name", metavar="PROPERTY", help="--zones: what they are called by.")
@click.option(
    "--columns",
    multiple=True,
    metavar="THEIRS=OURS",
    help="--pois: OURS is lat, lng or location_id; repeatable.",
)
@out_option(
    "Locations: .csv, .csv.gz, .parquet, .geojson.", ".csv", ".csv.gz", ".parquet", ".geojson"
)
@json_option
def locations(**options: Any) -> Answer:
    """A location set from a box and a grid, H3 cells, zones, or points of interest.

    Locations must be public and must not come from anybody's journeys: places taken from the
    data tell where people were. Every cell of the box is in the set, visited or not.

    \b
    Example:
      nomadp data locations --box=-8.7,41.1,-8.5,41.25 --grid 32 --out places.csv
      nomadp data locations --box=-8.7,41.1,-8.5,41.25 --h3 8 --out places.csv
      nomadp data locations --zones boroughs.geojson --out places.geojson
      nomadp data locations --pois stations.csv --columns stop_lat=lat --columns stop_lon=lng \\
        --out places.csv
    """
    from nomadp.formats.location_files import write_locations

    _check(options)
    made, left_out = _made(options)
    write_locations(options["out"], made)
    found = {
        "out": str(options["out"]),
        "locations": len(made),
        "left_out": left_out,
        "sha256": made.sha256,
    }
    beside = f"; {left_out} entries are no points, outside, or twice there" if left_out else ""
    return Answer(
        found,
        f"{len(made)} locations: {options['out']}{beside}\n"
        "keep them public, and never choose them by anybody's journeys",
    )


def _check(options: dict[str, Any]) -> None:
    given = [name for name in SOURCES if options[name] is not None]
    if len(given) != 1:
        asked = ", ".join(SOURCES.values())
        raise BadUsage(
            f"say what the locations are: one of {asked}, got {len(given)}",
            code="not_one_source",
        )
    if given[0] in IN_A_BOX and options["box"] is None:
        raise BadUsage(
            f"{SOURCES[given[0]]} fills a box: add --box W,S,E,N", code="option_missing"
        )
    if given[0] == "zones" and options["box"] is not None:
        raise BadUsage(
            "--box is not for --zones, which say themselves where they are",
            code="option_unsuitable",
        )
    if options["columns"] and given[0] != "pois":
        raise BadUsage("--columns is for --pois", code="option_unsuitable")
    if options["name"] and given[0] != "zones":
        raise BadUsage("--name is for --zones", code="option_unsuitable")


def _made(options: dict[str, Any]) -> "tuple[LocationSet, int]":
    from nomadp.datasets.places import box_grid, read_pois, zone_centres
    from nomadp.datasets.snapped import grid_cells, h3_cells
    from nomadp.formats.box import Box
    from nomadp.formats.presets import parse_columns

    if options["zones"] is not None:
        return zone_centres(options["zones"], options["name"]), 0
    box = None if options["box"] is None else Box.parse(options["box"])
    if options["pois"] is not None:
        columns = parse_columns(options["columns"])
        if not set(columns.values()) <= {"lat", "lng", "location_id"}:
            raise BadUsage(
                "--columns must map to lat, lng or location_id", code="column_unsuitable"
            )
        return read_pois(options["pois"], box, columns)
    if box is None:
        raise BadUsage("add --box W,S,E,N", code="option_missing")
    if options["grid"] is not None:
        return box_grid(box, options["grid"]), 0
    if options["grid_km"] is not None:
        return grid_cells(box, options["grid_km"]), 0
    return h3_cells(box, options["h3_resolution"]), 0
