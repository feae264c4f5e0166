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
from nomadp.cli.options import PATH, Whole, above_zero, kilometres
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
    help_text: str,
    *suffixes: str,
    or_folder: bool = False,
    other_outputs: Mapping[str, str] | None = None,
) -> Callable[[Decorated], Decorated]:
    """--out and --overwrite, checked before the command begins.

    A file has one of these suffixes; with ``or_folder``, any other name is a folder.
    ``other_outputs`` maps the options of other output files to their suffixes.
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
            check_output(out, _inputs(options, "out"), is_file=is_file, overwrite=overwrite)
            _check_other_outputs(options, other_outputs or {}, overwrite=overwrite)
            return command(*arguments, **options)

        replace: Any = click.option(
            "--overwrite", is_flag=True, help="Replace an existing output."
        )
        out: Any = click.option(
            "--out", type=PATH, required=True, metavar=metavar, help=help_text
        )
        return cast(Decorated, out(replace(checked)))

    return decorate


def _check_other_outputs(
    options: dict[str, Any], suffixes: Mapping[str, str], *, overwrite: bool
) -> None:
    from nomadp.formats.files import file_path

    for name, suffix in suffixes.items():
        if options[name] is not None:
            path = file_path(options[name], (suffix,))
            inputs, option = _inputs(options, name), f"--{name}"
            check_output(path, inputs, is_file=True, overwrite=overwrite, option=option)


def check_output(
    out: Path,
    inputs: Sequence[Path],
    *,
    is_file: bool,
    overwrite: bool,
    option: str = "--out",
) -> None:
    """Refuse an output that is an input, exists already, or cannot be written."""
    # os.path.realpath, because Path.resolve fails on a cycle of links.
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
    check_writable(out, in_folder=is_folder, makes_folders=not is_file)


def check_writable(out: Path, *, in_folder: bool, makes_folders: bool) -> None:
    """Write and remove a file in the folder ``out`` or beside the file ``out``.

    If the command makes missing folders, the nearest existing one is tried.
    """
    from nomadp.errors import OutputError

    folder = out if in_folder else out.parent
    if makes_folders and not in_folder and os.path.lexists(out):
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(out))
    while makes_folders and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    # The probe contains the name of the output, so that a name that is too long fails here.
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


def _inputs(options: dict[str, Any], output: str) -> list[Path]:
    """Every path among the options except that of an output."""
    values = [value for name, value in options.items() if name != output]
    groups = [value if isinstance(value, tuple) else (value,) for value in values]
    return [path for group in groups for path in group if isinstance(path, Path)]


length_option = click.option(
    "--length",
    type=Whole(1, 1_000_000),
    metavar="N",
    help="Resample every trajectory to N points; N is public.",
)


def sources_argument(name: str) -> Callable[[Decorated], Decorated]:
    return click.argument(name, type=PATH, nargs=-1, required=True)


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
        help="Split trajectories at gaps of more than H hours (default for phone exports: 3).",
    ),
    click.option(
        "--time-zone",
        metavar="ZONE",
        help="Time zone of times that have no offset or are in UTC, such as Europe/Paris.",
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
        help="Format or column names of the files: skmob, movingpandas, trackintel, ptrail, "
        "gowalla, foursquare, porto, geolife.",
    ),
)


def reading_options(command: Decorated) -> Decorated:
    """`points_options`, and how far points may be from the locations."""
    snap: Any = click.option(
        "--max-snap-km",
        type=kilometres,
        metavar="KM",
        help="Refuse points farther than KM from every location (default: 50).",
    )
    return points_options(cast(Decorated, snap(command)))


def points_options(command: Decorated) -> Decorated:
    """How to read a file: names of columns, time zone, gaps between trajectories."""
    for option in (*THINNING, *READING):
        command = option(command)
    return command


def reading_of(options: dict[str, Any], progress: Any = None) -> "Reading":
    """The settings for reading files that `points_options` selected."""
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

    sources, length = options["trajectories"], options["length"]
    limit = {} if options["max_snap_km"] is None else {"max_snap_km": options["max_snap_km"]}
    trajectories, summary = read_trajectories(sources, locations, reading_of(options), **limit)
    return trajectories if length is None else trajectories.resampled(length), summary
