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
    "EXISTING",
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
    "variant_option",
    "variant_options",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

EXISTING = click.Path(path_type=Path)
"""A path. The code that opens it reports what is wrong, so that there is one wording."""


class Whole(click.IntRange):
    """A whole number in ASCII digits: Python itself would read 1_0 as ten."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, str) and not re.fullmatch(r"\s*[-+]?[0-9]{1,300}\s*", value):
            raise BadOption(f"'{value[:80]}' is not a valid integer.", code="option_not_whole")
        return super().convert(value, param, ctx)

    def fail(self, message: str, param: Any = None, ctx: Any = None) -> NoReturn:
        raise BadOption(message, code="option_out_of_range")


def number(text: str | float) -> float:
    """A finite decimal number in ASCII digits; NaN for anything else."""
    text = str(text)  # a default may be a float
    written = re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", text, re.A | re.I)
    value = float(text) if written else math.nan
    return value if math.isfinite(value) else math.nan


def finite(text: str) -> float:
    """A finite number; click's own would let NaN through."""
    value = number(text)
    if math.isnan(value):
        raise BadOption(f"'{text[:80]}' is not a finite number", code="option_not_finite")
    return value


def above_zero(rule: str, most: float = math.inf) -> Callable[[str], float]:
    """Reads numbers above zero and at most ``most``; click's range would let NaN through."""

    def parsed(text: str) -> float:
        value = number(text)
        if not 0 < value <= most:
            raise BadOption(f"{rule}, got {text[:80]}", code="option_out_of_range")
        return value

    return parsed


kilometres = above_zero("a distance must be a number of km above 0")


def file_option(
    flag: str, what: str, metavar: str = "FILE", **more: Any
) -> Callable[[Decorated], Decorated]:
    return click.option(flag, type=EXISTING, metavar=metavar, help=what, **more)


def folder_option(default: str, what: str) -> Callable[[Decorated], Decorated]:
    """--out for a folder that may exist already."""
    return file_option("--out", what, "DIR", default=Path(default), show_default=True)


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
    help="Number of processes (default: one per core, for enough work).",
)


class Variant(NamedTuple):
    """A parameter of a mechanism, as an option takes it."""

    kind: Any
    metavar: str | None
    what: str


def rule_or_file(text: str) -> str | Path:
    return Path(text) if text.endswith((".geojson", ".json")) else text


VARIANTS = {
    "granularity": Variant(
        click.Choice(["table", "formula", "2", "4", "6", "12"]),
        None,
        "tp, atp: number of direction sectors, or the rule that chooses it.",
    ),
    "directions": Variant(
        click.Choice(["both", "preceding"]),
        None,
        "tp, atp: neighbouring pivots that directions are measured from.",
    ),
    "merge": Variant(
        click.Choice(["coin", "first-index", "direction"]),
        None,
        "tp, atp: how the two copies are merged.",
    ),
    "radius_km": Variant(kilometres, "R", "atp: fixed radius instead of a private one."),
    "near_count": Variant(
        Whole(1, 1_000_000),
        "K",
        "brr, atlas: number of nearest locations or codewords with higher probability.",
    ),
    "size": Variant(
        Whole(1, 4096),
        "K",
        "atlas: most codewords per length (default: as few as are good enough).",
    ),
    "control_points": Variant(
        Whole(2, 64),
        "C",
        "atlas: number of control points of longer trajectories.",
    ),
    "pinned": Variant(
        EXISTING,
        "FILE",
        'atlas: codebook from "nomadp codebook build" or a task (default: build it).',
    ),
    "groups": Variant(Whole(2), "G", "l-srr: number of groups of locations."),
    "grid": Variant(Whole(1, 6), "G", "ngram: rows and columns of the grid of regions."),
    "max_step_km": Variant(kilometres, "D", "ngram: public bound on the length of a step."),
    "delta": Variant(None, "D", "cgm: probability that the guarantee fails."),
    "step_bound": Variant(
        finite, "C", "cgm: longest step, as a fraction of the width of the location set."
    ),
    "zones": Variant(
        rule_or_file,
        "ZONES",
        "trips, starts, ends, visits: areas, as grid:N, h3:R or FILE.geojson.",
    ),
    "when": Variant(
        click.Choice(["day-part", "weekday"]),
        None,
        "trips, starts, ends, visits: also by six hours of the day, or by weekday.",
    ),
}
"""The parameters of mechanisms by field name. Each mechanism states its own defaults."""


def variant_options(command: Decorated) -> Decorated:
    """Offer every parameter; a mechanism without that parameter refuses it."""
    command = click.option(
        "--option",
        "others",
        multiple=True,
        callback=_other_options,
        metavar="NAME=VALUE",
        help="Parameter of a mechanism from another package; repeatable.",
    )(command)
    for name in reversed(VARIANTS):
        command = variant_option(name)(command)
    return command


def variant_option(name: str, **more: Any) -> Callable[[Decorated], Decorated]:
    """One of the choices inside a mechanism."""
    kind, metavar, what = VARIANTS[name]
    flags = {"pinned": "--codebook", "zones": "--zones --areas"}.get(name) or f"--{name}"
    named = (*flags.replace("_", "-").split(), name)
    return click.option(*named, type=kind, metavar=metavar, **{"help": what} | more)


def _other_options(
    context: click.Context, parameter: click.Parameter, said: tuple[str, ...]
) -> dict[str, Any]:
    """Values by name: JSON numbers and booleans, and anything else as text."""
    found: dict[str, Any] = {}
    for each in said:
        name, equals, text = each.partition("=")
        name = name.replace("-", "_")
        if not name.isidentifier() or not equals or name in found:
            raise BadOption(
                f"an option must be NAME=VALUE with each name once, got {each}",
                code="option_malformed",
            )
        if name in VARIANTS or name in ("locations", "epsilon"):
            raise BadOption(f"{name} has its own option, see --help", code="option_of_its_own")
        found[name] = _plain(text)
    return found


def _plain(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=lambda constant: None)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float | str) else text


def chosen_options(
    options: dict[str, Any], world: "LocationSet | None" = None
) -> dict[str, Any]:
    """The parameters that were given; mechanisms state the defaults of the others."""
    chosen = {name: options[name] for name in VARIANTS if options.get(name) is not None}
    if str(chosen.get("granularity", "")).isdigit():
        chosen["granularity"] = int(chosen["granularity"])
    if "pinned" in chosen:
        from nomadp.protocol.folder import read_codebook

        chosen["pinned"] = read_codebook(chosen["pinned"])
    if world is not None and "zones" in chosen:
        from nomadp.formats.zone_files import zones_from

        chosen["zones"] = zones_from(chosen["zones"], world)
    elif isinstance(chosen.get("zones"), Path):
        raise BadUsage("polygons need a map; add --locations FILE", code="option_missing")
    others: dict[str, Any] = options.get("others", {})
    return chosen | others


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
        spelled: list[str] = []
        option = None  # the repeatable option whose numbers are being read
        for argument in args:
            if argument in repeatable:
                option = argument
            elif option is None or not self._number.fullmatch(argument):
                option = None
            elif spelled[-1] != option:
                spelled.append(option)
            spelled.append(argument)
        return super().parse_args(ctx, spelled)
