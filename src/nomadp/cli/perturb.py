"""``nomadp perturb``: a file of trajectories in, a file of private reports out."""

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import (
    Whole,
    chosen_options,
    default_jobs,
    file_option,
    jobs_option,
    locations_option,
    mechanism_option,
    variant_options,
)
from nomadp.cli.out import out_option
from nomadp.cli.output import Answer, json_option, progress_bar, reading_notes
from nomadp.cli.perturb_request import (
    Request,
    check_lengths,
    check_private,
    people_facts,
    said_of_people,
    warnings_of,
)
from nomadp.cli.reading import (
    length_option,
    read_all,
    reading_of,
    reading_options,
    sources_argument,
)

if TYPE_CHECKING:
    from nomadp.mechanisms import Mechanism

__all__ = ["perturb"]

WORTH_PROCESSES = 2_000
"""Trajectories from which starting one process per core pays."""


@click.command()
@sources_argument("trajectories")
@locations_option
@mechanism_option
@click.option("--epsilon", required=True, metavar="E", help="Budget of a whole trajectory.")
@out_option("Reports: .csv, .csv.gz, .parquet.", ".csv", ".csv.gz", ".parquet")
@click.option(
    "--seed", type=Whole(), metavar="N", help="Simulate: repeatable, hence not private."
)
@file_option(
    "--key-file",
    "Draw with this secret key of 32 bytes: one key for one set of trajectories.",
)
@jobs_option
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Where: on this machine, or on a cluster (Apache Spark, or Sail).",
)
@click.option(
    "--master",
    metavar="URL",
    help="spark: the cluster, for example local[4], yarn or sc://localhost:50051; local[*] by "
    "default.",
)
@click.option(
    "--keep-tids",
    is_flag=True,
    help="For experiments: reports bear the tids, not random ids, so they can be evaluated.",
)
@click.option(
    "--transcript",
    is_flag=True,
    help="tp, atp: keep all that is released, from which decode estimates; slower.",
)
@length_option
@click.option("--single-points", is_flag=True, help="Accept trajectories of one point.")
@reading_options
@variant_options
@click.option(
    "--accept-not-private", is_flag=True, help="Needed by the variants that are not private."
)
@json_option
def perturb(**options: Any) -> Answer:
    """Perturb every trajectory of TRAJECTORIES once, spending epsilon on each.

    TRAJECTORIES are one or more files or folders of anything that "nomadp data convert" reads:
    tid, seq, location_id, or tid, datetime, lat, lng (and uid), or GPX, GeoJSON and others,
    whose coordinates are moved to the nearest location. User ids, times and tids never leave:
    reports have random ids, in whose order they stand. Every report has as many points as its
    trajectory, or N with --length N. Each further trajectory of a person, and each further run
    over the same ones, spends epsilon again.

    A Parquet file with one row to a trajectory, tid and the list location_ids, is perturbed
    piece by piece into a Parquet file of reports of the same layout. A run that was stopped
    keeps its finished parts and its secret key in OUT.partial, and the same command goes on
    with them. Whoever reads a key can repeat the draws, so it is deleted when all is done; a
    --key-file is yours to delete.

    With --engine spark that layout is read from a file or folder, and OUT is a folder of
    Parquet files. A key gives the same reports on every engine.

    \b
    Example:
      nomadp perturb trips.csv --locations places.csv --mechanism atp --epsilon 4 \\
        --out reports.csv
    """
    variant = chosen_options(options)
    options["reading"] = reading_of(options)
    request = Request(**{field.name: options[field.name] for field in fields(Request)})
    with reading_notes() as notes:
        summary = _perturbed(request, variant, _master(options["engine"], options["master"]))
    for note in [*notes, *summary["warnings"]]:
        click.echo(f"nomadp: {note}", err=True)
    return Answer(
        summary,
        f"{summary['trajectories']} trajectories ({summary['points']} points) perturbed by "
        f"{summary['mechanism']} at epsilon {summary['epsilon']} each: {summary['out']}\n"
        f"{said_of_people(summary)}",
    )


def _master(engine: str, master: str | None) -> str | None:
    """The cluster to work on, if any."""
    if engine == "spark":
        return master or "local[*]"
    if master is not None:
        raise click.UsageError("--master names a cluster, so it needs --engine spark")
    return None


def _perturbed(request: Request, variant: dict[str, Any], master: str | None) -> dict[str, Any]:
    """Everything that can be refused is refused before the first draw."""
    from nomadp.formats.tables import read_locations
    from nomadp.mechanisms import make_mechanism

    if request.key_file is not None and request.seed is not None:
        raise click.UsageError("--key-file and --seed exclude each other, got both")
    streamed = master is None and _is_streamed(request)
    world = read_locations(request.locations)
    mechanism = make_mechanism(request.mechanism, world, request.epsilon, **variant)
    check_private(mechanism, accepted=request.accept_not_private)
    if master is not None:
        from nomadp.cli.perturb_cluster import clustered

        return clustered(request, mechanism, master)
    return (_streamed if streamed else _at_once)(request, mechanism)


def _is_streamed(request: Request) -> bool:
    """CSV needs all reports at once, and so do transcripts, for now."""
    from nomadp.formats.files import is_parquet

    source = request.as_stored
    if source and is_parquet(source) and is_parquet(request.out) and not request.transcript:
        from nomadp.formats.nested_files import is_nested  # slow to import: Arrow

        if is_nested(source):
            return True
    if request.key_file is not None:
        raise click.UsageError(
            "--key-file needs Parquet in and out, with one row to a trajectory (tid, "
            "location_ids), and no --transcript nor --length: elsewhere a tid may not always "
            "name the same trajectory"
        )
    return False


def _streamed(request: Request, mechanism: "Mechanism") -> dict[str, Any]:
    from nomadp.cli.perturb_stream import streamed

    return streamed(request, mechanism)


def _at_once(request: Request, mechanism: "Mechanism") -> dict[str, Any]:
    """Read, perturb, write."""
    from nomadp.engine import perturb_set
    from nomadp.randomness import SimulatedWords
    from nomadp.reports import write_simulated

    true, read = read_all(
        request.trajectories,
        mechanism.locations,
        request.reading,
        request.max_snap_km,
        request.length,
    )
    single = int((true.lengths == 1).sum())
    check_lengths(mechanism, single, len(true), accepted=request.single_points)
    words = None if request.seed is None else SimulatedWords(request.seed)
    jobs = request.jobs or (default_jobs() if len(true) >= WORTH_PROCESSES else 1)
    asked = {"keep_tids": request.keep_tids, "transcripts": request.transcript}
    with progress_bar("perturbing", len(true)) as bar:
        reports = perturb_set(mechanism, true, words, jobs=jobs, progress=bar.advance, **asked)
    # What protects nobody was asked for by name: --seed, or --accept-not-private.
    write_simulated(request.out, reports)
    return {
        "out": str(request.out),
        "trajectories": len(reports),
        "points": len(reports.locations),
        **reports.header.as_dict(),
        **people_facts(read.people, mechanism),
        "snapped": None if read.snapped is None else asdict(read.snapped),
        "warnings": warnings_of(request, mechanism, read.snapped),
    }
