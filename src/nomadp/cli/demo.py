"""``nomadp demo``: one page that shows what this does, on a simulated city."""

from pathlib import Path

import click

from nomadp.cli.files import check_writable
from nomadp.cli.options import default_jobs, folder_option, jobs_option
from nomadp.cli.output import Answer, json_option, progress_bar

__all__ = ["demo"]


@click.command()
@folder_option("demo-output", "The folder to write the page into.")
@click.option("--quick", is_flag=True, help="A smaller city and fewer settings.")
@jobs_option
@json_option
def demo(*, out: Path, quick: bool, jobs: int | None) -> Answer:
    """Perturb a simulated city with every mechanism and write one page that opens offline.

    The page shows true and perturbed journeys on a map, errors against epsilon beside what no
    information gives, where the budget goes, and the audit. No person's data is involved.

    \b
    Example:
      nomadp demo --out demo-output
    """
    from nomadp.demo import build_demo, pieces_of_work

    check_writable(out, in_folder=out.is_dir(), is_made=True)
    with progress_bar("building the demo", pieces_of_work(quick=quick)) as bar:
        page = build_demo(out, quick=quick, jobs=jobs or default_jobs(), progress=bar.advance)
    return Answer({"page": str(page)}, f"{page} (open it in a browser; it needs no network)")
