"""Options that thin tracks: stops only, one point per interval, or evenly along the path."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.exit_codes import BadOption, BadUsage
from nomadp.cli.options import Whole, above_zero

if TYPE_CHECKING:
    from nomadp.formats.thinning import Thinning

__all__ = ["THINNING", "thinning_of"]

UNIT_S = {"s": 1.0, "min": 60.0, "h": 3600.0}
MAX_S = 1e8


def interval(text: str) -> float:
    """Seconds, from text such as 90s, 5min or 1h."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?(s|min|h)", text)
    seconds = float(match[1]) * UNIT_S[match[2]] if match else 0.0
    if not 0 < seconds <= MAX_S:
        raise BadOption(
            f"an interval must be a time such as 90s, 5min or 1h, got {text[:80]}",
            code="not_a_time_span",
        )
    return seconds


THINNING: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--points",
        "thin_points",
        type=Whole(2, 1_000_000),
        metavar="N",
        help="Thin every trajectory to N points, evenly spaced along its path.",
    ),
    click.option(
        "--every",
        "thin_every_s",
        type=interval,
        metavar="TIME",
        help="Thin to one point per interval: 90s, 5min, 1h.",
    ),
    click.option(
        "--stop-minutes",
        type=above_zero("minutes must be a number above 0", 10_000),
        metavar="T",
        help="--stops: minimum duration of a stop (default: 20).",
    ),
    click.option(
        "--stop-radius-m",
        type=above_zero("metres must be a number above 0", 100_000),
        metavar="M",
        help="--stops: radius of a stop around its first point (default: 200).",
    ),
    click.option("--stops", is_flag=True, help="Keep only stops, each as one point."),
)


def thinning_of(options: dict[str, Any]) -> "Thinning":
    """The rules that the options select."""
    from nomadp.formats.stops import StopRule
    from nomadp.formats.thinning import Thinning

    radius_m, minutes = options["stop_radius_m"], options["stop_minutes"]
    if not options["stops"] and (radius_m or minutes):
        raise BadUsage(
            "--stop-radius-m and --stop-minutes need --stops", code="options_not_paired"
        )
    if options["stops"] and options["thin_every_s"]:
        raise BadUsage(
            "--stops and --every cannot be used together",
            code="options_exclude_each_other",
        )
    default = StopRule()
    rule = StopRule(radius_m or default.radius_m, minutes or default.minutes)
    return Thinning(
        rule if options["stops"] else None, options["thin_every_s"], options["thin_points"]
    )
