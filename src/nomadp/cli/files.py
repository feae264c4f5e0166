"""Options that name files: what to read and how, and where to write.

Everything that can be wrong with --out is reported before any work is done.
"""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from errno import ENOTDIR
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.options import EXISTING, Whole, above_zero, kilometres
from nomadp.cli.thinning import THINNING, thinning_of

if TYPE_CHECKING:
    from nomadp.formats.point_files import ReadSummary
    from nomadp.formats.presets import Reading
    from nomadp.locations import LocationSet
    from nomadp.trajectory import TrajectorySet

__all__ = [
    "check_writable",
    "length_option",
    "out_option",
    "points_options",
    "read_all",
    "reading_of",
    "reading_options",
    "sources_argument",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def out_option(
    what: str, *suffixes: str, or_folder: bool = False, more: Mapping[str, str] | None = None
) -> Callable[[Decorated], Decorated]:
    """--out and --overwrite, checked before the command begins.

    A file has one of these suffixes; with ``or_folder``, any other name is a folder. ``more``
    maps the options of other output files to their suffixes.
    """
    metavar = "FILE" if not or_folder else "OUT" if suffixes else "DIR"

    def decorate(command: Decorated) -> Decorated:
        @wraps(command)
        def checked(*arguments: Any, overwrite: bool, **options: Any) -> Any:
            out = options["out"]
            is_file = not or_folder or out.name.endswith(suffixes or ("/",))
            if is_file:
                from nomadp.formats.files import file_path

                file_path(out, suffixes)
            check_out(out, _others(options, "out"), is_file=is_file, overwrite=overwrite)
            _check_more(options, more or {}, overwrite=overwrite)
            return command(*arguments, **options)

        replace: Any = click.option(
            "--overwrite", is_flag=True, help="Replace an existing output."
        )
        out: Any = click.option(
            "--out", type=EXISTING, required=True, metavar=metavar, help=what
        )
        return cast(Decorated, out(replace(checked)))

    return decorate


def _check_more(options: dict[str, Any], more: Mapping[str, str], *, overwrite: bool) -> None:
    from nomadp.formats.files import file_path

    for name, suffix in more.items():
        if options[name] is not None:
            path = file_path(options[name], (suffix,))
            rest, named = _others(options, name), f"--{name}"
            check_out(path, rest, is_file=True, overwrite=overwrite, option=named)


def check_out(
    out: Path,
    inputs: Sequence[Path],
    *,
    is_file: bool,
    overwrite: bool,
    option: str = "--out",
) -> None:
    """Refuse an output that is an input, exists already, or cannot be written."""
    # Path.resolve fails on a cycle of links.
    if os.path.realpath(out) in map(os.path.realpath, inputs):
        raise BadUsage(
            f"{option} must name a new file or folder, got an input",
            code="output_is_an_input",
        )
    is_folder = out.is_dir()
    if is_folder and is_file:
        raise BadUsage(
            f"{option} must name a new file, but {out} is a folder; choose another name",
            code="output_is_a_folder",
        )
    if not overwrite and (any(out.iterdir()) if is_folder else os.path.lexists(out)):
        raise BadUsage(
            f"{option} must name a new file or folder, but {out} exists; choose another name, "
            "or add --overwrite to replace it",
            code="output_already_there",
        )
    check_writable(out, in_folder=is_folder, is_made=not is_file)


def check_writable(out: Path, *, in_folder: bool, is_made: bool) -> None:
    """Write and remove a file beside ``out``; missing folders may be created later."""
    from nomadp.errors import OutputError

    folder = out if in_folder else out.parent
    if is_made and not in_folder and os.path.lexists(out):
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(out))
    while is_made and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    probe = folder / f".part-{secrets.token_hex(4)}-{out.name}"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        probe.unlink()
    except (FileNotFoundError, NotADirectoryError) as error:
        error.filename = str(folder)
        raise
    except OSError as error:
        reason = (error.strerror or "device error").lower()
        raise OutputError(
            f"{out} cannot be written: {reason}", code="file_unwritable"
        ) from error


def _others(options: dict[str, Any], out: str) -> list[Path]:
    """Every path among the options but this one."""
    given = [value for name, value in options.items() if name != out]
    several = [value if isinstance(value, tuple) else (value,) for value in given]
    return [path for each in several for path in each if isinstance(path, Path)]


length_option = click.option(
    "--length",
    type=Whole(1, 1_000_000),
    metavar="N",
    help="Resample every trajectory to N points; this length is public.",
)


def sources_argument(name: str) -> Callable[[Decorated], Decorated]:
    return click.argument(name, type=EXISTING, nargs=-1, required=True)


hours = above_zero("hours must be a number above 0", 1e6)


READING: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--raw-signals",
        is_flag=True,
        help="Also read the raw signals of a Google Timeline.",
    ),
    click.option(
        "--split-hours",
        type=hours,
        metavar="H",
        help="Split trajectories at longer gaps (default for phone exports: 3).",
    ),
    click.option(
        "--time-zone",
        metavar="ZONE",
        help="Time zone of times without an offset or in UTC, such as Europe/Paris.",
    ),
    click.option(
        "--columns",
        multiple=True,
        metavar="THEIRS=OURS",
        help="Rename a column to uid, tid, seq, datetime, lat, lng, geometry or location_id; "
        "repeatable.",
    ),
    click.option(
        "--from",
        "from_preset",
        default="nomadp",
        metavar="PRESET",
        help="Column names of the files: skmob, movingpandas, trackintel, ptrail, gowalla, "
        "foursquare, porto, geolife.",
    ),
)


def reading_options(command: Decorated) -> Decorated:
    """How to read a file, and how far its points may be from the locations."""
    snap: Any = click.option(
        "--max-snap-km",
        type=kilometres,
        metavar="KM",
        help="Refuse points farther than this from every location (default: 50).",
    )
    return points_options(cast(Decorated, snap(command)))


def points_options(command: Decorated) -> Decorated:
    """How to read a file: names of columns, time zone, gaps between trajectories."""
    for option in (*THINNING, *READING):
        command = option(command)
    return command


def reading_of(options: dict[str, Any], progress: Any = None) -> "Reading":
    from nomadp.formats.columns import ReadOptions
    from nomadp.formats.presets import Reading, parse_columns

    zone = None
    if options["time_zone"] is not None:
        from zoneinfo import ZoneInfo

        try:
            zone = ZoneInfo(options["time_zone"])
        except (ValueError, OSError, LookupError):
            raise BadUsage(
                "--time-zone must be a name such as UTC or Europe/Paris, got "
                f"{options['time_zone']}",
                code="unknown_time_zone",
            ) from None
    columns = parse_columns(options["columns"])
    read_options = ReadOptions(zone, progress, hours=options.get("when") is not None)
    return Reading(
        options["from_preset"],
        columns,
        read_options,
        options["split_hours"],
        raw_signals=options["raw_signals"],
        thinning=thinning_of(options),
    )


def read_all(
    options: dict[str, Any], locations: "LocationSet"
) -> "tuple[TrajectorySet, ReadSummary]":
    """The trajectories, resampled to --length if given, and a summary that may be printed."""
    from nomadp.formats.point_files import read_trajectories

    most_km, length = options["max_snap_km"], options["length"]
    limit = {} if most_km is None else {"max_snap_km": most_km}
    reading = reading_of(options)
    found, summary = read_trajectories(options["trajectories"], locations, reading, **limit)
    return found if length is None else found.resampled(length), summary
