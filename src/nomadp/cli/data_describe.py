"""``nomadp data describe``: statistics of trajectories or of a data set."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.file_options import reading_of, reading_options, sources_argument
from nomadp.cli.options import file_option
from nomadp.cli.output import Result, json_option, print_table, progress_bar, reading_notes, say

__all__ = ["describe"]

SECTIONS = {
    "step": "step length / diameter",
    "gyration": "radius of gyration / diameter",
    "top_visits": "share of visits at the most visited places",
    "length": "share of trajectories by length",
}

ROWS = {
    "places": "places",
    "trajectories": "trajectories",
    "points": "points",
    "diameter_km": "diameter km",
    "visited_share": "share of places visited",
    "stay_share": "share of steps that stay",
}
TRACKS = (
    {
        "trajectories": "trajectories",
        "points": "points",
        "users": "users",
        "of_one_point": "trajectories with one point",
        "days": "days from first to last",
        "gaps": "gaps over 1 h inside trajectories",
        "bbox": "coarse box W,S,E,N",
    },
    {
        "points_each": "points per trajectory",
        "way_km": "km per trajectory",
        "hours": "hours per trajectory",
        "interval_s": "seconds between points",
    },
)
"""For tracks: labels of single numbers, and of quantiles."""


@click.command()
@sources_argument("sources")
@file_option("--locations", "Location set for the statistics of steps and visits.")
@file_option("--compare", "Folder or file to compare with.", "OTHER")
@click.option(
    "--bbox", is_flag=True, help="Tracks: also print a bounding box, rounded to 0.1 degree."
)
@reading_options
@json_option
def describe(**options: Any) -> Result:
    """Print statistics of SOURCES: any files or folders that "nomadp data convert" reads.

    For tracks, these are counts, users, lengths, intervals and gaps, after the reading options
    are applied. For a data set, or with --locations, they are quantiles of steps and extents,
    the skew of visits, and lengths. Distances are divided by the largest distance between two
    places, so that cities of any size can be compared. The statistics describe the true data
    and are not private. They contain no places, except for --bbox, which is rounded outwards to
    0.1 degree.

    \b
    Example:
      nomadp data describe Timeline.json --stops
      nomadp data describe tracks/ more.gpx --bbox
      nomadp data describe city --compare nyc
      nomadp data describe trips.csv --locations places.csv --compare reports.csv
    """
    compare = options["compare"]
    sets: dict[str, Sequence[Path]] = {"data": options["sources"]}
    if compare is not None:
        sets["other"] = (compare,)
    over_places = options["locations"] is not None or all(map(_is_built, sets.values()))
    if over_places and options["bbox"]:
        raise BadUsage(
            "--bbox needs tracks, not a data set, whose locations are public",
            code="option_unsuitable",
        )
    with reading_notes() as notes:
        statistics = {
            name: (_describe_over_places if over_places else _describe_tracks)(paths, options)
            for name, paths in sets.items()
        }
    for note in notes:
        say(f"nomadp: {note}", err=True)
    content = {
        name: {"source": ", ".join(map(str, sets[name])), **numbers}
        for name, numbers in statistics.items()
    }
    names = [", ".join(path.resolve().name for path in paths) for paths in sets.values()]
    rows = _rows(list(statistics.values()), *((ROWS, SECTIONS) if over_places else TRACKS))
    return Result({**content, "notes": notes}, lambda: print_table(["", *names], rows))


def _is_built(paths: Sequence[Path]) -> bool:
    from nomadp.datasets.built import missing_files

    return len(paths) == 1 and not missing_files(paths[0])


def _describe_over_places(paths: Sequence[Path], options: dict[str, Any]) -> dict[str, Any]:
    from nomadp.datasets.built import read_built
    from nomadp.datasets.statistics import describe
    from nomadp.formats.location_files import read_locations
    from nomadp.formats.point_files import read_trajectories

    if _is_built(paths):
        return asdict(describe(*read_built(paths[0])))
    world = read_locations(options["locations"])
    return asdict(describe(world, read_trajectories(paths, world, reading_of(options))[0]))


def _describe_tracks(paths: Sequence[Path], options: dict[str, Any]) -> dict[str, Any]:
    from nomadp.datasets.tracks import coarse_box, describe_tracks
    from nomadp.formats.point_files import read_points

    with progress_bar(f"reading {paths[0].name}") as bar:
        points = read_points(paths, reading_of(options, bar.reach))
    box = {"bbox": coarse_box(points)} if options["bbox"] else {}
    return {**asdict(describe_tracks(points)), **box}


def _rows(
    statistics: Sequence[dict[str, Any]], labels: Mapping[str, str], titles: Mapping[str, str]
) -> list[list[str]]:
    """One column per data set: a row per label, then a section per title."""
    rows = [
        [label, *(_cell(column[name]) for column in statistics)]
        for name, label in labels.items()
        if name in statistics[0]
    ]
    for name, title in titles.items():
        rows.append([title, *("" for _ in statistics)])
        sections: list[dict[str, float]] = [column[name] or {} for column in statistics]
        keys = next(filter(None, sections), {})
        rows += [[f"  {key}", *(_cell(part.get(key)) for part in sections)] for key in keys]
    return rows


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "-" if value is None else str(value)
