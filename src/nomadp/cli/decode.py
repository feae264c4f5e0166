"""``nomadp decode``: a file of reports in, the best estimates with their radii out."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.files import out_option
from nomadp.cli.options import (
    DEFAULT_MECHANISM,
    EXISTING,
    MechanismOption,
    above_zero,
    chosen_options,
    locations_option,
    variant_options,
)
from nomadp.cli.output import Answer, json_option, print_left_out, progress_bar, say

if TYPE_CHECKING:
    from nomadp.inference import Estimate
    from nomadp.locations import LocationSet
    from nomadp.mechanisms import Mechanism
    from nomadp.reports import AnyReports

__all__ = ["decode"]


@click.command()
@click.argument("reports", type=EXISTING)
@locations_option
@click.option(
    "--mechanism",
    cls=MechanismOption,
    metavar="NAME",
    help=f"What made the reports; their file says so, else {DEFAULT_MECHANISM}. One of",
)
@click.option("--epsilon", metavar="E", help="Of a whole trajectory; their file says so.")
@click.option(
    "--prior",
    type=click.Choice(["uniform", "fitted"]),
    default="uniform",
    show_default=True,
    help="The prior: uniform, or fitted to all these reports.",
)
@click.option(
    "--level",
    type=above_zero("a level must be a number above 0 and at most 1", 1),
    default="0.9",
    show_default=True,
    metavar="P",
    help="How probably the truth lies within the radius of its estimate.",
)
@out_option("Estimates: .csv, .csv.gz, .parquet.", ".csv", ".csv.gz", ".parquet")
@variant_options
@json_option
def decode(**options: Any) -> Answer:
    """Estimate where every reported point truly was; it is post-processing and costs nothing.

    The exact law of the mechanism and a prior give, for each point, the location with the
    smallest expected error and the radius around it that holds the truth with probability P, if
    the prior is right. REPORTS says how it was made when "nomadp perturb" wrote it; what is
    said here must agree with that. Reports that nothing leads to are left out and counted. For
    atlas, exp, brr and l-srr; for tp and atp with the transcripts of "perturb --transcript".

    \b
    Example:
      nomadp decode reports.parquet --locations places.csv --prior fitted --out where.csv
      nomadp evaluate trips.csv where.csv --locations places.csv
    """
    summary = _decoded(options)
    return Answer(summary, lambda: _print(summary))


def _print(summary: dict[str, Any]) -> None:
    say(
        f"{summary['reports']} reports ({summary['points']} points) of {summary['mechanism']} "
        f"at epsilon {summary['epsilon']}: {summary['out']}"
    )
    say(
        f"radius holding {summary['level']:.0%} of the probability: "
        f"{summary['mean_radius_km']:.3f} km on average"
    )
    print_left_out(summary["refused"])
    if summary["prior"] == "fitted" and summary["prior_effect_std"] is None:
        say("nomadp: the reports show nothing beyond chance; the public prior was used")
    if summary["prior_converged"] is False:
        say("nomadp: fitting the prior stopped before it converged", err=True)


def _decoded(options: dict[str, Any]) -> dict[str, Any]:
    """Read, estimate, write; what can be refused is refused before the work."""
    from nomadp.formats.location_files import read_locations, write_estimates
    from nomadp.sequences import Sequences

    world = read_locations(options["locations"])
    reports, mechanism = _read(world, options)
    reports, estimate, about_prior = _estimated(mechanism, reports, options)
    estimated = Sequences(reports.offsets, estimate.locations, reports.names)
    facts = {
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        "epsilon": str(mechanism.epsilon),
        "params": mechanism.get_params(),
        "location_set_sha256": world.sha256,
        "linked": reports.header.linked,
        **about_prior,
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


def _estimated(
    mechanism: "Mechanism", reports: "AnyReports", options: dict[str, Any]
) -> tuple["AnyReports", "Estimate", dict[str, Any]]:
    """The reports that can be, their estimates, and what is to be said of their prior."""
    from nomadp import inference
    from nomadp.inference.pivots import decode_released
    from nomadp.reports.counts import possible

    prior, level = None, options["level"]
    whole = inference.can_decode(mechanism) or reports.transcripts is None
    if whole:
        reports = _some_of(reports, possible(mechanism, reports))
    if options["prior"] == "fitted":
        with progress_bar("fitting the prior") as bar:
            prior = inference.fit_prior(mechanism, reports, progress=bar.advance)
    with progress_bar("estimating", len(reports)) as bar:
        if whole:
            told = bar.advance
            estimate = inference.decode(mechanism, reports, prior, level=level, progress=told)
        else:
            reports, estimate = decode_released(mechanism, reports, prior, level=level)
    about_prior = {
        "prior": options["prior"],
        "prior_converged": prior and prior.settled,
        "prior_effect_std": prior and prior.spread,
    }
    return reports, estimate, about_prior


def _some_of(reports: "AnyReports", possible: "AnyReports") -> "AnyReports":
    from nomadp.errors import DomainError

    if len(reports) and not len(possible):
        made = f"{reports.header.mechanism} at epsilon {reports.header.epsilon}"
        raise DomainError(
            f"some report must be one that {made} makes, got none of {len(reports)}; were they "
            "made with this mechanism and these options?",
            code="impossible_reports",
            reports=len(reports),
        )
    return possible


def _read(world: "LocationSet", options: dict[str, Any]) -> tuple["AnyReports", "Mechanism"]:
    """The reports and their mechanism: as their file says, and as was asked for."""
    from nomadp.mechanisms import make_mechanism
    from nomadp.reports.files import header_of, read_reports

    chosen = chosen_options(options, world)
    path, name, epsilon = options["reports"], options["mechanism"], options["epsilon"]
    if header_of(path) is not None:
        reports = read_reports(path, world)
        mechanism = reports.header.mechanism_for(world, chosen.pop("pinned", None))
        _check_asked(mechanism, name, epsilon, chosen)
        return reports, mechanism
    if epsilon is None:
        raise BadUsage(
            "say with which --epsilon the reports were made; their file does not",
            code="option_missing",
        )
    mechanism = make_mechanism(name or DEFAULT_MECHANISM, world, epsilon, **chosen)
    return read_reports(path, world, mechanism), mechanism


def _check_asked(
    mechanism: "Mechanism", name: str | None, epsilon: str | None, chosen: dict[str, Any]
) -> None:
    """Refuse what was asked for where it is not what the file says."""
    from nomadp.budget import as_epsilon
    from nomadp.errors import DomainError

    asked = dict(chosen)
    if name is not None:
        asked["mechanism"] = name
    if epsilon is not None:
        asked["epsilon"] = str(as_epsilon(epsilon))
    there = {"mechanism": mechanism.name, **mechanism.get_params()}
    different = [
        f"{key}={there.get(key)} and not {value}"
        for key, value in asked.items()
        if str(there.get(key)) != str(value)
    ]
    if different:
        raise DomainError(
            "reports must be decoded with the mechanism that made them, and their file says "
            f"{'; '.join(different)}",
            code="reports_of_another_mechanism",
            differs=tuple(different),
        )
