"""Many trajectories on a cluster: Apache Spark, Spark Connect, or Sail.

Frames have the columns of `nomadp.engine.batches`, and the session is the caller's. A cluster
may run a batch again, when a worker dies or is slow; every trajectory therefore draws from the
stream of words named by its tid, so that the second run repeats the first instead of spending
epsilon again. For the same reason the result is, report for report, that of one machine with
the same key, however the cluster cuts the work.

Whoever can read a task can read the key: the driver, the executors, and what carries tasks
between them. Over Spark Connect the serialised plan holds it too. It stands in no plan that is
shown, in no log and in no error.
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
from nomadp.mechanisms.paths import path_of
from nomadp.randomness import KeyedRandom, RandomSource
from nomadp.reports.counts import COLUMNS, Counts, check_decodable, check_readable
from nomadp.reports.rows import VALUES

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
    """The report of every trajectory of ``frame``, which is drawn when the result is used.

    Reports bear random ids, by which they are shared out and sorted, so that their order tells
    nothing; for experiments, ``keep_tids`` leaves tids and order as they are.

    Two trajectories under one tid would share their words and tell about each other, so the
    tids are compared first, which shuffles them once. Pass ``check_unique=False`` only where
    something else has made sure. Tids must be stored: ones that Spark makes up may change
    when a batch is run again, and the reports with them.
    """
    if not isinstance(randomness, KeyedRandom):
        raise errors.WrongType(
            "a cluster may run a batch again, so its words must come from a key; "
            f"use KeyedRandom(key), got {type(randomness).__name__}",
            code="words_not_keyed",
            type=type(randomness).__name__,
        )
    if check_unique:
        check_unique_tids(frame)
    # As many as one machine would count, so that it would take the same path.
    path = path_of(mechanism, frame.count())
    mapper = perturbing(mechanism, randomness, path, linked=keep_tids)
    true = _trajectories(frame, hours=mechanism.timed)
    reports = true.mapInArrow(mapper, report_columns(mechanism))
    return reports if keep_tids else reports.repartition("tid").sortWithinPartitions("tid")


def decode(
    reports: Frame, mechanism: Mechanism, prior: Prior | None = None, *, level: float = 0.9
) -> Frame:
    """The estimate of every report, with a column `radius_km` beside its locations."""
    check_decodable(mechanism)
    check_level(level)
    return _reports(reports, mechanism).mapInArrow(
        decoding(mechanism, prior, level), ESTIMATE_COLUMNS
    )


def count(reports: Frame, mechanism: Mechanism) -> list[Group]:
    """Count the distinct reports by their law on the cluster, and return the counts.

    The counts are small, and all that inference needs: `nomadp.inference.fit_prior_to_groups`
    fits a prior to them, and `nomadp.inference.hotspots.location_shares` estimates where
    people go, as if all reports were on this machine.
    """
    return groups_from(mechanism, counted(reports, mechanism))


def counted(reports: Frame, mechanism: Mechanism) -> Counts:
    """The same as counts, which add to those of other days or frames."""
    check_readable(mechanism)
    tallies = _reports(reports, mechanism).mapInArrow(tallying(mechanism), TALLY_COLUMNS)
    with refusals():
        table = tallies.groupBy("law", "length", "value").agg({"count": "sum"}).toArrow()
    return Counts.from_arrow(table.rename_columns(list(COLUMNS)))


def evaluate(
    true: Frame, reported: Frame, locations: LocationSet, radii_km: Sequence[float] = RADII_KM
) -> Evaluation:
    """What `nomadp.evaluate` says of all trajectories and their reports, matched by tid."""
    mapper = summing(locations, radii_km)
    for frame in (true, reported):
        check_unique_tids(frame)
    pairs = _renamed(true, "true_ids").join(_renamed(reported, "reported_ids"), "tid", "full")
    with refusals():
        rows = pairs.mapInArrow(mapper, SUM_COLUMNS).collect()
    return finished(rows, locations, radii_km)


def check_unique_tids(frame: Frame) -> None:
    """Refuse a frame in which a tid stands for two trajectories."""
    with refusals():
        repeated = _trajectories(frame).groupBy("tid").count().where("count > 1").count()
    if repeated:
        raise errors.SchemaError(
            f"every tid must stand for one trajectory, got {repeated} that stand for several; "
            "they are withheld; give every trajectory a tid of its own",
            code="tid_repeated",
            repeated=repeated,
        )


@contextmanager
def refusals() -> Iterator[None]:
    """What a worker refused, raised as itself: engines wrap it into errors of their own."""
    try:
        yield
    except Exception as error:
        refusal = refusal_in(str(error))
        if refusal is None:
            raise
        raise refusal from None


def survey(frame: Frame) -> Survey:
    """How many trajectories and points there are. All of it is public: lengths are."""
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
    """The columns that may leave the engine for a worker: no user ids, no unasked times."""
    missing = {"tid", "location_ids"} - set(frame.columns)
    if missing:
        raise errors.SchemaError(
            "trajectories on a cluster must have the columns tid and location_ids, one row to "
            f"a trajectory, and {' and '.join(sorted(missing))} is not there",
            code="columns_missing",
            missing=tuple(sorted(missing)),
        )
    when = [BEGIN] if hours and BEGIN in frame.columns else []
    return frame.select("tid", "location_ids", *when)


def _reports(frame: Frame, mechanism: Mechanism) -> Frame:
    """The columns that say what was released."""
    if mechanism.is_oracle and VALUES in frame.columns:
        return frame.select("tid", VALUES)
    more = ["number"] if "number" in frame.columns else []
    _trajectories(frame)
    return frame.select("tid", "location_ids", *more)


def _renamed(frame: Frame, name: str) -> Frame:
    return _trajectories(frame).withColumnRenamed("location_ids", name)


def session(master: str, settings: Mapping[str, str] | None = None) -> Any:
    """A session on ``master``: local[4], yarn, a host of Spark's own, or sc:// for Connect.

    Sail is reached by Connect. Later settings win, so the caller's do.
    """
    # Each in an environment of its own: both bring a pyspark.
    if find_spec("pyspark") is None:
        require("sail" if master.startswith("sc://") else "spark")
    import pyspark
    from pyspark.sql import SparkSession

    if master.startswith("sc://"):
        return _built(SparkSession.builder.remote(master), {**SETTINGS, **(settings or {})})
    # Workers would take whatever python3 their PATH has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local = LOCAL_SETTINGS if master.startswith("local") else {}
    if master.startswith("local-cluster"):
        # Its workers start from where pyspark keeps Spark itself.
        os.environ.setdefault("SPARK_HOME", str(Path(str(pyspark.__file__)).parent))
    chosen = {**SETTINGS, **local, **(settings or {})}
    return _built(SparkSession.builder.master(master), chosen)


def _built(builder: Any, settings: Mapping[str, str]) -> Any:
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
