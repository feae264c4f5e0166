"""``nomadp perturb``: private reports from a file of trajectories."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.file_options import (
    length_option,
    out_option,
    read_all,
    reading_of,
    reading_options,
    sources_argument,
)
from nomadp.cli.options import (
    Whole,
    chosen_options,
    default_jobs,
    file_option,
    jobs_option,
    locations_option,
    mechanism_option,
    parameter_options,
)
from nomadp.cli.output import Result, json_option, progress_bar, reading_notes, say
from nomadp.cli.perturb_request import (
    check_lengths,
    check_private,
    direct_source,
    people_sentence,
    summary_of,
)

if TYPE_CHECKING:
    from nomadp.mechanisms import Mechanism

__all__ = ["perturb"]

MIN_FOR_PROCESSES = 2_000
"""From this many trajectories on, one process per core is faster than a single process."""


@click.command()
@sources_argument("trajectories")
@locations_option
@mechanism_option
@click.option(
    "--epsilon", required=True, metavar="E", help="Privacy budget of a whole trajectory."
)
@out_option("Reports: .csv, .csv.gz, .parquet.", ".csv", ".csv.gz", ".parquet")
@click.option(
    "--seed",
    type=Whole(0),
    metavar="N",
    help="Simulate with this seed: repeatable, and therefore not private.",
)
@file_option(
    "--key-file",
    "Draw with this secret key of 32 bytes. Use a key for one set of trajectories only.",
)
@jobs_option
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Run on this machine, or on a cluster (Apache Spark or Sail).",
)
@click.option(
    "--master",
    metavar="URL",
    help="spark: the cluster, such as local[4], yarn or sc://localhost:50051 (default: "
    "local[*]).",
)
@click.option(
    "--keep-tids",
    is_flag=True,
    help="For experiments: keep tids instead of random ids, so that reports can be evaluated.",
)
@click.option(
    "--transcript",
    is_flag=True,
    help="tp, atp: also write transcripts (every released value), which decode needs; slower.",
)
@length_option
@click.option("--single-points", is_flag=True, help="Accept trajectories with only one point.")
@reading_options
@parameter_options
@click.option(
    "--accept-not-private", is_flag=True, help="Required for mechanisms that are not private."
)
@json_option
def perturb(**options: Any) -> Result:
    """Perturb each trajectory of TRAJECTORIES once, using epsilon for each.

    TRAJECTORIES are files or folders in any format that "nomadp data convert" reads: tables
    with tid, seq, location_id or with tid, datetime, lat, lng (and uid), GPX, GeoJSON and
    others. Coordinates are moved to the nearest location. Reports contain no user ids, times or
    tids; they have random ids and are sorted by these. A report has as many points as its
    trajectory, or N with --length N. Every further trajectory of the same person, and every
    further run, uses epsilon again.

    A Parquet file with one row per trajectory (tid, and the list location_ids) is perturbed in
    pieces into a Parquet file with the same layout. If the run is interrupted, OUT.partial
    keeps the finished pieces and the secret key, and the same command resumes. Anyone who has
    the key can repeat the draws, so it is deleted at the end; you must delete a --key-file
    yourself.

    With --engine spark, the input has this layout and is a file or a folder, and OUT is a
    folder of Parquet files. A key gives the same reports on every engine.

    \b
    Example:
      nomadp perturb trips.csv --locations places.csv --mechanism atp --epsilon 4 \\
        --out reports.csv
    """
    with reading_notes() as notes:
        summary = _perturb_sources(options)
    for note in [*notes, *summary["warnings"]]:
        say(f"nomadp: {note}", err=True)
    return Result(
        summary,
        f"{summary['trajectories']} trajectories with {summary['points']} points perturbed "
        f"({summary['mechanism']}, epsilon {summary['epsilon']} each): {summary['out']}\n"
        f"{people_sentence(summary)}",
    )


def _master(engine: str, master: str | None) -> str | None:
    """The address of the cluster, or None for this machine."""
    if engine == "spark":
        return master or "local[*]"
    if master is not None:
        raise BadUsage("--master needs --engine spark", code="options_not_paired")
    return None


def _perturb_sources(options: dict[str, Any]) -> dict[str, Any]:
    """Refuse everything that can be refused before the first draw."""
    from nomadp.formats.location_files import read_locations
    from nomadp.mechanisms import make_mechanism

    reading_of(options)  # checks the options, even if the input is read without them
    master = _master(options["engine"], options["master"])
    if options["key_file"] is not None and options["seed"] is not None:
        raise BadUsage(
            "--key-file and --seed cannot be used together",
            code="options_exclude_each_other",
        )
    streaming = master is None and _is_streamed(options)
    world = read_locations(options["locations"])
    variant = chosen_options(options, world)
    mechanism = make_mechanism(options["mechanism"], world, options["epsilon"], **variant)
    check_private(mechanism, accepted=options["accept_not_private"])
    if master is None and not streaming:
        return _perturb_in_memory(options, mechanism)
    from nomadp.cli.perturb_keyed import perturb_on_cluster, perturb_stream

    if master is None:
        return perturb_stream(options, mechanism)
    return perturb_on_cluster(options, mechanism, master)


def _is_streamed(options: dict[str, Any]) -> bool:
    """Whether reports are written in pieces; CSV and transcripts need all reports at once."""
    from nomadp.formats.files import is_parquet

    source, out = direct_source(options), options["out"]
    if source and is_parquet(source) and is_parquet(out) and not options["transcript"]:
        from nomadp.formats.nested_files import is_nested  # slow to import: Arrow

        if is_nested(source):
            return True
    if options["key_file"] is not None:
        raise BadUsage(
            "--key-file needs Parquet as input and output, with one row per trajectory (tid, "
            "location_ids), and neither --transcript nor --length: otherwise a tid may name "
            "different trajectories",
            code="option_unsuitable",
        )
    return False


def _perturb_in_memory(options: dict[str, Any], mechanism: "Mechanism") -> dict[str, Any]:
    from nomadp.engine import perturb_set
    from nomadp.randomness import SeededRandom
    from nomadp.reports import write_reports, write_simulated

    trajectories, read = read_all(options, mechanism.locations)
    count, n_single = len(trajectories), int((trajectories.lengths == 1).sum())
    check_lengths(mechanism, n_single, count, options)
    randomness = None if options["seed"] is None else SeededRandom(options["seed"])
    jobs = options["jobs"] or (default_jobs() if count >= MIN_FOR_PROCESSES else 1)
    content = {"keep_tids": options["keep_tids"], "transcripts": options["transcript"]}
    with progress_bar("perturbing", count) as bar:
        reports = perturb_set(
            mechanism, trajectories, randomness, jobs=jobs, progress=bar.advance, **content
        )
    # Only these options allow output that is not private.
    simulated = options["seed"] is not None or options["accept_not_private"]
    write = write_simulated if simulated else write_reports
    write(options["out"], reports, overwrite=True)  # --out was checked first
    return {
        "out": str(options["out"]),
        "trajectories": len(reports),
        "points": len(trajectories.locations),
        **summary_of(options, mechanism, reports.header, read.people, read.snapped),
    }
