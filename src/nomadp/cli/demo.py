"""``nomadp demo``: the whole system in a simulated city, and one page about it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.files import check_writable
from nomadp.cli.options import Whole, default_jobs, folder_option, jobs_option
from nomadp.cli.output import print_json, progress_bar, say
from nomadp.extras import EXTRAS

if TYPE_CHECKING:
    from nomadp.demo.collection import Collection

__all__ = ["demo"]

NEEDED = ("collector", "analysis")


@click.command()
@folder_option("demo-output", "The folder to write the page into.")
@click.option("--quick", is_flag=True, help="Use a smaller city and fewer settings.")
@click.option("--no-serve", is_flag=True, help="Exit at the end and stop the collector.")
@click.option(
    "--port",
    type=Whole(0, 65_535),
    default=0,
    help="Port of the collector (default: any free port).",
)
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def demo(*, out: Path, quick: bool, no_serve: bool, as_json: bool, **options: Any) -> None:
    """Run a collection in a simulated city, from the task to the dashboard, and write a page.

    This starts a collector on this machine. Thousands of devices report to it over the real
    protocol, with real mechanisms and the system's randomness. Only their trajectories are made
    up, and the tasks say so. The demo then runs an analyst's queries. You can open the
    dashboard until you press Ctrl-C. The page works offline. It shows true and perturbed
    trajectories, the error at each epsilon next to a no-information baseline, the budget split,
    and the audit.

    \b
    Example:
      nomadp demo --out demo-output
      nomadp demo --quick --no-serve --json
    """
    from nomadp.demo import build_demo, pieces_of_work

    check_writable(out, in_folder=out.is_dir(), is_made=True)
    jobs = options["jobs"] or default_jobs()
    with _collection(jobs, options["port"], quick=quick) as held:
        with _stage("building the page", pieces_of_work(quick=quick)) as advance:
            page = build_demo(out, quick=quick, jobs=jobs, progress=advance)
        found = _found(held, page)
        with _page_is_written(held, page):
            if as_json:
                print_json(found)
            else:
                _print(held, found)
            if held is not None and not no_serve:
                say("Press Ctrl-C to stop the collector and exit.", err=True)
                held.running.process.wait()
        if held is not None and not no_serve:
            held.running.check()


def _collection(
    jobs: int, port: int, *, quick: bool
) -> AbstractContextManager["Collection | None"]:
    """The collection; None where an extra is missing, since the page needs none."""
    missing = [EXTRAS[name] for name in NEEDED if not EXTRAS[name].is_there]
    if missing:
        say(
            f"no collection is run, which needs {missing[0].package}: {missing[0].remedy}",
            err=True,
        )
        return nullcontext()
    from nomadp.demo.collection import FULL, QUICK, run_collection

    return run_collection(QUICK if quick else FULL, jobs, _stage, port=port)


@contextmanager
def _stage(what: str, pieces: int) -> Iterator[Callable[[int], None]]:
    """Print a line at the start, and show a bar if the work takes long."""
    say(f"{what} ...", err=True)
    with progress_bar(what, pieces) as bar:
        yield bar.advance


@contextmanager
def _page_is_written(held: "Collection | None", page: Path) -> Iterator[None]:
    """From here on, an interruption reports that the page is written."""
    try:
        yield
    except BaseException as stopped:
        if held is not None:
            stopped.add_note(f"the collector has stopped, and {page} is written")
        raise


def _found(held: "Collection | None", page: Path) -> dict[str, Any]:
    if held is None:
        return {"page": str(page)}
    return {
        "dashboard": f"{held.running.address}/" if held.has_pages else None,
        "collector": held.running.address,
        "analyst_token": held.running.token,
        "reports": held.reports,
        "answers": [finding._asdict() for finding in held.findings],
        "page": str(page),
    }


def _print(held: "Collection | None", found: dict[str, Any]) -> None:
    if held is not None:
        say(f"{held.reports:,} reports accepted. Estimates:")
        for task, findings in groupby(held.findings, key=lambda finding: finding.task):
            say(f"  {task}:")
            for finding in findings:
                say(f"    {finding.title}: {finding.summary}")
        if held.has_pages:
            say(f"dashboard: {found['dashboard']}")
            say(f"  sign in with the analyst's token: {held.running.token}")
        else:
            say(
                f"collector: {found['collector']} (no dashboard: its pages are not built; "
                "python3 dev.py web builds them and needs Node)"
            )
    say(f"page: {found['page']} (open it in a browser; it needs no network)")
