"""``nomadp paper``: every figure and table of the paper, from data to one report."""

from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.exit_codes import BadUsage, Stopped
from nomadp.cli.file_options import check_writable
from nomadp.cli.options import Whole, default_jobs, file_option, folder_option, jobs_option
from nomadp.cli.output import Result, json_option, progress_bar, say
from nomadp.extras import require

if TYPE_CHECKING:
    from nomadp.paper import Paper

__all__ = ["paper"]

REPORT_ONLY = "report"


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@file_option(
    "--data",
    "Folder that contains one folder per data set (default: a simulated city and campus).",
    "DIR",
)
@folder_option("paper-output", "Folder for results, where an interrupted run resumes.")
@click.option("--runs", type=Whole(1), metavar="R", help="Number of repetitions (default: 5).")
@click.option("--quick", is_flag=True, help="Use few budgets, few trajectories and 2 runs.")
@jobs_option
@json_option
def paper(*, names: tuple[str, ...], jobs: int | None, **options: Any) -> Result:
    """Regenerate experiments of the paper: figures, tables, CSV, JSON and one HTML report.

    NAME is "all", or any of ne, prq, radius, directions, granularity, budget, merge,
    locations, length, reach, table1, table2 and frontier. "report" only redraws the results in
    --out. Finished results are kept: after an interruption, the same command resumes and gives
    the same numbers as an uninterrupted run.

    \b
    Example:
      nomadp paper all --quick
      nomadp paper ne table2 --data data --out results --runs 5
    """
    require("plot")
    check_writable(options["out"], in_folder=options["out"].is_dir(), makes_folders=True)
    plan = _plan(names, options)
    if REPORT_ONLY not in names:
        _compute(plan, jobs or default_jobs())
    written = plan.write()
    outcome = {
        "report": str(written[0]),
        "files": [str(path) for path in written],
        "datasets": list(plan.catalogue.names),
        "left_out": list(plan.catalogue.left_out),
        "simulated": plan.catalogue.simulated,
    }
    return Result(outcome, f"{written[0]} (open it in a browser; it needs no network)")


def _plan(names: tuple[str, ...], options: dict[str, Any]) -> "Paper":
    from nomadp.paper import Paper, reopen

    out = options.pop("out")
    if REPORT_ONLY not in names:
        return Paper.planned(names, out, **options)
    if len(names) > 1 or any(options.values()):
        raise BadUsage(
            f'"{REPORT_ONLY}" must be the only NAME, with no option but --out',
            code="option_unsuitable",
        )
    return reopen(out)


def _compute(plan: "Paper", jobs: int) -> None:
    if plan.catalogue.simulated:
        say("no --data: using a simulated city and campus", err=True)
    for reason in plan.catalogue.left_out:
        say(f"skipped: {reason}", err=True)
    todo = plan.missing()
    done = len(plan.works) - len(todo)
    earlier = f", {done} kept from an earlier run" if done else ""
    processes = f"{jobs} processes" if jobs > 1 else "1 process"
    say(f"computing {len(todo)} results with {processes}{earlier}", err=True)
    with progress_bar("computing", len(todo), lines=True) as bar:
        try:
            plan.compute(todo, jobs=jobs, progress=bar.advance)
        except Stopped as stopped:
            stopped.add_note(
                f"finished results are kept in {plan.out}; run the same command to resume"
            )
            raise
