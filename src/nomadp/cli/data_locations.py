"""``nomadp data locations``: creates a public location set."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.file_options import out_option
from nomadp.cli.options import Whole, file_option, kilometres
from nomadp.cli.output import Result, json_option

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
@click.option("--box", metavar="W,S,E,N", help="Public area in degrees.")
@click.option(
    "--grid", type=Whole(2, 1024), metavar="N", help="Use the centres of N by N grid cells."
)
@click.option(
    "--grid-km", type=kilometres, metavar="KM", help="Use the centres of cells KM wide."
)
@click.option(
    "--h3",
    "h3_resolution",
    type=Whole(0, 15),
    metavar="R",
    help="Use the centres of H3 cells of resolution R.",
)
@file_option("--zones", "Use the centroids of GeoJSON polygons.")
@file_option("--pois", "Use a public file of points: CSV, Parquet or GeoJSON.")
@click.option("--name", metavar="PROPERTY", help="--zones: GeoJSON property that names a zone.")
@click.option(
    "--columns",
    multiple=True,
    metavar="THEIRS=OURS",
    help="--pois: rename a column to lat, lng or location_id; repeatable.",
)
@out_option(
    "Locations: .csv, .csv.gz, .parquet, .geojson.", ".csv", ".csv.gz", ".parquet", ".geojson"
)
@json_option
def locations(**options: Any) -> Result:
    """Create a location set from a grid, H3 cells, zones, or points of interest.

    Locations must be public and must not be chosen from the trajectories: places taken from
    private data reveal where people were. A grid contains all cells, visited or not.

    \b
    Example:
      nomadp data locations --box=-8.7,41.1,-8.5,41.25 --grid 32 --out places.csv
      nomadp data locations --box=-8.7,41.1,-8.5,41.25 --h3 8 --out places.csv
      nomadp data locations --zones boroughs.geojson --out places.geojson
      nomadp data locations --pois stations.csv --columns stop_lat=lat --columns stop_lon=lng \\
        --out places.csv
    """
    from nomadp.formats.location_files import write_locations

    _check_options(options)
    created, n_skipped = _create(options)
    write_locations(options["out"], created)
    content = {
        "out": str(options["out"]),
        "locations": len(created),
        "left_out": n_skipped,
        "sha256": created.sha256,
    }
    skipped = (
        f"; {n_skipped} entries skipped (no point, outside the box, or repeated)"
        if n_skipped
        else ""
    )
    return Result(
        content,
        f"{len(created)} locations: {options['out']}{skipped}\n"
        "publish these locations, and never choose them from trajectories",
    )


def _check_options(options: dict[str, Any]) -> None:
    sources = [name for name in SOURCES if options[name] is not None]
    if len(sources) != 1:
        names = ", ".join(SOURCES.values())
        raise BadUsage(
            f"exactly one of {names} must be given, got {len(sources)}",
            code="not_one_source",
        )
    if sources[0] in IN_A_BOX and options["box"] is None:
        raise BadUsage(f"{SOURCES[sources[0]]} needs --box W,S,E,N", code="option_missing")
    if sources[0] == "zones" and options["box"] is not None:
        raise BadUsage(
            "--box cannot be used with --zones, which have their own coordinates",
            code="option_unsuitable",
        )
    if options["columns"] and sources[0] != "pois":
        raise BadUsage("--columns needs --pois", code="option_unsuitable")
    if options["name"] and sources[0] != "zones":
        raise BadUsage("--name needs --zones", code="option_unsuitable")


def _create(options: dict[str, Any]) -> "tuple[LocationSet, int]":
    """The location set, and how many entries of the source were skipped."""
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
