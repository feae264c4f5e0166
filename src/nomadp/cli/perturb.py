"""``nomadp perturb``: a file of trajectories in, a file of private reports out."""

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import (
    EXISTING,
    chosen_options,
    default_jobs,
    jobs_option,
    json_option,
    locations_option,
    mechanism_option,
    variant_options,
)
from nomadp.cli.output import print_json, reading_notes
from nomadp.cli.perturb_request import (
    Request,
    check_lengths,
    check_out,
    check_private,
    warnings_of,
)
from nomadp.cli.progress import progress_bar

if TYPE_CHECKING:
    from nomadp.mechanisms import Mechanism

__all__ = ["perturb"]

WORTH_PROCESSES = 2_000
"""Trajectories from which starting one process per core pays."""


@click.command()
@click.argument("trajectories", type=EXISTING)
@locations_option
@mechanism_option
@click.option("--epsilon", required=True, metavar="E", help="Budget of a whole trajectory.")
@click.option(
    "--out",
    type=EXISTING,
    required=True,
    metavar="FILE",
    help="Reports: .csv, .csv.gz, .parquet.",
)
@click.option("--seed", type=int, metavar="N", help="Simulate: repeatable, hence not private.")
@click.option(
    "--key-file",
    type=EXISTING,
    metavar="FILE",
    help="Draw with this secret key of 32 bytes: one key for one set of trajectories.",
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
@click.option("--single-points", is_flag=True, help="Accept trajectories of one point.")
@variant_options
@click.option(
    "--accept-not-private", is_flag=True, help="Needed by the variants that are not private."
)
@json_option
def perturb(**options: Any) -> None:
    """Perturb every trajectory of TRAJECTORIES once, spending epsilon on each.

    TRAJECTORIES has the columns tid, seq, location_id, or tid, datetime, lat, lng (and uid),
    whose coordinates are moved to the nearest location. User ids, times and tids never leave:
    reports have random ids, in whose order they stand. Every report has as many points as its
    trajectory. Each further run over the same trajectories spends epsilon again.

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
    request = Request(**{field.name: options[field.name] for field in fields(Request)})
    with reading_notes() as notes:
        summary = _perturbed(request, variant, _master(options["engine"], options["master"]))
    for note in [*notes, *summary["warnings"]]:
        click.echo(f"nomadp: {note}", err=True)
    if options["as_json"]:
        print_json(summary)
    else:
        click.echo(
            f"{summary['trajectories']} trajectories ({summary['points']} points) perturbed by "
            f"{summary['mechanism']} at epsilon {summary['epsilon']} each: {summary['out']}"
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

    check_out(request)
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

    files = is_parquet(request.trajectories) and is_parquet(request.out)
    if files and not request.transcript:
        from nomadp.formats.nested_files import is_nested  # slow to import: Arrow

        if is_nested(request.trajectories):
            return True
    if request.key_file is not None:
        raise click.UsageError(
            "--key-file needs Parquet in and out, with one row to a trajectory (tid, "
            "location_ids), and no --transcript: elsewhere a tid may not always name the same "
            "trajectory"
        )
    return False


def _streamed(request: Request, mechanism: "Mechanism") -> dict[str, Any]:
    from nomadp.cli.perturb_stream import streamed

    return streamed(request, mechanism)


def _at_once(request: Request, mechanism: "Mechanism") -> dict[str, Any]:
    """Read, perturb, write."""
    from nomadp.engine import perturb_set
    from nomadp.formats.tables import read_trajectories
    from nomadp.randomness import words_for
    from nomadp.reports import write_simulated

    true, snapped = read_trajectories(request.trajectories, mechanism.locations)
    single = int((true.lengths == 1).sum())
    check_lengths(mechanism, single, len(true), accepted=request.single_points)
    words = None if request.seed is None else words_for(request.seed)
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
        "snapped": None if snapped is None else asdict(snapped),
        "warnings": warnings_of(request, mechanism, snapped),
    }
