"""``nomadp ask``: a file of reports in, shares with their intervals out."""

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nomadp.cli.files import out_option
from nomadp.cli.options import (
    EXISTING,
    above_zero,
    chosen_options,
    locations_option,
    variant_option,
)
from nomadp.cli.output import Answer, json_option, print_table, progress_bar

if TYPE_CHECKING:
    from nomadp.inference.shares import Shares
    from nomadp.locations import LocationSet
    from nomadp.mechanisms import Mechanism
    from nomadp.reports import AnyReports
    from nomadp.zones import Zones

__all__ = ["ask"]

TOP = 10
ANY = "any"
"""As a time: all of them together."""


@click.command()
@click.argument("question", type=click.Choice(["hotspots", "flows"]))
@click.argument("reports", type=EXISTING)
@locations_option
@variant_option(
    "zones",
    help="grid:N, h3:R or FILE.geojson; by default those that were asked for or, where whole "
    "journeys were reported, single locations for hotspots and grid:4 for flows.",
)
@click.option(
    "--at",
    type=click.Choice(["visits", "starts", "ends"]),
    help="hotspots: of all visits, or of the first or last point of journeys; what was asked "
    "for by default, and of trips their starts.",
)
@click.option(
    "--level",
    type=above_zero("a level must be a number above 0 and at most 1", 1),
    default="0.9",
    show_default=True,
    metavar="P",
    help="How probably the truth lies within each interval.",
)
@variant_option("pinned")
@out_option("Shares: .csv, .csv.gz, .parquet.", ".csv", ".csv.gz", ".parquet")
@json_option
def ask(**options: Any) -> Answer:
    """Estimate how people are shared out, from REPORTS of journeys or of a direct question.

    hotspots: the share of visits in each zone; flows: that of trips from each zone to each. It
    is post-processing and costs nothing. A share comes with its standard deviation, an interval
    that holds the truth with probability P, and flat: what somebody without reports would say.
    REPORTS is what "nomadp perturb" wrote: with --mechanism trips, starts, ends or visits, of
    a direct question, which tells most exactly what it asks; with atlas, of whole journeys.

    \b
    Example:
      nomadp ask flows reports.parquet --locations places.csv --out flows.csv
      nomadp ask hotspots reports.parquet --locations places.csv --zones grid:8 --out hot.csv
    """
    summary = _asked(options)
    return Answer(summary, lambda: _print(summary))


class Told(NamedTuple):
    """Shares of several labels, each called by what stands in some columns."""

    names: dict[str, list[str]]
    shares: "Shares"


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """Read, estimate, write; what can be refused is refused before the work."""
    import json

    from nomadp.formats.files import file_path, write_described
    from nomadp.formats.tables import read_locations

    world = read_locations(options["locations"])
    zones = chosen_options({"zones": options["zones"]}, world).get("zones")
    reports, mechanism = _read(world, options, zones)
    told = _told(mechanism, reports, zones, options)
    column = _columns(told, options["level"])
    facts = {
        "question": options["question"],
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        "epsilon": str(mechanism.epsilon),
        "params": mechanism.get_params(),
        "location_set_sha256": world.sha256,
        "reports": len(reports),
        "refused": dict(reports.refused),
        "level": options["level"],
        "shares": len(column["share"]),
        "kept": told[0].shares.kept,
        **_told_apart(told[0].shares, options["level"]),
    }
    about = json.dumps(facts, indent=2, sort_keys=True).encode()
    write_described(file_path(options["out"]), column, about)
    return {"out": str(options["out"]), **facts, "top": _top(column)}


def _read(
    world: "LocationSet", options: dict[str, Any], zones: "Zones | None"
) -> tuple["AnyReports", "Mechanism"]:
    """The reports and their mechanism, as their file says."""
    from nomadp.errors import SchemaError
    from nomadp.mechanisms import make_mechanism
    from nomadp.reports.files import header_of, read_reports

    path = options["reports"]
    header = header_of(path)
    if header is None:
        raise SchemaError(
            f"{path} must say how its reports were made, and does not; ask of what "
            '"nomadp perturb" wrote'
        )
    if zones is None or header.params.get("zones") != zones.rule:
        pinned = chosen_options({"pinned": options["pinned"]}).get("pinned")
        made = header.mechanism_for(world, pinned)
    else:  # polygons are not in a header, only their hash: they are those that were named
        more = {k: v for k, v in header.params.items() if k not in ("epsilon", "zones")}
        made = make_mechanism(header.mechanism, world, header.epsilon, zones=zones, **more)
    return read_reports(path, world, made), made


def _told(
    mechanism: "Mechanism",
    reports: "AnyReports",
    zones: "Zones | None",
    options: dict[str, Any],
) -> list[Told]:
    """All times together and, if they were asked for, each."""
    from nomadp.inference.asked import asked_hotspots, asked_trips
    from nomadp.inference.hotspots import flows, hotspots
    from nomadp.mechanisms.questions import Question
    from nomadp.zones import zones_of

    at, is_flow = options["at"], options["question"] == "flows"
    if is_flow and at is not None:
        raise click.UsageError("--at is for hotspots; flows go from starts to ends")
    if isinstance(mechanism, Question):
        zones = mechanism.partition if zones is None else zones
    elif is_flow and zones is None:
        zones = zones_of(mechanism.locations, "grid:4")
    names = _names(mechanism.locations.ids if zones is None else zones.names, is_flow=is_flow)
    with progress_bar("learning where people go") as bar:
        if is_flow:
            shares = flows(mechanism, reports, zones, progress=bar.advance)
        else:
            shares = hotspots(mechanism, reports, zones, at=at, progress=bar.advance)
    if not isinstance(mechanism, Question) or mechanism.slots is None or zones is None:
        return [Told(names, shares)]
    slots = mechanism.slots.names
    each: Shares
    if is_flow:
        each = asked_trips(mechanism, reports, zones, timed=True)
    else:
        each = asked_hotspots(mechanism, reports, zones, at, timed=True)
    count = len(shares.values)
    by_slot = {key: [name for name in column for _ in slots] for key, column in names.items()}
    return [
        Told({**names, "when": [ANY] * count}, shares),
        Told({**by_slot, "when": list(slots) * count}, each),
    ]


def _names(zones: tuple[str, ...], *, is_flow: bool) -> dict[str, list[str]]:
    if not is_flow:
        return {"zone": list(zones)}
    return {
        "origin": [name for name in zones for _ in zones],
        "destination": list(zones) * len(zones),
    }


def _columns(told: list[Told], level: float) -> dict[str, list[Any]]:
    column: dict[str, list[Any]] = {}
    for names, shares in told:
        low, high = shares.interval(level)
        numbers = {
            "share": shares.values,
            "std": shares.deviation,
            "low": low,
            "high": high,
            "flat": shares.flat,
        }
        for name, values in {**names, **{k: v.tolist() for k, v in numbers.items()}}.items():
            column.setdefault(name, []).extend(values)
    return column


def _told_apart(shares: "Shares", level: float) -> dict[str, Any]:
    """How many intervals leave flat out, and whether those are more than chance makes."""
    low, high = shares.interval(level)
    apart, size = int(((shares.flat < low) | (high < shares.flat)).sum()), len(low)
    chance = (1 - level) * size
    is_apart = apart > chance + 2 * (chance * level) ** 0.5
    return {"told_apart": apart, "expected_by_chance": chance, "is_told_apart": is_apart}


def _top(column: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The greatest shares of all times together."""
    rows = [dict(zip(column, row, strict=True)) for row in zip(*column.values(), strict=True)]
    rows = [row for row in rows if row.pop("when", ANY) == ANY]
    return sorted(rows, key=lambda row: -row["share"])[:TOP]


def _print(summary: dict[str, Any]) -> None:
    click.echo(
        f"{summary['reports']} reports of {summary['mechanism']} at epsilon "
        f"{summary['epsilon']}: {summary['shares']} shares in {summary['out']}"
    )
    header = [*summary["top"][0]]
    cells = [
        [cell if isinstance(cell, str) else f"{cell:.4f}" for cell in row.values()]
        for row in summary["top"]
    ]
    print_table(header, cells)
    told = "told apart" if summary["is_told_apart"] else "not told apart"
    click.echo(
        f"{told} from what somebody without reports would say (flat): {summary['told_apart']} "
        f"intervals of {summary['level']:.0%} leave flat out, chance alone would make "
        f"{summary['expected_by_chance']:.1f}"
    )
    if summary["refused"]:
        said = "; ".join(f"{count} since {why}" for why, count in summary["refused"].items())
        click.echo(f"nomadp: reports were left out: {said}", err=True)
