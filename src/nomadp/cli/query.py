"""``nomadp query``: estimates with their uncertainty, from reports."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.addresses import insecure_option
from nomadp.cli.evidence import (
    Evidence,
    bundle_from,
    collector_evidence,
    file_evidence,
    reports_from,
)
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.file_options import check_writable, out_option
from nomadp.cli.options import (
    PATH,
    Whole,
    above_zero,
    chosen_options,
    file_option,
    parameter_option,
    rule_or_file,
)
from nomadp.cli.output import (
    Result,
    json_option,
    print_left_out,
    print_table,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from nomadp.answers import Estimate
    from nomadp.inference.model import Model
    from nomadp.locations import LocationSet

__all__ = ["query"]

TOP_ROWS = 10
QUERIES = ("hotspots", "density", "flows", "trajectories", "lengths", "synthesize")
VALUE_COLUMNS = ("share", "flow")
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".geoparquet", ".geojson")


@click.command()
@click.argument("kind", type=click.Choice(QUERIES))
@click.argument("files", type=PATH, nargs=-1, metavar="[REPORTS]...")
@click.option(
    "--reports",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Same as REPORTS; several files and folders are counted together.",
)
@file_option(
    "--locations",
    "The public location set of the reports: CSV or Parquet (not needed with --collector).",
)
@click.option(
    "--collector",
    metavar="URL",
    help="Query a running collector instead of files. URL is its address or that of a task; "
    "the token is read from NOMADP_ANALYST_TOKEN.",
)
@insecure_option
@click.option(
    "--task",
    metavar="ID|DIR",
    help="With --collector, the id of the task; with files, the folder of their task.",
)
@click.option(
    "--areas",
    "--zones",
    "zones",
    type=rule_or_file,
    metavar="AREAS",
    help="Areas: locations, grid:N, h3:R or FILE.geojson (default: those of the frequency "
    "oracle; for whole trajectories, locations for hotspots, grid:16 for density and grid:4 "
    "for flows).",
)
@click.option(
    "--at",
    type=click.Choice(["visits", "starts", "ends"]),
    help="hotspots, density: use all points of trajectories, or only the first or the last "
    "(default: what the frequency oracle reports; for trips, starts).",
)
@click.option(
    "--level",
    type=above_zero("a level must be a number above 0 and at most 1", 1),
    metavar="P",
    help="Confidence level of intervals (default: 0.9).",
)
@click.option(
    "--count",
    type=Whole(1, 1_000_000),
    metavar="N",
    help="synthesize: number of trajectories to synthesize (default: 1000).",
)
@click.option("--seed", type=Whole(0), metavar="S", help="synthesize: seed (default: 0).")
@click.option("--start", metavar="TIME", help="synthesize: add synthetic times, from TIME on.")
@file_option(
    "--model",
    "Model fitted to these reports: read from FILE, or fitted and saved there if missing.",
)
@parameter_option("pinned")
@file_option("--map", "Also write a map: one page (.html) that works offline.")
@file_option("--png", "Also write a figure (.png).")
@click.option(
    "--flowmap",
    is_flag=True,
    help="flows: write origin,dest,count (.csv) and a table of locations, for flowmap.blue.",
)
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="CSV: put an apostrophe before text that a spreadsheet would read as a formula.",
)
@out_option(
    f"The estimates: {', '.join(SUFFIXES)}.",
    *SUFFIXES,
    other_outputs={"map": ".html", "png": ".png"},
)
@json_option
def query(**options: Any) -> Result:
    """Estimate where people go from REPORTS.

    \b
    hotspots, density   share of visits in each area
    flows               share of trips for each origin-destination pair
    trajectories        location estimate for each reported point
    lengths             share of trajectories with each number of points
    synthesize          synthetic trajectories, sampled from the fitted model

    Each share comes with its standard error, a confidence interval, the uniform baseline, and
    whether it differs significantly from that baseline. Shares from an ATLAS codebook of fewer
    than 64 codewords have neither intervals nor significance. A query is post-processing and
    uses no privacy budget. REPORTS are files that "nomadp perturb" wrote. Frequency oracles
    (trips, starts, ends, visits) are the most accurate for their own query; atlas reports whole
    trajectories.

    \b
    Example:
      nomadp query flows reports.parquet --locations places.csv --out flows.csv
      nomadp query hotspots reports.parquet --locations places.csv --areas grid:8 --out hot.csv
      nomadp query hotspots --collector http://127.0.0.1:8000 --task ID --out h.csv --map h.html
    """
    summary = _run(options)
    return Result(summary, lambda: _print(summary))


def _run(options: dict[str, Any]) -> dict[str, Any]:
    """Read, estimate, write. Everything that can be refused is refused before the work."""
    from dataclasses import replace

    from nomadp.answers import run_query
    from nomadp.answers.areas import LOCATIONS
    from nomadp.formats.location_files import read_locations

    _check_outputs(options)
    bundle = bundle_from(options)
    world = read_locations(options["locations"]) if bundle is None else bundle.locations
    query_fields = _query_fields(options, world)
    zones = query_fields.get("areas")
    if bundle is None or options["collector"] is None:
        named_zones = None if zones == LOCATIONS else zones
        evidence = file_evidence(world, options, named_zones, bundle)
    else:
        evidence = collector_evidence(bundle, options)
    mechanism = evidence.mechanism
    per_report = options["kind"] == "trajectories"
    table = run_query(
        mechanism,
        reports_from(world, options, mechanism) if per_report else evidence.counts,
        query_fields,
        model=_model(evidence, options),
        **vars(evidence.terms),
    ).ranked()
    facts = {**table.about, "refused": dict(evidence.refused), "rows": len(table)}
    _write(replace(table, about=facts), world, options)
    return {"out": str(options["out"]), **facts, "top": _top(table)}


def _check_outputs(options: dict[str, Any]) -> None:
    """Refuse outputs that cannot be written, before the work."""
    from nomadp.extras import require

    if options["flowmap"] and (options["kind"] != "flows" or options["out"].suffix != ".csv"):
        raise BadUsage(
            "--flowmap needs the query flows and an --out that ends in .csv",
            code="option_unsuitable",
        )
    if options["png"] is not None:
        require("plot")
    if options["spreadsheet_safe"] and not options["out"].name.endswith((".csv", ".csv.gz")):
        raise BadUsage(
            "--spreadsheet-safe needs an --out that ends in .csv or .csv.gz",
            code="option_unsuitable",
        )
    model = options["model"]
    if model is not None and not model.exists():
        check_writable(model, in_folder=False, makes_folders=False)


def _write(table: "Estimate", world: "LocationSet", options: dict[str, Any]) -> None:
    """Write the estimates and their pictures atomically: all files, or none."""
    from nomadp.answers.estimate_files import flowmap_writes, table_writes
    from nomadp.answers.picture import picture_writes
    from nomadp.formats.atomic import write_atomically

    table_files = flowmap_writes if options["flowmap"] else table_writes
    tables = table_files(options["out"], table, for_spreadsheets=options["spreadsheet_safe"])
    pictures = picture_writes(table, world, map=options["map"], png=options["png"])
    writes = {**pictures, **tables}
    # Estimates of single reports are about single people: only their owner may read them.
    write_atomically(writes, writes if table.is_per_report else ())


def _query_fields(options: dict[str, Any], world: "LocationSet") -> dict[str, Any]:
    """The fields of the query; refused if they are invalid."""
    from nomadp.answers.areas import LOCATIONS
    from nomadp.answers.query import checked_query

    zones = options["zones"]
    if zones != LOCATIONS:
        zones = chosen_options({"zones": zones}, world).get("zones")
    names = ("at", "level", "count", "seed", "start")
    fields = {"kind": options["kind"], "areas": zones}
    fields |= {name: options[name] for name in names}
    if options["kind"] == "flows" and options["at"] is not None:
        raise BadUsage(
            "--at cannot be used with flows, which go from starts to ends",
            code="option_unsuitable",
        )
    fields = {name: value for name, value in fields.items() if value is not None}
    checked_query(fields)
    return fields


def _model(evidence: Evidence, options: dict[str, Any]) -> "Model | None":
    """The model of these reports, read or fitted; None if there are too few reports."""
    from nomadp.inference.model import Model, fit

    path = options["model"]
    if evidence.counts.reports(evidence.mechanism) < evidence.terms.min_batch_size:
        return None
    if path is not None and path.exists():
        return Model.read(path, evidence.mechanism, evidence.counts)
    with progress_bar("fitting the model") as bar:
        model = fit(evidence.mechanism, evidence.counts, progress=bar.advance)
    if path is not None:
        model.write(path)
    return model


def _top(table: "Estimate") -> list[dict[str, Any]]:
    """The largest shares of all times combined, then the largest of single times of day."""
    from nomadp.answers.columns import python_values
    from nomadp.answers.geometry import ALL_TIMES

    value = next((name for name in VALUE_COLUMNS if name in table.columns), None)
    if value is None:
        return []
    columns = [python_values(column) for column in table.columns.values()]
    rows = [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    rows.sort(key=lambda row: -row[value])
    all_times = [row for row in rows if row.get("when", ALL_TIMES) == ALL_TIMES]
    single_times = [row for row in rows if row.get("when", ALL_TIMES) != ALL_TIMES]
    return [*all_times[:TOP_ROWS], *single_times[:TOP_ROWS]]


def _print(summary: dict[str, Any]) -> None:
    if summary["missing"]:
        say(f"too few reports: {summary['missing']} more are needed")
        return
    say(
        f"{summary['reports']} reports ({summary['mechanism']}, epsilon {summary['epsilon']}): "
        f"{summary['rows']} rows in {summary['out']}"
    )
    if summary["top"]:
        first, hidden = summary["top"][0], ("lat", "lng", "rank")
        header = [name for name in first if name not in hidden and first[name] is not None]
        cells = [[_cell(row[name]) for name in header] for row in summary["top"]]
        print_table(header, cells)
    if "significance" in summary:
        _print_significance(summary["significance"])
    if "no_intervals" in summary:
        say(f"no confidence intervals and no significance: {summary['no_intervals']}")
    if "poisoning_1pct" in summary:
        poisoning = summary["poisoning_1pct"]
        say(
            "poisoning: if 1 % of reports were invalid, they could "
            f"increase a share by {poisoning['increase']:.4f} or decrease it by "
            f"{poisoning['decrease']:.4f} ({poisoning['bound']})"
        )
    if summary["invalid_reports_at_least"]:
        say(
            f"nomadp: at least {summary['invalid_reports_at_least']} reports are invalid: they "
            "occur more often than honest devices can produce them",
            err=True,
        )
    print_left_out(summary["refused"])


def _print_significance(significance: dict[str, Any]) -> None:
    count, rate = significance["significant"], significance["false_discovery_rate"]
    say(
        f"{count or 'no'} row{'' if count == 1 else 's'} significantly different from the "
        f"baseline (false discovery rate {100 * rate:.0f} %)"
    )


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
