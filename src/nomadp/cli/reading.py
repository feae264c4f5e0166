"""How commands are told to read trajectories: one set of options, whatever the format."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nomadp.cli.options import EXISTING, Whole, finite, kilometres

if TYPE_CHECKING:
    from pathlib import Path

    from nomadp.formats.presets import Reading
    from nomadp.formats.tables import ReadSummary
    from nomadp.locations import LocationSet
    from nomadp.trajectory import TrajectorySet

__all__ = ["length_option", "read_all", "reading_of", "reading_options", "sources_argument"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

length_option = click.option(
    "--length",
    type=Whole(1, 1_000_000),
    metavar="N",
    help="Resample every trajectory to N points, a public length.",
)


def sources_argument(name: str) -> Callable[[Decorated], Decorated]:
    return click.argument(name, type=EXISTING, nargs=-1, required=True)


def hours(text: str) -> float:
    """Above zero."""
    number = finite(text)
    if not 0 < number < 1e6:
        raise click.BadParameter(f"it must be a number of hours above 0, got {text}")
    return number


def reading_options(command: Decorated) -> Decorated:
    """What a file leaves open: names of columns, time zone, where trajectories end."""
    for option in (
        click.option(
            "--max-snap-km",
            type=kilometres,
            metavar="KM",
            help="Refuse points farther than this from every location; 50 by default.",
        ),
        click.option("--split-hours", type=hours, metavar="H", help="Split at gaps this long."),
        click.option(
            "--time-zone", metavar="ZONE", help="Of times that name none: UTC, Europe/Paris."
        ),
        click.option(
            "--columns",
            multiple=True,
            metavar="THEIRS=OURS",
            help="OURS is uid, tid, seq, datetime, lat, lng, geometry or location_id; "
            "repeatable.",
        ),
        click.option(
            "--from",
            "from_preset",
            default="nomadp",
            metavar="PRESET",
            help="Whose column names the files have: skmob, movingpandas, trackintel, ptrail, "
            "gowalla, foursquare, porto, geolife.",
        ),
    ):
        command = option(command)
    return command


def reading_of(options: dict[str, Any], progress: Any = None) -> "Reading":
    from nomadp.formats.columns import Wishes
    from nomadp.formats.presets import Reading, parse_columns

    zone = None
    if options["time_zone"] is not None:
        from zoneinfo import ZoneInfo

        try:
            zone = ZoneInfo(options["time_zone"])
        except (ValueError, OSError, LookupError):
            raise click.UsageError(
                "--time-zone must be a name such as UTC or Europe/Paris, got "
                f"{options['time_zone']}"
            ) from None
    columns = parse_columns(options["columns"])
    wishes = Wishes(zone, progress)
    return Reading(options["from_preset"], columns, wishes, options["split_hours"])


def read_all(
    paths: Sequence["Path"],
    locations: "LocationSet",
    reading: "Reading",
    max_snap_km: float | None,
    length: int | None,
) -> "tuple[TrajectorySet, ReadSummary]":
    """The trajectories, at a public length if one is asked for, and what may be said."""
    from nomadp.formats.tables import read_trajectories

    limit = {} if max_snap_km is None else {"max_snap_km": max_snap_km}
    found, summary = read_trajectories(paths, locations, reading, **limit)
    return found if length is None else found.resampled(length), summary
