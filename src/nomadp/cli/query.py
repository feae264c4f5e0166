"""``nomadp query``: reports in, an answer with its uncertainty out."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.addresses import insecure_option
from nomadp.cli.evidence import (
    Evidence,
    bundle_from,
    collected_from,
    evidence_from,
    reports_from,
)
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.files import check_writable, out_option
from nomadp.cli.options import (
    EXISTING,
    Whole,
    above_zero,
    chosen_options,
    file_option,
    rule_or_file,
    variant_option,
)
from nomadp.cli.output import (
    Answer,
    json_option,
    print_left_out,
    print_table,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from nomadp.answers import Table
    from nomadp.inference.model import Model
    from nomadp.locations import LocationSet

__all__ = ["query"]

TOP = 10
QUESTIONS = ("hotspots", "density", "flows", "journeys", "lengths", "synthesize")
ESTIMATES = ("share", "flow")
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".geoparquet", ".geojson")


@click.command()
@click.argument("question", type=click.Choice(QUESTIONS))
@click.argument("files", type=EXISTING, nargs=-1, metavar="[REPORTS]...")
@click.option(
    "--reports",
    type=EXISTING,
    multiple=True,
    metavar="FILE",
    help="Reports to ask, like REPORTS; several files and folders are asked as one.",
)
@file_option(
    "--locations",
    "The public location set of the reports: CSV or Parquet; a collector has its own.",
)
@click.option(
    "--collector",
    metavar="URL",
    help="Ask a running collector instead of files, with the token in NOMADP_ANALYST_TOKEN: "
    "its address, or that of one of its tasks.",
)
@insecure_option
@click.option(
    "--task",
    metavar="ID|DIR",
    help="Which of its tasks; of files, the folder of their task: its locations and terms.",
)
@click.option(
    "--areas",
    "--zones",
    "zones",
    type=rule_or_file,
    metavar="AREAS",
    help="locations, grid:N, h3:R or FILE.geojson; by default those that were asked for or, "
    "where whole journeys were reported, single locations for hotspots, grid:16 for density "
    "and grid:4 for flows.",
)
@click.option(
    "--at",
    type=click.Choice(["visits", "starts", "ends"]),
    help="hotspots, density: of all visits, or of the first or last point of journeys; what "
    "was asked for by default, and of trips their starts.",
)
@click.option(
    "--level",
    type=above_zero("a level must be a number above 0 and at most 1", 1),
    metavar="P",
    help="How probably the truth lies within each interval; 0.9 by default.",
)
@click.option(
    "--count",
    type=Whole(1, 1_000_000),
    metavar="N",
    help="synthesize: number of trajectories to synthesize (default: 1000).",
)
@click.option("--seed", type=Whole(0), metavar="S", help="synthesize: seed (default: 0).")
@click.option("--start", metavar="TIME", help="synthesize: add made-up times from TIME on.")
@file_option(
    "--model",
    "What was learned from these reports is read from here, or kept here if there is none.",
)
@variant_option("pinned")
@file_option("--map", "Draw the answer, too: one page (.html) that opens offline.")
@file_option("--png", "The same as a figure (.png).")
@click.option(
    "--flowmap",
    is_flag=True,
    help="flows: origin,dest,count (.csv) and a table of places, for flowmap.blue.",
)
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="CSV: put an apostrophe before text that a spreadsheet would take for a formula.",
)
@out_option(
    f"The answer: {', '.join(SUFFIXES)}.", *SUFFIXES, more={"map": ".html", "png": ".png"}
)
@json_option
def query(**options: Any) -> Answer:
    """Ask REPORTS of journeys, or of a direct question, where people go.

    hotspots, density: the share of visits in each area; flows: that of trips from each area to
    each; journeys: the best estimate of every reported point; lengths: how many points journeys
    have; synthesize: journeys that nobody made, as likely as what was learned. It is
    post-processing and costs nothing. A share comes with its standard deviation, an interval
    that holds the truth with probability P, and whether it is told apart from flat: what
    somebody without reports would say. Shares from an ATLAS codebook of fewer than 64
    codewords have neither intervals nor significance. REPORTS is what "nomadp perturb" wrote:
    with --mechanism trips, starts, ends or visits, of a direct question, which tells most
    exactly what it asks; with atlas, of whole journeys.

    \b
    Example:
      nomadp query flows reports.parquet --locations places.csv --out flows.csv
      nomadp query hotspots reports.parquet --locations places.csv --areas grid:8 --out hot.csv
      nomadp query hotspots --collector http://127.0.0.1:8000 --task ID --out h.csv --map h.html
    """
    summary = _asked(options)
    return Answer(summary, lambda: _print(summary))


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """Read, estimate, write; what can be refused is refused before the work."""
    from dataclasses import replace

    from nomadp.answers import ask as answered
    from nomadp.answers.areas import LOCATIONS
    from nomadp.formats.location_files import read_locations

    _check_outputs(options)
    kind, bundle = options["question"], bundle_from(options)
    world = read_locations(options["locations"]) if bundle is None else bundle.locations
    question = _question(options, world)
    zones = question.get("areas")
    if bundle is None or options["collector"] is None:
        found = evidence_from(world, options, None if zones == LOCATIONS else zones, bundle)
    else:
        found = collected_from(bundle, options)
    whole = reports_from(world, options, found.mechanism) if kind == "journeys" else None
    learned = _learned(found, options)
    table = answered(
        found.mechanism,
        found.counts if whole is None else whole,
        question,
        learned=learned,
        **vars(found.terms),
    ).ranked()
    facts = {**table.about, "refused": dict(found.refused), "rows": len(table)}
    _write(replace(table, about=facts), world, options)
    return {"out": str(options["out"]), **facts, "top": _top(table)}


def _check_outputs(options: dict[str, Any]) -> None:
    """Refuse before the work what could not be written after it."""
    from nomadp.extras import require

    if options["flowmap"] and (
        options["question"] != "flows" or options["out"].suffix != ".csv"
    ):
        raise BadUsage(
            "--flowmap is for flows, into a file that ends in .csv", code="option_unsuitable"
        )
    if options["png"] is not None:
        require("plot")
    if options["spreadsheet_safe"] and not options["out"].name.endswith((".csv", ".csv.gz")):
        raise BadUsage(
            "--spreadsheet-safe is for --out that ends in .csv or .csv.gz",
            code="option_unsuitable",
        )
    kept = options["model"]
    if kept is not None and not kept.exists():
        check_writable(kept, in_folder=False, is_made=False)


def _write(table: "Table", world: "LocationSet", options: dict[str, Any]) -> None:
    """The answer and its pictures: all of them, or none."""
    from nomadp.answers.picture import picture_writes
    from nomadp.answers.table_files import flowmap_writes, table_writes
    from nomadp.formats.atomic import written_whole

    rows = flowmap_writes if options["flowmap"] else table_writes
    written = rows(options["out"], table, for_spreadsheets=options["spreadsheet_safe"])
    drawn = picture_writes(table, world, map=options["map"], png=options["png"])
    writes = {**drawn, **written}
    written_whole(writes, writes if table.is_per_report else ())


def _question(options: dict[str, Any], world: "LocationSet") -> dict[str, Any]:
    """What is asked, as data; refused if it is no question."""
    from nomadp.answers.areas import LOCATIONS
    from nomadp.answers.query import checked_question

    kind = options["question"]
    zones = options["zones"]
    if zones != LOCATIONS:
        zones = chosen_options({"zones": zones}, world).get("zones")
    names = ("at", "level", "seed", "start")
    question = {"kind": kind, "areas": zones, **{name: options[name] for name in names}}
    question["journeys"] = options["count"]
    if kind == "flows" and options["at"] is not None:
        raise BadUsage(
            "--at is for hotspots; flows go from starts to ends", code="option_unsuitable"
        )
    question = {name: value for name, value in question.items() if value is not None}
    checked_question(question)
    return question


def _learned(found: Evidence, options: dict[str, Any]) -> "Model | None":
    """What is known of these reports: kept from before, or learned now; of too few, nothing."""
    from nomadp.inference.model import Model, fit

    path = options["model"]
    if found.counts.reports(found.mechanism) < found.terms.min_batch_size:
        return None
    if path is not None and path.exists():
        return Model.read(path, found.mechanism, found.counts)
    with progress_bar("learning where people go") as bar:
        learned = fit(found.mechanism, found.counts, progress=bar.advance)
    if path is not None:
        learned.write(path)
    return learned


def _top(table: "Table") -> list[dict[str, Any]]:
    """The greatest shares of all times together, then the greatest of single times."""
    from nomadp.answers.columns import plain
    from nomadp.answers.place import ANY

    named = next((name for name in ESTIMATES if name in table.columns), None)
    if named is None:
        return []
    columns = [plain(column) for column in table.columns.values()]
    rows = [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    rows.sort(key=lambda row: -row[named])
    together = [row for row in rows if row.get("when", ANY) == ANY]
    each = [row for row in rows if row.get("when", ANY) != ANY]
    return [*together[:TOP], *each[:TOP]]


def _print(summary: dict[str, Any]) -> None:
    if summary["missing"]:
        say(f"nothing is said of so few reports: {summary['missing']} are missing")
        return
    say(
        f"{summary['reports']} reports of {summary['mechanism']} at epsilon "
        f"{summary['epsilon']}: {summary['rows']} rows in {summary['out']}"
    )
    if summary["top"]:
        first, hidden = summary["top"][0], ("lat", "lng", "rank")
        header = [name for name in first if name not in hidden and first[name] is not None]
        cells = [[_cell(row[name]) for name in header] for row in summary["top"]]
        print_table(header, cells)
    if "significance" in summary:
        _print_flat(summary["significance"])
    if "no_intervals" in summary:
        say(f"no intervals and no significance: {summary['no_intervals']}")
    if "fakes" in summary:
        fakes = summary["fakes"]
        say(
            f"{fakes['part']:.0%} of fake reports could move a share by {fakes['up']:.4f} up "
            f"or {fakes['down']:.4f} down ({fakes['bound']})"
        )
    if summary["invalid_reports_at_least"]:
        say(
            f"nomadp: {summary['invalid_reports_at_least']} reports or more are fakes: they "
            "came in more often than honest people make them",
            err=True,
        )
    print_left_out(summary["refused"])


def _print_flat(flat: dict[str, Any]) -> None:
    apart, rate = flat["significant"], flat["false_discovery_rate"]
    said = f"of these, {rate:.0%} at most by chance, on average"
    say(
        f"{apart or 'no'} row{'' if apart == 1 else 's'} told apart from what somebody without "
        f"reports would say (flat){f'; {said}' if apart else ''}"
    )


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
