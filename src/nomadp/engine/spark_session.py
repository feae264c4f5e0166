"""A session on the cluster that somebody named on the command line."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nomadp.engine.spark_tasks import ROWS
from nomadp.extras import require

__all__ = ["session"]

SETTINGS = {
    "spark.app.name": "nomadp",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS),
    "spark.ui.showConsoleProgress": "false",
}
LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",  # a page about the job, open to the whole network
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def session(master: str, settings: Mapping[str, str] | None = None) -> Any:
    """A session on ``master``: local[4], yarn, a host of Spark's own, or sc:// for Connect.

    Sail is reached by Connect. Later settings win, so the caller's do.
    """
    # Each in an environment of its own: both bring a pyspark.
    if find_spec("pyspark") is None:
        require("sail" if master.startswith("sc://") else "spark")
    from pyspark.sql import SparkSession

    if master.startswith("sc://"):
        return _built(SparkSession.builder.remote(master), {**SETTINGS, **(settings or {})})
    # Workers would take whatever python3 their PATH has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local = LOCAL_SETTINGS if master.startswith("local") else {}
    if master.startswith("local-cluster"):
        os.environ.setdefault("SPARK_HOME", str(_home()))
    chosen = {**SETTINGS, **local, **(settings or {})}
    return _built(SparkSession.builder.master(master), chosen)


def _built(builder: Any, settings: Mapping[str, str]) -> Any:
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _home() -> Path:
    """Where pyspark keeps Spark itself: from there the workers of a local cluster start."""
    import pyspark

    return Path(str(pyspark.__file__)).parent
