"""``nomadp evaluate``: the utility of reports, against no-information baselines."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.file_options import length_option, read_all, reading_options, sources_argument
from nomadp.cli.options import PATH, ManyNumbers, kilometres, locations_option
from nomadp.cli.output import Result, json_option, print_table, say

if TYPE_CHECKING:
    from nomadp.analysis import Evaluation

__all__ = ["evaluate"]

LABELS = {
    "reported": "reported",
    "constant": "best constant (no information)",
    "uniform": "uniform guess (no information)",
}


@click.command(cls=ManyNumbers)
@sources_argument("trajectories")
@click.argument("reported", type=PATH)
@locations_option
@click.option(
    "--radius-km",
    "radii_km",
    type=kilometres,
    multiple=True,
    default=(1.0, 2.0, 4.0),
    metavar="KM...",
    help="Radii of the range query (default: 1 2 4).",
)
@length_option
@reading_options
@json_option
def evaluate(**options: Any) -> Result:
    """Measure the error of REPORTED against the true TRAJECTORIES.

    Prints the normalised error (NE), the mean error in km, and the accuracy of range queries
    (PRQ). Trajectories are read as "nomadp perturb" reads them, with the same options, and
    matched to reports by tid. The last rows are baselines that use no information: a mechanism
    that does not beat them has no utility.

    \b
    Example:
      nomadp evaluate trips.csv reports.csv --locations places.csv --radius-km 0.5 1 2
    """
    evaluation = _evaluation(options)
    return Result(evaluation.as_dict(), lambda: _print(evaluation))


def _evaluation(options: dict[str, Any]) -> "Evaluation":
    from nomadp.analysis import evaluate, matched_by_tid
    from nomadp.errors import DomainError
    from nomadp.formats.location_files import read_locations
    from nomadp.reports.report_files import read_raw_reports

    world = read_locations(options["locations"])
    true, _ = read_all(options, world)
    reported, metadata = read_raw_reports(options["reported"], world)
    if metadata.get("linked") is False:
        raise DomainError(
            f"{options['reported']} must have the tids of the trajectories, but its ids are "
            'random; for experiments, use "nomadp perturb --keep-tids"',
            code="random_ids",
        )
    return evaluate(world, true, matched_by_tid(true, reported.sequences), options["radii_km"])


def _print(evaluation: "Evaluation") -> None:
    say(
        f"{evaluation.trajectories} trajectories, {evaluation.points} points; "
        f"largest distance {evaluation.diameter_km:.3f} km\n"
    )
    print_table(
        ["estimate", "NE", "error km", *(f"PRQ({r:g} km) %" for r in evaluation.radii_km)],
        [
            [
                LABELS[name],
                f"{scores.normalised_error:.4f}",
                f"{scores.error_km:.3f}",
                *(f"{percent:.2f}" for percent in scores.range_query),
            ]
            for name, scores in evaluation.answers.items()
        ],
    )
