"""``nomadp perturb --engine spark``: a folder of Parquet in, a folder of reports out."""

import json
from typing import Any

import click

from nomadp.cli.perturb_request import (
    Request,
    check_lengths,
    metadata_of,
    people_facts,
    warnings_of,
)
from nomadp.engine import spark as cluster
from nomadp.engine.keys import words_of
from nomadp.engine.spark_session import session
from nomadp.formats.files import is_parquet
from nomadp.formats.points import People
from nomadp.mechanisms import Mechanism
from nomadp.randomness import KeyedWords, SimulatedWords, new_key

__all__ = ["clustered"]

ABOUT = "_nomadp.json"
"""What the reports say about themselves; readers of Parquet pass over names like this."""


def clustered(request: Request, mechanism: Mechanism, master: str) -> dict[str, Any]:
    """Perturb on a cluster whose machines see the same paths as this one."""
    _check(request)
    metadata = metadata_of(request, mechanism)
    with cluster.refusals():
        spark = session(master)
        frame = spark.read.parquet(str(request.trajectories[0].resolve()))
        found, people = cluster.survey(frame), _people(frame)
        check_lengths(
            mechanism, found.single, found.trajectories, accepted=request.single_points
        )
        reports = cluster.perturb(frame, mechanism, _words(request))
        reports.write.parquet(str(request.out.resolve()))
        spark.stop()
    if request.out.is_dir():  # not where only the cluster sees it
        (request.out / ABOUT).write_text(json.dumps(metadata, indent=2) + "\n", "utf-8")
    return {
        "out": str(request.out),
        "trajectories": found.trajectories,
        "points": found.points,
        **metadata,
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
    if request.jobs is not None or request.unlink:
        raise click.UsageError(
            "--jobs and --unlink belong to the local engine: a cluster shares out the work by "
            "itself, and no worker sees all reports"
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
