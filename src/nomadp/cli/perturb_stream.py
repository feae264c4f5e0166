"""``nomadp perturb`` on a file that is never in memory as a whole."""

from typing import Any

import click

from nomadp.cli.options import default_jobs
from nomadp.cli.output import progress_bar
from nomadp.cli.perturb_request import Request, check_lengths, people_facts, warnings_of
from nomadp.engine.keys import words_of
from nomadp.engine.stream import Job, Running, open_job
from nomadp.engine.survey import Survey
from nomadp.formats.nested_files import NestedFile
from nomadp.formats.points import People
from nomadp.mechanisms import Mechanism
from nomadp.randomness import KeyedWords, SimulatedWords

__all__ = ["streamed"]


def streamed(request: Request, mechanism: Mechanism) -> dict[str, Any]:
    """Perturb piece by piece; a run that was stopped goes on."""
    source = request.trajectories[0]
    uids = NestedFile(source).uids()
    people = None if uids is None else People.of(uids)
    asked = request.seed is not None or request.accept_not_private  # for what protects nobody
    files = source, request.out
    job = Job(mechanism, *files, _words(request), request.keep_tids, simulated=asked)

    def accept(found: Survey) -> None:
        check_lengths(
            mechanism, found.single, found.trajectories, accepted=request.single_points
        )

    with (
        progress_bar("checking") as bar,
        open_job(job, accept=accept, progress=bar.advance) as running,
    ):
        bar.close()
        _run(running, request.jobs or default_jobs())
    return {
        "out": str(request.out),
        "trajectories": running.survey.trajectories,
        "points": running.survey.points,
        **running.header.as_dict(),
        **people_facts(people, mechanism),
        "resumed_from": running.rows_done,
        "snapped": None,
        "warnings": warnings_of(request, mechanism),
    }


def _words(request: Request) -> KeyedWords | None:
    if request.seed is not None:
        return SimulatedWords(request.seed)
    return None if request.key_file is None else words_of(request.key_file)


def _run(running: Running, jobs: int) -> None:
    total, folder = running.survey.trajectories, running.unfinished.folder
    if running.done:
        click.echo(
            f"nomadp: going on with {folder}: {running.rows_done} of {total} trajectories are "
            "done",
            err=True,
        )
    try:
        with progress_bar("perturbing", total) as bar:
            bar.advance(running.rows_done)
            running.run(jobs=jobs, progress=bar.advance)
    except BaseException as error:
        kept = f"what was done is kept in {folder}; the same command goes on from there"
        if isinstance(error, Exception):
            click.echo(f"nomadp: {kept}", err=True)
        else:
            error.add_note(kept)
        raise
