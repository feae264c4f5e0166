"""``nomadp demo``: the whole system in a simulated city, and one page about it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.file_options import check_writable
from nomadp.cli.options import Whole, default_jobs, folder_option, jobs_option
from nomadp.cli.output import print_json, progress_bar, say
from nomadp.extras import EXTRAS

if TYPE_CHECKING:
    from nomadp.demo.collection import Collection

__all__ = ["demo"]

NEEDED = ("collector", "analysis")


@click.command()
@folder_option("demo-output", "Folder to write the page to.")
@click.option("--quick", is_flag=True, help="Use a smaller city and fewer settings.")
@click.option("--no-serve", is_flag=True, help="Stop the collector and exit at the end.")
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
    protocol, with real mechanisms and the system's randomness. Only their trajectories are
    simulated, and the tasks say so. The demo then runs an analyst's queries. You can open the
    dashboard until you press Ctrl-C. The page works offline. It shows true and perturbed
    trajectories, the error at each epsilon next to a no-information baseline, the budget split,
    and the audit.

    \b
    Example:
      nomadp demo --out demo-output
      nomadp demo --quick --no-serve --json
    """
    from nomadp.demo import build_demo, pieces_of_work

    check_writable(out, in_folder=out.is_dir(), makes_folders=True)
    jobs = options["jobs"] or default_jobs()
    with _collection(jobs, options["port"], quick=quick) as collection:
        with _stage("building the page", pieces_of_work(quick=quick)) as advance:
            page = build_demo(out, quick=quick, jobs=jobs, progress=advance)
        content = _content(collection, page)
        with _note_written_page(collection, page):
            if as_json:
                print_json(content)
            else:
                _print(collection, content)
            if collection is not None and not no_serve:
                say("Press Ctrl-C to stop the collector and exit.", err=True)
                collection.running.process.wait()
        if collection is not None and not no_serve:
            collection.running.check()


def _collection(
    jobs: int, port: int, *, quick: bool
) -> AbstractContextManager["Collection | None"]:
    """The running collection; None if an extra is missing, which the page does not need."""
    missing = [EXTRAS[name] for name in NEEDED if not EXTRAS[name].is_there]
    if missing:
        say(
            f"skipping the collection, which needs {missing[0].package}: {missing[0].remedy}",
            err=True,
        )
        return nullcontext()
    from nomadp.demo.collection import FULL, QUICK, run_collection

    return run_collection(QUICK if quick else FULL, jobs, _stage, port=port)


@contextmanager
def _stage(label: str, pieces: int) -> Iterator[Callable[[int], None]]:
    """Print a line at the start, and show a bar if the work takes long."""
    say(f"{label} ...", err=True)
    with progress_bar(label, pieces) as bar:
        yield bar.advance


@contextmanager
def _note_written_page(collection: "Collection | None", page: Path) -> Iterator[None]:
    """Inside, an interruption also reports that the page is written."""
    try:
        yield
    except BaseException as interruption:
        if collection is not None:
            interruption.add_note(f"the collector has stopped, and {page} is written")
        raise


def _content(collection: "Collection | None", page: Path) -> dict[str, Any]:
    if collection is None:
        return {"page": str(page)}
    return {
        "dashboard": f"{collection.running.address}/" if collection.has_pages else None,
        "collector": collection.running.address,
        "analyst_token": collection.running.token,
        "reports": collection.reports,
        "answers": [finding._asdict() for finding in collection.findings],
        "page": str(page),
    }


def _print(collection: "Collection | None", content: dict[str, Any]) -> None:
    if collection is not None:
        say(f"{collection.reports:,} reports accepted. Estimates:")
        for task, findings in groupby(collection.findings, key=lambda finding: finding.task):
            say(f"  {task}:")
            for finding in findings:
                say(f"    {finding.title}: {finding.summary}")
        if collection.has_pages:
            say(f"dashboard: {content['dashboard']}")
            say(f"  sign in with the analyst's token: {collection.running.token}")
        else:
            say(
                f"collector: {content['collector']} (no dashboard: its pages are not built; "
                "python3 dev.py web builds them and needs Node)"
            )
    say(f"page: {content['page']} (open it in a browser; it needs no network)")
