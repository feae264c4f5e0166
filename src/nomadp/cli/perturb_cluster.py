"""``nomadp perturb --engine spark``: a folder of Parquet in, a folder of reports out."""

from typing import Any

import click

from nomadp.cli.perturb_request import Request, check_lengths, people_facts, warnings_of
from nomadp.engine import spark as cluster
from nomadp.engine.keys import words_of
from nomadp.engine.spark_session import session
from nomadp.formats.files import is_parquet
from nomadp.formats.points import People
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.paths import path_of
from nomadp.randomness import KeyedWords, SimulatedWords, new_key
from nomadp.reports.files import ABOUT
from nomadp.reports.header import Header

__all__ = ["clustered"]


def clustered(request: Request, mechanism: Mechanism, master: str) -> dict[str, Any]:
    """Perturb on a cluster whose machines see the same paths as this one."""
    _check(request)
    with cluster.refusals():
        spark = session(master)
        frame = spark.read.parquet(str(request.trajectories[0].resolve()))
        found, people = cluster.survey(frame), _people(frame)
        check_lengths(
            mechanism, found.single, found.trajectories, accepted=request.single_points
        )
        words = _words(request)
        reports = cluster.perturb(frame, mechanism, words, keep_tids=request.keep_tids)
        reports.write.parquet(str(request.out.resolve()))
        spark.stop()
    path = path_of(mechanism, found.trajectories)
    own = None if request.seed is None and request.key_file is None else words
    header = Header.of(mechanism, own, linked=request.keep_tids, path=path)
    if request.out.is_dir():  # not where only the cluster sees it
        (request.out / ABOUT).write_bytes(header.to_json() + b"\n")
    return {
        "out": str(request.out),
        "trajectories": found.trajectories,
        "points": found.points,
        **header.as_dict(),
        **people_facts(people, mechanism),
        "snapped": None,
        "warnings": warnings_of(request, mechanism),
    }


def _people(frame: Any) -> People | None:
    if "uid" not in frame.columns:
        return None
    each = frame.groupBy("uid").count()
    count, most = each.selectExpr("count(*)", "max(count)").first()
    return People(count, most)


def _check(request: Request) -> None:
    if request.as_stored is None:
        raise click.UsageError(
            "a cluster reads one file or folder just as it stands, without --length, --columns "
            "and --split-hours"
        )
    if request.jobs is not None or request.transcript:
        raise click.UsageError(
            "--jobs and --transcript belong to the local engine: a cluster shares out the work "
            "by itself, and keeps reports alone"
        )
    if not is_parquet(request.out) or request.out.exists():
        raise click.UsageError(
            "--out must name a new folder that ends in .parquet: a cluster writes many files "
            "and replaces none"
        )


def _words(request: Request) -> KeyedWords:
    if request.seed is not None:
        return SimulatedWords(request.seed)
    return KeyedWords(new_key()) if request.key_file is None else words_of(request.key_file)
