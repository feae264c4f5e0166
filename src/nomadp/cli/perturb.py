"""``nomadp perturb``: a file of trajectories in, a file of private reports out."""

from dataclasses import asdict, dataclass, fields
from errno import ENOENT
from os import strerror
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import nomadp
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
from nomadp.cli.progress import progress_bar

if TYPE_CHECKING:
    from nomadp.data.tables import SnapSummary
    from nomadp.mechanisms import Mechanism
    from nomadp.trajectory import TrajectorySet

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
@jobs_option
@click.option(
    "--unlink", is_flag=True, help="Random report ids instead of tids, in their order."
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
    whose coordinates are moved to the nearest location. User ids and times never leave. Every
    report has as many points as its trajectory. Each further run over the same trajectories
    spends epsilon again.

    \b
    Example:
      nomadp perturb trips.csv --locations places.csv --mechanism atp --epsilon 4 \\
        --out reports.csv
    """
    variant = chosen_options(options)
    request = Request(**{field.name: options[field.name] for field in fields(Request)})
    with reading_notes() as notes:
        summary = _perturbed(request, variant)
    for note in [*notes, *summary["warnings"]]:
        click.echo(f"nomadp: {note}", err=True)
    if options["as_json"]:
        print_json(summary)
    else:
        click.echo(
            f"{summary['trajectories']} trajectories ({summary['points']} points) perturbed by "
            f"{summary['mechanism']} at epsilon {summary['epsilon']} each: {summary['out']}"
        )


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line, apart from the mechanism's own options."""

    trajectories: Path
    locations: Path
    mechanism: str
    epsilon: str
    out: Path
    seed: int | None
    jobs: int | None
    unlink: bool
    single_points: bool
    accept_not_private: bool


def _perturbed(request: Request, variant: dict[str, Any]) -> dict[str, Any]:
    """Read, perturb, write; everything that can be refused is refused before the first draw."""
    from nomadp.data.tables import ReportTable, read_locations, read_trajectories, write_reports
    from nomadp.engine import perturb_set, unlinked
    from nomadp.mechanisms import make_mechanism
    from nomadp.randomness import words_for

    _check_out(request)
    world = read_locations(request.locations)
    mechanism = make_mechanism(request.mechanism, world, request.epsilon, **variant)
    _check_private(mechanism, accepted=request.accept_not_private)
    true, snapped = read_trajectories(request.trajectories, world)
    _check_lengths(mechanism, true, accepted=request.single_points)
    words = words_for(request.seed)
    jobs = request.jobs or (default_jobs() if len(true) >= WORTH_PROCESSES else 1)
    with progress_bar("perturbing", len(true)) as bar:
        reported = perturb_set(mechanism, true, words, jobs=jobs, progress=bar.advance)
    if request.unlink:
        reported = unlinked(reported, words)
    metadata = _metadata(mechanism, simulated=words.simulated, linked=not request.unlink)
    write_reports(request.out, ReportTable(reported, world, metadata))
    return {
        "out": str(request.out),
        "trajectories": len(reported),
        "points": len(reported.locations),
        **metadata,
        "snapped": None if snapped is None else asdict(snapped),
        "warnings": _warnings(mechanism, snapped, simulated=words.simulated),
    }


def _check_out(request: Request) -> None:
    from nomadp.data.files import file_path

    out = file_path(request.out).resolve()
    if not out.parent.is_dir():
        raise FileNotFoundError(ENOENT, strerror(ENOENT), str(request.out.parent))
    if out in (request.trajectories.resolve(), request.locations.resolve()):
        raise click.UsageError("--out must name a new file, got one of the inputs")


def _check_private(mechanism: "Mechanism", *, accepted: bool) -> None:
    from nomadp.errors import NotPrivateError

    if not mechanism.private and not accepted:
        raise NotPrivateError(
            f"{mechanism.name} is for experiments only; {mechanism.warning}; to use it on data "
            "that nobody needs protected, add --accept-not-private"
        )


def _check_lengths(mechanism: "Mechanism", true: "TrajectorySet", *, accepted: bool) -> None:
    from nomadp.errors import DomainError

    single = int((true.lengths == 1).sum())
    directed = any(step.name == "direction" for step in mechanism.split(2).steps)
    if single and directed and not accepted:
        raise DomainError(
            "a trajectory must have at least 2 locations to have a direction, got "
            f"{single} of {len(true)} with only 1; leave them out, use exp, or add "
            "--single-points to perturb them without directions"
        )


def _metadata(mechanism: "Mechanism", *, simulated: bool, linked: bool) -> dict[str, Any]:
    return {
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        "epsilon": str(mechanism.epsilon),
        "params": mechanism.get_params(),
        "location_set_sha256": mechanism.locations.sha256,
        "rng": "seeded" if simulated else "system",
        "private": mechanism.private and not simulated,
        "linked": linked,
        "nomadp_version": nomadp.__version__,
    }


def _warnings(
    mechanism: "Mechanism", snapped: "SnapSummary | None", *, simulated: bool
) -> list[str]:
    warnings = []
    if snapped is not None:
        warnings.append(
            f"{snapped.points} points moved to their nearest locations: half of them at most "
            f"{snapped.median_km:.3f} km, 95 % at most {snapped.p95_km:.3f} km; "
            f"{snapped.moved_over_1km_share:.1%} moved over 1 km"
        )
    if simulated:
        warnings.append(
            "the output is simulated: it is not private against somebody who knows the seed"
        )
    if not mechanism.private:
        warnings.append(f"the output is not private: {mechanism.warning}")
    return warnings
