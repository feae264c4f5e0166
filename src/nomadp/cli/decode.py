"""``nomadp decode``: a file of reports in, the best estimates with their radii out."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import (
    DEFAULT_MECHANISM,
    EXISTING,
    MechanismOption,
    chosen_options,
    json_option,
    locations_option,
    number,
    variant_options,
)
from nomadp.cli.out import out_option
from nomadp.cli.output import print_json
from nomadp.cli.progress import progress_bar

if TYPE_CHECKING:
    from nomadp.inference import Estimate
    from nomadp.locations import LocationSet
    from nomadp.mechanisms import Mechanism
    from nomadp.trajectory import TrajectorySet

__all__ = ["decode"]


def share_of_mass(text: str) -> float:
    """Above 0 and at most 1; click's own range would let NaN through."""
    level = number(text)
    if not 0 < level <= 1:
        raise click.BadParameter(
            f"a level must be a number above 0 and at most 1, got {text[:80]}"
        )
    return level


@click.command()
@click.argument("reports", type=EXISTING)
@locations_option
@click.option(
    "--mechanism",
    cls=MechanismOption,
    metavar="NAME",
    help=f"What made the reports; their file says so, else {DEFAULT_MECHANISM}.",
)
@click.option("--epsilon", metavar="E", help="Of a whole trajectory; their file says so.")
@click.option(
    "--prior",
    type=click.Choice(["flat", "learned"]),
    default="flat",
    show_default=True,
    help="What is taken for likely before a report is read: anything of the public walk, or "
    "what all these reports together say.",
)
@click.option(
    "--level",
    type=share_of_mass,
    default="0.9",
    show_default=True,
    metavar="P",
    help="How probably the truth lies within the radius of its estimate.",
)
@out_option("Estimates: .csv, .csv.gz, .parquet.", ".csv", ".csv.gz", ".parquet")
@variant_options
@json_option
def decode(**options: Any) -> None:
    """Estimate where every reported point truly was; it is post-processing and costs nothing.

    The exact law of the mechanism and a prior give, for each point, the location with the
    smallest expected error and the radius around it that holds the truth with probability P, if
    the prior is right. REPORTS says how it was made when "nomadp perturb" wrote it; what is
    said here must agree with that. For atlas, exp, brr and l-srr.

    \b
    Example:
      nomadp decode reports.parquet --locations places.csv --prior learned --out where.csv
      nomadp evaluate trips.csv where.csv --locations places.csv
    """
    summary = _decoded(options)
    if options["as_json"]:
        print_json(summary)
        return
    click.echo(
        f"{summary['reports']} reports ({summary['points']} points) of {summary['mechanism']} "
        f"at epsilon {summary['epsilon']}: {summary['out']}"
    )
    click.echo(
        f"radius holding {summary['level']:.0%} of the probability: "
        f"{summary['mean_radius_km']:.3f} km on average"
    )
    if summary["prior"] == "learned" and summary["prior_spread"] is None:
        click.echo("nomadp: the reports told nothing beyond chance; a public prior was used")
    if summary["prior_settled"] is False:
        click.echo("nomadp: the prior was still changing when learning was stopped", err=True)


def _decoded(options: dict[str, Any]) -> dict[str, Any]:
    """Read, estimate, write; what can be refused is refused before the work."""
    from nomadp.formats.estimate_files import write_estimates
    from nomadp.formats.tables import read_locations, read_reports
    from nomadp.trajectory import TrajectorySet

    world = read_locations(options["locations"])
    reports, said = read_reports(options["reports"], world)
    if "level" in said:
        raise click.UsageError(
            "REPORTS must be reports, got estimates that were decoded already"
        )
    mechanism = _mechanism(world, options, said)
    estimate, learned = _estimated(mechanism, reports, options)
    estimated = TrajectorySet(reports.offsets, estimate.locations, reports.tids)
    facts = {
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        "epsilon": str(mechanism.epsilon),
        "params": mechanism.get_params(),
        "location_set_sha256": world.sha256,
        **learned,
        "level": options["level"],
    }
    write_estimates(options["out"], world, estimated, estimate.radius_km, facts)
    return {
        "out": str(options["out"]),
        **_counts(estimated),
        **facts,
        "mean_radius_km": float(estimate.radius_km.mean()),
    }


def _estimated(
    mechanism: "Mechanism", reports: "TrajectorySet", options: dict[str, Any]
) -> tuple["Estimate", dict[str, Any]]:
    """The estimates, and what is to be said of their prior."""
    from nomadp import inference

    prior = None
    if options["prior"] == "learned":
        with progress_bar("learning where people go") as bar:
            prior = inference.learn_prior(mechanism, reports, progress=bar.advance)
    with progress_bar("estimating", len(reports)) as bar:
        asked = {"level": options["level"], "progress": bar.advance}
        estimate = inference.decode(mechanism, reports, prior, **asked)
    return estimate, {
        "prior": options["prior"],
        "prior_settled": None if prior is None else prior.settled,
        "prior_spread": None if prior is None else prior.spread,
    }


def _counts(estimated: "TrajectorySet") -> dict[str, int]:
    return {"reports": len(estimated), "points": len(estimated.locations)}


def _mechanism(
    world: "LocationSet", options: dict[str, Any], said: dict[str, Any]
) -> "Mechanism":
    """The mechanism of the reports: as their file says, and as was asked for."""
    from nomadp.mechanisms import make_mechanism

    name = options["mechanism"] or said.get("mechanism", DEFAULT_MECHANISM)
    epsilon = options["epsilon"] or said.get("epsilon")
    if epsilon is None:
        raise click.UsageError(
            "say with which --epsilon the reports were made; their file does not"
        )
    chosen = chosen_options(options)
    params = said.get("params")
    if isinstance(params, dict) and name == said.get("mechanism"):
        _check_pinned(params, chosen)
        kept = {key: value for key, value in params.items() if key not in ("epsilon", "pinned")}
        chosen = kept | chosen
    mechanism = make_mechanism(str(name), world, epsilon, **chosen)
    if said:
        _check_same(mechanism, said)
    return mechanism


def _check_pinned(params: dict[str, Any], chosen: dict[str, Any]) -> None:
    from nomadp.errors import DomainError

    made_with = params.get("pinned")
    given = chosen["pinned"].sha256 if "pinned" in chosen else None
    if made_with != given:
        advice = (
            f"sha256={made_with}; name its file with --atlas" if made_with else "a built one"
        )
        raise DomainError(
            f"reports must be read with the atlas they were made with, {advice}"
            + (f", got {given}" if given else "")
        )


def _check_same(mechanism: "Mechanism", said: dict[str, Any]) -> None:
    """Reports read with another law than their own would give estimates of nothing."""
    from nomadp.errors import DomainError

    here: dict[str, Any] = {
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        **mechanism.get_params(),
    }
    params = said.get("params")
    there = {**(params if isinstance(params, dict) else {}), **said}
    different = [
        f"{key}={there.get(key)} and not {value}"
        for key, value in here.items()
        if (key in there or "params" in said) and there.get(key) != value
    ]
    if different:
        raise DomainError(
            "reports must be decoded with the mechanism that made them, and their file says "
            f"{'; '.join(different)}"
        )
