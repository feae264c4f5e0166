"""Many trajectories on a cluster: Apache Spark, Spark Connect, or Sail.

Frames have the columns of `nomadp.engine.batches`, and the caller owns the session. A cluster
may run a batch again when a worker dies or is slow. Every trajectory therefore draws from the
random stream named by its tid: the second run repeats the first instead of using epsilon again.
For the same reason every report equals that of one machine with the same key, however the
cluster partitions the work.

Everything that can read a task can read the key: the driver, the executors, and the network
between them. Over Spark Connect, so can the server, from the serialised plan. The key does not
appear in explained plans, logs or errors.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nomadp import errors
from nomadp.analysis import Evaluation
from nomadp.engine.batches import Survey
from nomadp.engine.spark_tasks import (
    ESTIMATE_COLUMNS,
    ROWS,
    SUM_COLUMNS,
    TALLY_COLUMNS,
    decoding,
    finished,
    perturbing,
    refusal_in,
    report_columns,
    summing,
    tallying,
)
from nomadp.extras import require
from nomadp.formats.trajectory_batches import BEGIN
from nomadp.inference import Prior
from nomadp.inference.decode import groups_from
from nomadp.inference.empirical_bayes import Group
from nomadp.inference.estimate import check_level
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.dispatch import path_of
from nomadp.randomness import KeyedRandom, RandomSource
from nomadp.reports.counts import COLUMNS, Counts, check_countable, check_decodable
from nomadp.reports.raw_reports import VALUES

__all__ = [
    "Frame",
    "check_unique_tids",
    "count",
    "counted",
    "decode",
    "evaluate",
    "perturb",
    "refusals",
    "session",
    "survey",
]

Frame = Any
"""A Spark DataFrame: classic, Connect and Sail have one each, and share only its methods."""

RADII_KM = (1.0, 2.0, 4.0)

SETTINGS = {
    "spark.app.name": "nomadp",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS),
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",  # else a timestamp's hour depends on the machine
}
LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",  # a page about the job, open to the whole network
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def perturb(
    frame: Frame,
    mechanism: Mechanism,
    randomness: RandomSource,
    *,
    check_unique: bool = True,
    keep_tids: bool = False,
) -> Frame:
    """One report for every trajectory of ``frame``, drawn lazily when the result is used.

    Reports have random ids. They are partitioned and sorted by them, so that their order
    reveals nothing. For experiments, ``keep_tids`` keeps tids and order.

    Two trajectories with one tid would draw the same words, so that their two reports together
    would reveal more than epsilon allows. Therefore the tids are compared first, which shuffles
    them once. Pass ``check_unique=False`` only if they are known to be unique. Tids must be
    stored: generated ones (such as `monotonically_increasing_id`) may change when a batch runs
    again, and would draw a second report.
    """
    if not isinstance(randomness, KeyedRandom):
        raise errors.WrongType(
            "a cluster may run a batch again, so its randomness must come from a key; "
            f"use KeyedRandom(key), got {type(randomness).__name__}",
            code="words_not_keyed",
            type=type(randomness).__name__,
        )
    if check_unique:
        check_unique_tids(frame)
    # Chosen by the number of all trajectories, as on one machine: batches must not differ.
    path = path_of(mechanism, frame.count())
    mapper = perturbing(mechanism, randomness, path, linked=keep_tids)
    trajectories = _trajectories(frame, hours=mechanism.timed)
    reports = trajectories.mapInArrow(mapper, report_columns(mechanism))
    return reports if keep_tids else reports.repartition("tid").sortWithinPartitions("tid")


def decode(
    reports: Frame, mechanism: Mechanism, prior: Prior | None = None, *, level: float = 0.9
) -> Frame:
    """The estimate of every report, with its locations and a column `radius_km`."""
    check_decodable(mechanism)
    check_level(level)
    return _reports(reports, mechanism).mapInArrow(
        decoding(mechanism, prior, level), ESTIMATE_COLUMNS
    )


def count(reports: Frame, mechanism: Mechanism) -> list[Group]:
    """Count the distinct reports on the cluster, grouped by law, and return the counts.

    The counts are small, and a sufficient statistic for inference:
    `nomadp.inference.fit_prior_to_groups` fits a prior to them, and
    `nomadp.inference.hotspots.location_shares` estimates where people go, with the results
    that all reports on this machine would give.
    """
    return groups_from(mechanism, counted(reports, mechanism))


def counted(reports: Frame, mechanism: Mechanism) -> Counts:
    """The same as `Counts`, which can be added to those of other days or frames."""
    check_countable(mechanism)
    tallies = _reports(reports, mechanism).mapInArrow(tallying(mechanism), TALLY_COLUMNS)
    with refusals():
        table = tallies.groupBy("law", "length", "value").agg({"count": "sum"}).toArrow()
    return Counts.from_arrow(table.rename_columns(list(COLUMNS)))


def evaluate(
    true: Frame, reported: Frame, locations: LocationSet, radii_km: Sequence[float] = RADII_KM
) -> Evaluation:
    """`nomadp.evaluate` for all trajectories and their reports, matched by tid."""
    mapper = summing(locations, radii_km)
    for frame in (true, reported):
        check_unique_tids(frame)
    pairs = _with_ids_as(true, "true_ids").join(
        _with_ids_as(reported, "reported_ids"), "tid", "full"
    )
    with refusals():
        rows = pairs.mapInArrow(mapper, SUM_COLUMNS).collect()
    return finished(rows, locations, radii_km)


def check_unique_tids(frame: Frame) -> None:
    """Refuse a frame in which two trajectories have the same tid."""
    with refusals():
        repeated = _trajectories(frame).groupBy("tid").count().where("count > 1").count()
    if repeated:
        raise errors.SchemaError(
            f"every tid must name one trajectory, got {repeated} that name several; they are "
            "withheld because they may be private; give every trajectory its own tid",
            code="tid_repeated",
            repeated=repeated,
        )


@contextmanager
def refusals() -> Iterator[None]:
    """Raise our error if an engine wrapped one that a worker raised."""
    try:
        yield
    except Exception as error:
        refusal = refusal_in(str(error))
        if refusal is None:
            raise
        raise refusal from None


def survey(frame: Frame) -> Survey:
    """The number of trajectories and points. All of it is public, since lengths are."""
    with refusals():
        (row,) = (
            _trajectories(frame)
            .selectExpr(
                "count(*) AS trajectories",
                "coalesce(sum(size(location_ids)), 0) AS points",
                "count(CASE WHEN size(location_ids) = 1 THEN 1 END) AS single",
            )
            .collect()
        )
    return Survey(row["trajectories"], row["points"], row["single"])


def _trajectories(frame: Frame, *, hours: bool = False) -> Frame:
    """Only the columns that a worker needs: no user ids, and times only if ``hours``."""
    missing = {"tid", "location_ids"} - set(frame.columns)
    if missing:
        raise errors.SchemaError(
            "trajectories on a cluster must have one row each and the columns tid and "
            f"location_ids, but {' and '.join(sorted(missing))} is missing",
            code="columns_missing",
            missing=tuple(sorted(missing)),
        )
    when = [BEGIN] if hours and BEGIN in frame.columns else []
    return frame.select("tid", "location_ids", *when)


def _reports(frame: Frame, mechanism: Mechanism) -> Frame:
    """Only the columns that were released."""
    if mechanism.is_oracle and VALUES in frame.columns:
        return frame.select("tid", VALUES)
    optional = ["number"] if "number" in frame.columns else []
    _trajectories(frame)
    return frame.select("tid", "location_ids", *optional)


def _with_ids_as(frame: Frame, name: str) -> Frame:
    return _trajectories(frame).withColumnRenamed("location_ids", name)


def session(master: str, settings: Mapping[str, str] | None = None) -> Any:
    """A session on ``master``: local[4], yarn, a standalone cluster, or sc:// for Connect.

    Sail is reached by Connect. ``settings`` take precedence over ours.
    """
    # Spark and Sail each bring their own pyspark, so an environment has one of them.
    if find_spec("pyspark") is None:
        require("sail" if master.startswith("sc://") else "spark")
    import pyspark
    from pyspark.sql import SparkSession

    if master.startswith("sc://"):
        return _create_session(
            SparkSession.builder.remote(master), {**SETTINGS, **(settings or {})}
        )
    # Otherwise workers run the first python3 of their PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local = LOCAL_SETTINGS if master.startswith("local") else {}
    if master.startswith("local-cluster"):
        # Its workers look for Spark there, which is inside the pyspark package.
        os.environ.setdefault("SPARK_HOME", str(Path(str(pyspark.__file__)).parent))
    chosen = {**SETTINGS, **local, **(settings or {})}
    return _create_session(SparkSession.builder.master(master), chosen)


def _create_session(builder: Any, settings: Mapping[str, str]) -> Any:
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
