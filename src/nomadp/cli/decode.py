"""``nomadp decode``: the true location of each reported point, with a credible radius."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.file_options import out_option
from nomadp.cli.options import (
    DEFAULT_MECHANISM,
    PATH,
    MechanismOption,
    above_zero,
    chosen_options,
    locations_option,
    parameter_options,
)
from nomadp.cli.output import Result, json_option, print_left_out, progress_bar, say

if TYPE_CHECKING:
    from nomadp.inference import DecodedPoints
    from nomadp.locations import LocationSet
    from nomadp.mechanisms import Mechanism
    from nomadp.reports import AnyReports

__all__ = ["decode"]


@click.command()
@click.argument("reports", type=PATH)
@locations_option
@click.option(
    "--mechanism",
    cls=MechanismOption,
    metavar="NAME",
    help=f"Mechanism of the reports (default: read from file, or {DEFAULT_MECHANISM}). One of",
)
@click.option(
    "--epsilon", metavar="E", help="Privacy budget of a trajectory (default: read from file)."
)
@click.option(
    "--prior",
    type=click.Choice(["uniform", "fitted"]),
    default="uniform",
    show_default=True,
    help="Prior over locations: uniform, or fitted to all these reports.",
)
@click.option(
    "--level",
    type=above_zero("a level must be a number above 0 and at most 1", 1),
    default="0.9",
    show_default=True,
    metavar="P",
    help="Probability that the true location is within the credible radius.",
)
@out_option("Estimates: .csv, .csv.gz, .parquet.", ".csv", ".csv.gz", ".parquet")
@parameter_options
@json_option
def decode(**options: Any) -> Result:
    """Estimate the true location of each reported point.

    The mechanism's exact law and a prior give the posterior of each point. The estimate is the
    location with the smallest expected error; its credible radius contains the true location
    with probability P, if the prior is right. A file that "nomadp perturb" wrote names its
    mechanism, and the options must agree with it. Reports that the mechanism cannot produce are
    skipped and counted. Decoding is post-processing and uses no privacy budget. It works for
    atlas, exp, brr and l-srr, and for tp and atp with transcripts ("perturb --transcript").

    \b
    Example:
      nomadp decode reports.parquet --locations places.csv --prior fitted --out where.csv
      nomadp evaluate trips.csv where.csv --locations places.csv
    """
    summary = _decode_file(options)
    return Result(summary, lambda: _print(summary))


def _print(summary: dict[str, Any]) -> None:
    say(
        f"{summary['reports']} reports with {summary['points']} points "
        f"({summary['mechanism']}, epsilon {summary['epsilon']}): {summary['out']}"
    )
    say(
        f"{100 * summary['level']:g} % credible radius: {summary['mean_radius_km']:.3f} km on "
        "average"
    )
    print_left_out(summary["refused"])
    if summary["prior"] == "fitted" and summary["prior_effect_std"] is None:
        say("nomadp: the reports show no effect beyond chance, so the public prior was used")
    if summary["prior_converged"] is False:
        say("nomadp: fitting the prior stopped before it converged", err=True)


def _decode_file(options: dict[str, Any]) -> dict[str, Any]:
    """Read, estimate, write. Everything that can be refused is refused before the work."""
    from nomadp.formats.location_files import read_locations, write_estimates
    from nomadp.sequences import Sequences

    world = read_locations(options["locations"])
    reports, mechanism = _read(world, options)
    reports, estimate, prior_facts = _estimate(mechanism, reports, options)
    estimated = Sequences(reports.offsets, estimate.locations, reports.names)
    facts = {
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        "epsilon": str(mechanism.epsilon),
        "params": mechanism.get_params(),
        "location_set_sha256": world.sha256,
        "linked": reports.header.linked,
        **prior_facts,
        "level": options["level"],
    }
    write_estimates(options["out"], world, estimated, estimate.radius_km, facts)
    return {
        "out": str(options["out"]),
        "reports": len(reports),
        "points": len(reports.locations),
        "refused": dict(reports.refused),
        **facts,
        "mean_radius_km": float(estimate.radius_km.mean()),
    }


def _estimate(
    mechanism: "Mechanism", reports: "AnyReports", options: dict[str, Any]
) -> tuple["AnyReports", "DecodedPoints", dict[str, Any]]:
    """The possible reports, their estimates, and facts about the prior.

    A mechanism without a law of its reports is decoded from what its transcripts released.
    """
    from nomadp import inference
    from nomadp.inference.pivots import decode_released
    from nomadp.reports.counts import drop_impossible

    prior, level = None, options["level"]
    by_report = inference.can_decode(mechanism) or reports.transcripts is None
    if by_report:
        reports = _require_some(reports, drop_impossible(mechanism, reports))
    if options["prior"] == "fitted":
        with progress_bar("fitting the prior") as bar:
            prior = inference.fit_prior(mechanism, reports, progress=bar.advance)
    with progress_bar("estimating", len(reports)) as bar:
        if by_report:
            estimate = inference.decode(
                mechanism, reports, prior, level=level, progress=bar.advance
            )
        else:
            reports, estimate = decode_released(mechanism, reports, prior, level=level)
    prior_facts = {
        "prior": options["prior"],
        "prior_converged": prior and prior.converged,
        "prior_effect_std": prior and prior.effect_std,
    }
    return reports, estimate, prior_facts


def _require_some(reports: "AnyReports", possible: "AnyReports") -> "AnyReports":
    """The possible reports; refused if no report of the file is possible."""
    from nomadp.errors import DomainError

    if len(reports) and not len(possible):
        source = f"{reports.header.mechanism} at epsilon {reports.header.epsilon}"
        raise DomainError(
            f"reports must be possible outputs of {source}, got {len(reports)} that are not; "
            "check the mechanism and its options",
            code="impossible_reports",
            reports=len(reports),
        )
    return possible


def _read(world: "LocationSet", options: dict[str, Any]) -> tuple["AnyReports", "Mechanism"]:
    """The reports and their mechanism, from their file or from options."""
    from nomadp.mechanisms import make_mechanism
    from nomadp.reports.report_files import header_of, read_reports

    chosen = chosen_options(options, world)
    path, name, epsilon = options["reports"], options["mechanism"], options["epsilon"]
    if header_of(path) is not None:
        reports = read_reports(path, world)
        mechanism = reports.header.mechanism_for(world, chosen.pop("pinned", None))
        _check_options(mechanism, name, epsilon, chosen)
        return reports, mechanism
    if epsilon is None:
        raise BadUsage(
            "--epsilon must be given, because the file of reports does not name it",
            code="option_missing",
        )
    mechanism = make_mechanism(name or DEFAULT_MECHANISM, world, epsilon, **chosen)
    return read_reports(path, world, mechanism), mechanism


def _check_options(
    mechanism: "Mechanism", name: str | None, epsilon: str | None, chosen: dict[str, Any]
) -> None:
    """Refuse options that contradict the file."""
    from nomadp.budget import as_epsilon
    from nomadp.errors import DomainError

    requested = dict(chosen)
    if name is not None:
        requested["mechanism"] = name
    if epsilon is not None:
        requested["epsilon"] = str(as_epsilon(epsilon))
    actual = {"mechanism": mechanism.name, **mechanism.get_params()}
    different = [
        f"{key}={actual.get(key)}, not {value}"
        for key, value in requested.items()
        if str(actual.get(key)) != str(value)
    ]
    if different:
        raise DomainError(
            "reports must be decoded with the mechanism that made them; their file says "
            f"{'; '.join(different)}",
            code="reports_of_another_mechanism",
            differs=tuple(different),
        )
