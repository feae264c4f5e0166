"""Options that several commands share."""

import json
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import click

from nomadp.cli.exit_codes import BadOption, BadUsage

if TYPE_CHECKING:
    from nomadp.locations import LocationSet

__all__ = [
    "DEFAULT_MECHANISM",
    "PATH",
    "ManyNumbers",
    "MechanismOption",
    "Whole",
    "above_zero",
    "chosen_options",
    "default_jobs",
    "file_option",
    "finite",
    "folder_option",
    "jobs_option",
    "kilometres",
    "locations_option",
    "mechanism_option",
    "rule_or_file",
    "parameter_option",
    "parameter_options",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)
"""A path. The code that opens it reports errors, so that each has one wording."""


class Whole(click.IntRange):
    """A whole number in ASCII digits: ``int`` would read 1_0 as ten."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, str) and not re.fullmatch(r"\s*[-+]?[0-9]{1,300}\s*", value):
            raise BadOption(f"'{value[:80]}' is not a valid integer.", code="option_not_whole")
        return super().convert(value, param, ctx)

    def fail(self, message: str, param: Any = None, ctx: Any = None) -> NoReturn:
        raise BadOption(message, code="option_out_of_range")


def number(text: str | float) -> float:
    """A finite decimal number in ASCII digits; NaN for anything else."""
    text = str(text)  # a default may be a float
    match = re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", text, re.A | re.I)
    value = float(text) if match else math.nan
    return value if math.isfinite(value) else math.nan


def finite(text: str) -> float:
    """A finite number; click's float would accept NaN."""
    value = number(text)
    if math.isnan(value):
        raise BadOption(f"'{text[:80]}' is not a finite number", code="option_not_finite")
    return value


def above_zero(rule: str, maximum: float = math.inf) -> Callable[[str], float]:
    """A parser of numbers above 0 and at most ``maximum``; click's range would accept NaN."""

    def parse(text: str) -> float:
        value = number(text)
        if not 0 < value <= maximum:
            raise BadOption(f"{rule}, got {text[:80]}", code="option_out_of_range")
        return value

    return parse


kilometres = above_zero("a distance must be a number of km above 0")


def file_option(
    flag: str, help_text: str, metavar: str = "FILE", **settings: Any
) -> Callable[[Decorated], Decorated]:
    return click.option(flag, type=PATH, metavar=metavar, help=help_text, **settings)


def folder_option(default: str, help_text: str) -> Callable[[Decorated], Decorated]:
    """--out for a folder that may exist already."""
    return file_option("--out", help_text, "DIR", default=Path(default), show_default=True)


locations_option = file_option(
    "--locations",
    "The public location set: CSV or Parquet with location_id, lat, lng.",
    required=True,
)

DEFAULT_MECHANISM = "atlas"


class MechanismOption(click.Option):
    """Its help ends with every registered mechanism, including those of other packages."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from nomadp.mechanisms import EXPERIMENTAL, PUBLISHED, mechanism_names

        record = super().get_help_record(ctx)
        if record is None:
            return None
        option, text = record
        names = ", ".join(dict.fromkeys((DEFAULT_MECHANISM, *mechanism_names())))
        experiments = ", ".join((*EXPERIMENTAL, *PUBLISHED))
        return option, f"{text} {names}; for experiments only: {experiments}."


mechanism_option = click.option(
    "--mechanism",
    cls=MechanismOption,
    default=DEFAULT_MECHANISM,
    metavar="NAME",
    help=f"Mechanism (default: {DEFAULT_MECHANISM}). One of",
)

jobs_option = click.option(
    "--jobs",
    type=Whole(min=1),
    metavar="J",
    help="Number of processes (default: one per core, if there is enough work).",
)


class Parameter(NamedTuple):
    """A parameter of a mechanism, as an option."""

    kind: Any
    metavar: str | None
    help_text: str


def rule_or_file(text: str) -> str | Path:
    return Path(text) if text.endswith((".geojson", ".json")) else text


PARAMETERS = {
    "granularity": Parameter(
        click.Choice(["table", "formula", "2", "4", "6", "12"]),
        None,
        "tp, atp: number of direction sectors, or the rule that chooses it.",
    ),
    "directions": Parameter(
        click.Choice(["both", "preceding"]),
        None,
        "tp, atp: neighbouring pivots that directions are measured from.",
    ),
    "merge": Parameter(
        click.Choice(["coin", "first-index", "direction"]),
        None,
        "tp, atp: how the two copies are merged.",
    ),
    "radius_km": Parameter(kilometres, "R", "atp: fixed radius instead of a private one."),
    "near_count": Parameter(
        Whole(1, 2**20),
        "K",
        "brr, atlas: number of nearest locations or codewords with a higher probability.",
    ),
    "size": Parameter(
        Whole(1, 1024),
        "K",
        "atlas: maximum number of codewords per length (default: chosen by utility).",
    ),
    "control_points": Parameter(
        Whole(2, 256),
        "C",
        "atlas: number of control points that encode a longer trajectory.",
    ),
    "pinned": Parameter(
        PATH,
        "FILE",
        'atlas: codebook from "nomadp codebook build" or a task (default: build it).',
    ),
    "groups": Parameter(Whole(2, 2**20), "G", "l-srr: number of groups of locations."),
    "grid": Parameter(Whole(1, 6), "G", "ngram: rows and columns of the grid of regions."),
    "max_step_km": Parameter(kilometres, "D", "ngram: public bound on the length of a step."),
    "delta": Parameter(None, "D", "cgm: delta of its (epsilon, delta) guarantee."),
    "step_bound": Parameter(
        finite, "C", "cgm: longest step, as a fraction of the width of the location set."
    ),
    "zones": Parameter(
        rule_or_file,
        "ZONES",
        "trips, starts, ends, visits: areas, as grid:N, h3:R or FILE.geojson.",
    ),
    "when": Parameter(
        click.Choice(["day-part", "weekday"]),
        None,
        "trips, starts, ends, visits: also report the quarter of the day or the weekday.",
    ),
}
"""The parameters of mechanisms by field name. Each mechanism states its own defaults."""


def parameter_options(command: Decorated) -> Decorated:
    """Add every parameter; a mechanism refuses those that it does not have."""
    command = click.option(
        "--option",
        "plugin_parameters",
        multiple=True,
        callback=_plugin_parameters,
        metavar="NAME=VALUE",
        help="Parameter of a mechanism from another package; repeatable.",
    )(command)
    for name in reversed(PARAMETERS):
        command = parameter_option(name)(command)
    return command


def parameter_option(name: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """The option of one parameter of a mechanism."""
    kind, metavar, help_text = PARAMETERS[name]
    flags = {"pinned": "--codebook", "zones": "--zones --areas"}.get(name) or f"--{name}"
    declarations = (*flags.replace("_", "-").split(), name)
    return click.option(
        *declarations, type=kind, metavar=metavar, **{"help": help_text} | settings
    )


def _plugin_parameters(
    context: click.Context, parameter: click.Parameter, assignments: tuple[str, ...]
) -> dict[str, Any]:
    """Values by name: JSON numbers and booleans, and anything else as text."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.replace("-", "_")
        if not name.isidentifier() or not equals or name in values:
            raise BadOption(
                f"an option must be NAME=VALUE with each name once, got {assignment}",
                code="option_malformed",
            )
        if name in PARAMETERS or name in ("locations", "epsilon"):
            raise BadOption(f"{name} has its own option, see --help", code="option_of_its_own")
        values[name] = _json_scalar(text)
    return values


def _json_scalar(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=lambda constant: None)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float | str) else text


def chosen_options(
    options: dict[str, Any], world: "LocationSet | None" = None
) -> dict[str, Any]:
    """The parameters that were given; a mechanism states the defaults of the others."""
    chosen = {name: options[name] for name in PARAMETERS if options.get(name) is not None}
    if str(chosen.get("granularity", "")).isdigit():
        chosen["granularity"] = int(chosen["granularity"])
    if "pinned" in chosen:
        from nomadp.protocol.folder import read_codebook

        chosen["pinned"] = read_codebook(chosen["pinned"])
    if world is not None and "zones" in chosen:
        from nomadp.formats.zone_files import zones_from

        chosen["zones"] = zones_from(chosen["zones"], world)
    elif isinstance(chosen.get("zones"), Path):
        raise BadUsage(
            "polygons need a location set; add --locations FILE", code="option_missing"
        )
    plugin_parameters: dict[str, Any] = options.get("plugin_parameters", {})
    return chosen | plugin_parameters


def default_jobs() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ManyNumbers(click.Command):
    """Lets a repeatable option take several numbers: ``--epsilon 1 2 4``."""

    _number = re.compile(r"[-+]?(\d[\d./e+-]*|\.\d+|nan|inf|infinity)", re.IGNORECASE)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        repeatable = {
            name
            for parameter in self.params
            if isinstance(parameter, click.Option) and parameter.multiple
            for name in parameter.opts
        }
        expanded: list[str] = []
        option = None  # the repeatable option whose numbers are being read
        for argument in args:
            if argument in repeatable:
                option = argument
            elif option is None or not self._number.fullmatch(argument):
                option = None
            elif expanded[-1] != option:
                expanded.append(option)  # repeat the option before its next number
            expanded.append(argument)
        return super().parse_args(ctx, expanded)
