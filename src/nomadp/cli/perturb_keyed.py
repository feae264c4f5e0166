"""``nomadp perturb`` with a key: a file in pieces, or a folder on a cluster."""

from typing import Any

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.options import default_jobs
from nomadp.cli.output import progress_bar, say
from nomadp.cli.perturb_request import check_lengths, direct_source, summary_of
from nomadp.engine.batches import Survey
from nomadp.engine.keys import key_source
from nomadp.engine.stream import Job, Running, open_job
from nomadp.formats.files import is_parquet
from nomadp.formats.nested_files import NestedFile
from nomadp.formats.points import People
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.dispatch import path_of
from nomadp.randomness import KeyedRandom, SeededRandom, new_key
from nomadp.reports.header import Header
from nomadp.reports.report_files import HEADER_NAME

__all__ = ["perturb_on_cluster", "perturb_stream"]


def perturb_stream(options: dict[str, Any], mechanism: Mechanism) -> dict[str, Any]:
    """Perturb a file in pieces, in bounded memory; an interrupted run resumes."""
    files = options["trajectories"][0], options["out"]
    uids = NestedFile(files[0]).uids()
    people = None if uids is None else People.of(uids)
    # Only these options allow output that is not private.
    simulated = options["seed"] is not None or options["accept_not_private"]
    job = Job(
        mechanism, *files, _randomness(options), options["keep_tids"], simulated=simulated
    )

    def accept(survey: Survey) -> None:
        check_lengths(mechanism, survey.single, survey.trajectories, options)

    with (
        progress_bar("checking") as bar,
        open_job(job, accept=accept, progress=bar.advance) as running,
    ):
        bar.close()
        _run(running, options["jobs"] or default_jobs())
    return {
        "out": str(options["out"]),
        "trajectories": running.survey.trajectories,
        "points": running.survey.points,
        "resumed_from": running.rows_done,
        **summary_of(options, mechanism, running.header, people),
    }


def _run(running: Running, jobs: int) -> None:
    total, folder = running.survey.trajectories, running.unfinished.folder
    if running.done:
        say(
            f"nomadp: resuming {folder}: {running.rows_done} of {total} trajectories are done",
            err=True,
        )
    try:
        with progress_bar("perturbing", total) as bar:
            bar.advance(running.rows_done)
            running.run(jobs=jobs, progress=bar.advance)
    except BaseException as error:
        note = f"finished pieces are kept in {folder}; run the same command to resume"
        if isinstance(error, Exception):
            say(f"nomadp: {note}", err=True)
        else:
            error.add_note(note)
        raise


def perturb_on_cluster(
    options: dict[str, Any], mechanism: Mechanism, master: str
) -> dict[str, Any]:
    """Perturb on a cluster whose machines see the same paths as this one."""
    from nomadp.engine import spark as cluster

    _check_options(options)
    out, linked, chosen = options["out"], options["keep_tids"], _randomness(options)
    with cluster.refusals():
        spark = cluster.session(master)
        frame = spark.read.parquet(str(options["trajectories"][0].resolve()))
        survey, people = cluster.survey(frame), _people(frame)
        check_lengths(mechanism, survey.single, survey.trajectories, options)
        randomness = chosen or KeyedRandom(new_key())
        cluster.perturb(frame, mechanism, randomness, keep_tids=linked).write.parquet(
            str(out.resolve())
        )
        spark.stop()
    path = path_of(mechanism, survey.trajectories)
    header = Header.of(mechanism, chosen, linked=linked, path=path)
    if out.is_dir():  # not if only the cluster sees the folder
        (out / HEADER_NAME).write_bytes(header.to_json() + b"\n")
    return {
        "out": str(options["out"]),
        "trajectories": survey.trajectories,
        "points": survey.points,
        **summary_of(options, mechanism, header, people),
    }


def _people(frame: Any) -> People | None:
    if "uid" not in frame.columns:
        return None
    per_person = frame.groupBy("uid").count()
    count, most = per_person.selectExpr("count(*)", "max(count)").first()
    return People(count, most)


def _check_options(options: dict[str, Any]) -> None:
    if direct_source(options) is None:
        raise BadUsage(
            "--engine spark reads one file or folder unchanged, without --length, --columns "
            "and --split-hours",
            code="option_unsuitable",
        )
    if options["jobs"] is not None or options["transcript"]:
        raise BadUsage(
            "--jobs and --transcript need --engine local: a cluster distributes the work "
            "itself and writes no transcripts",
            code="option_unsuitable",
        )
    if not is_parquet(options["out"]) or options["out"].exists():
        raise BadUsage(
            "--out must name a new folder that ends in .parquet: a cluster writes many files "
            "and does not replace any",
            code="output_is_no_new_folder",
        )


def _randomness(options: dict[str, Any]) -> KeyedRandom | None:
    """The random source of --seed or --key-file, if any."""
    if options["seed"] is not None:
        return SeededRandom(options["seed"])
    return None if options["key_file"] is None else key_source(options["key_file"])
