"""The worker process that answers queries: reads queries of one task as JSON on stdin."""

import base64
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from nomadp.collector.answers import FittedTask
from nomadp.errors import InvalidArgument, NomadpError, OutOfRange, WrongType
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.outlines import OUTLINES, with_outlines
from nomadp.protocol.task import Task
from nomadp.reports.counts import Counts

__all__ = ["answer_queries"]

DONE, REFUSED = "done", "refused"


def answer_queries(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The result of each query; a refusal is also a result."""
    files = {name: base64.b64decode(text) for name, text in request["files"].items()}
    bundle = TaskBundle.from_files(Task.from_bytes(files.pop("task")), files)
    if OUTLINES in files:
        bundle = with_outlines(bundle, files[OUTLINES])
    counts = Counts({(law, length, value): n for law, length, value, n in request["cells"]})
    task = FittedTask(bundle, counts)
    return [_answer(task, query) for query in request["queries"]]


def _answer(task: FittedTask, query: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {"status": DONE, "answer": task.answer(query)}
    except NomadpError as refusal:
        if isinstance(refusal, InvalidArgument | WrongType | OutOfRange):
            return _not_understood(refusal)  # an internal call failed, not the query
        return {"status": REFUSED, "code": refusal.kind, "detail": str(refusal)[:500]}
    except (TypeError, ValueError, LookupError, ArithmeticError) as refusal:
        return _not_understood(refusal)


def _not_understood(refusal: Exception) -> dict[str, Any]:
    return {"status": REFUSED, "code": "question", "detail": type(refusal).__name__}


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(5)  # uploads have priority
    sys.stdout.write(json.dumps(answer_queries(json.load(sys.stdin)), allow_nan=False))
