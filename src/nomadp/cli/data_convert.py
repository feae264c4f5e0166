"""``nomadp data convert``: converts files of trajectories, or snaps them into a data set."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.data_build import print_counts
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.file_options import out_option, reading_of, reading_options, sources_argument
from nomadp.cli.options import Whole, file_option, kilometres
from nomadp.cli.output import Result, json_option, progress_bar, reading_notes, say
from nomadp.cli.thinning import thinning_of

if TYPE_CHECKING:
    from nomadp.datasets.snapped import SnapTo
    from nomadp.formats.points import Points

__all__ = ["convert"]


@click.command()
@sources_argument("sources")
@out_option(
    "A file (.csv, .csv.gz, .parquet, .geoparquet, .geojson), or a folder to snap into.",
    *(".csv", ".csv.gz", ".parquet", ".geoparquet", ".geojson", ".json"),
    or_folder=True,
)
@reading_options
@click.option(
    "--to",
    "to_preset",
    default="nomadp",
    metavar="PRESET",
    help="Column names of the output: skmob, movingpandas, trackintel, ptrail.",
)
@click.option(
    "--geojson",
    "shape",
    type=click.Choice(["lines", "points"]),
    default="lines",
    show_default=True,
    help="GeoJSON output: one feature per trajectory or per point.",
)
@file_option("--locations", "Location set to snap points to, or to look up location ids in.")
@click.option("--grid-km", type=kilometres, metavar="KM", help="Snap to the cells of a grid.")
@click.option("--h3", "h3_resolution", type=Whole(0, 15), metavar="R", help="Snap to H3 cells.")
@click.option(
    "--box", metavar="W,S,E,N", help="Public area that the grid or the H3 cells cover."
)
@click.option(
    "--outside",
    type=click.Choice(["refuse", "drop", "nearest"]),
    default="refuse",
    show_default=True,
    help="What to do with points outside the box.",
)
@json_option
def convert(**options: Any) -> Result:
    """Convert SOURCES: tables, GeoJSON, GPX, KML, phone exports, archives, or folders.

    Several sources are read together; a tid that occurs in two of them is two trajectories. If
    OUT has the suffix of a file, the points are written to a file of that format. Otherwise,
    OUT is a folder for a data set: the points snapped to a location set, a grid or H3 cells.
    The cells cover the whole --box, because cells chosen from the data would reveal where
    people were.

    The output is as sensitive as the input, and only your user account can read it. Times must
    have a time zone. They keep their offset from UTC or get that of --time-zone, so that
    queries by time count local hours.

    \b
    Example:
      nomadp data convert monday.gpx tuesday.gpx --out trips.geojson
      nomadp data convert Timeline.json --stops --out stops.csv
      nomadp data convert fixes.csv --from trackintel --out fixes.parquet --to skmob
      nomadp data convert train.csv --from porto --out porto --grid-km 0.5 \\
        --box=-8.7,41.1,-8.5,41.25
    """
    with reading_notes() as notes:
        summary = _convert(options)
    for note in notes:
        say(f"nomadp: {note}", err=True)
    return Result({**summary, "notes": notes}, lambda: _print(summary))


def _print(summary: dict[str, Any]) -> None:
    if "recipe" in summary:
        print_counts(summary)
        say()
    say(
        f"{summary['trajectories']} trajectories with {summary['points']} points: "
        f"{summary['out']}"
    )
    moved = summary.get("moved")
    if moved:
        say(
            f"points moved: median {moved['median_km']:.3f} km, 95th percentile "
            f"{moved['p95_km']:.3f} km; {100 * moved['moved_over_1km_share']:.1f} % moved more "
            "than 1 km"
        )


def _convert(options: dict[str, Any]) -> dict[str, Any]:
    from nomadp.formats.location_files import read_locations
    from nomadp.formats.point_files import OUTPUTS, read_points, write_points

    sources, out = options["sources"], options["out"]
    into_file = out.name.endswith(OUTPUTS)
    _check_options(options, into_file=into_file)
    locations = None if options["locations"] is None else read_locations(options["locations"])
    target = None if into_file else _snap_to(options, locations)
    with progress_bar(f"reading {sources[0].name}") as bar:
        reading = reading_of(options, bar.reach)
        with_hours = replace(reading.options, hours=True)  # for later queries by time
        points = read_points(sources, replace(reading, options=with_hours), locations)
    if target is not None:
        return _snap(options, points, target)
    write_points(out, points, preset=options["to_preset"], shape=options["shape"])
    return {"out": str(out), "points": len(points), "trajectories": len(points.tids)}


def _check_options(options: dict[str, Any], *, into_file: bool) -> None:
    cells = [name for name in ("grid_km", "h3_resolution") if options[name] is not None]
    targets = cells + (["locations"] if options["locations"] is not None else [])
    if into_file and cells:
        raise BadUsage(
            "--grid-km and --h3 need a folder as --out, got a file", code="option_unsuitable"
        )
    if not into_file and len(targets) != 1:
        raise BadUsage(
            "a folder as --out needs one of --locations, --grid-km and --h3; a file must end "
            "in .csv, .csv.gz, .parquet, .geoparquet or .geojson",
            code="snap_target_missing",
        )
    if not into_file and options["to_preset"] != "nomadp":
        raise BadUsage(
            "--to needs a file as --out; a folder has fixed columns", code="option_unsuitable"
        )
    if bool(cells) != (options["box"] is not None):
        raise BadUsage(
            "--grid-km and --h3 need --box W,S,E,N, and --box needs one of them: the cells "
            "cover the box",
            code="options_not_paired",
        )


def _snap_to(options: dict[str, Any], locations: Any) -> "SnapTo":
    from nomadp.datasets.built import check_folder
    from nomadp.datasets.snapped import SnapTo, grid_cells, h3_cells
    from nomadp.formats.box import Box

    check_folder(options["out"])
    if locations is not None:
        return SnapTo(locations, parameters={"locations": "file"})
    box = Box.parse(options["box"])
    if options["grid_km"] is not None:
        cells = grid_cells(box, options["grid_km"])
        parameters: dict[str, Any] = {"locations": "grid", "cell_km": options["grid_km"]}
    else:
        cells = h3_cells(box, options["h3_resolution"])
        parameters = {"locations": "h3", "resolution": options["h3_resolution"]}
    return SnapTo(cells, box, options["outside"], parameters)


def _snap(options: dict[str, Any], points: "Points", target: "SnapTo") -> dict[str, Any]:
    from nomadp.datasets.built import write_built
    from nomadp.datasets.snapped import input_hashes, snap

    parameters = {
        **target.parameters,
        "from": options["from_preset"],
        "columns": list(options["columns"]),
        "time_zone": options["time_zone"],
        "split_hours": options["split_hours"],
        "thinning": str(thinning_of(options)) or None,
    }
    max_km = options["max_snap_km"] or target.max_km
    target = replace(target, parameters=parameters, max_km=max_km)
    built = snap(points, target, input_hashes(*options["sources"]))
    recipe = write_built(options["out"], built)
    return {"out": str(options["out"]), **recipe["counts"], "recipe": recipe}
