"""The process that works out answers: questions to one task as JSON on stdin, then theirs."""

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
    """What is found for each question; a refusal is an answer, too."""
    files = {name: base64.b64decode(text) for name, text in request["files"].items()}
    bundle = TaskBundle.from_files(Task.from_bytes(files.pop("task")), files)
    if OUTLINES in files:
        bundle = with_outlines(bundle, files[OUTLINES])
    counts = Counts({(law, length, value): n for law, length, value, n in request["cells"]})
    asking = FittedTask(bundle, counts)
    return [_answered(asking, question) for question in request["questions"]]


def _answered(asking: FittedTask, question: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {"status": DONE, "answer": asking.answered(question)}
    except NomadpError as refusal:
        if isinstance(refusal, InvalidArgument | WrongType | OutOfRange):
            return _not_understood(refusal)  # of a function within, not of the question
        return {"status": REFUSED, "code": refusal.kind, "detail": str(refusal)[:500]}
    except (TypeError, ValueError, LookupError, ArithmeticError) as refusal:
        return _not_understood(refusal)


def _not_understood(refusal: Exception) -> dict[str, Any]:
    return {"status": REFUSED, "code": "question", "detail": type(refusal).__name__}


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(5)  # uploads go first
    sys.stdout.write(json.dumps(answer_queries(json.load(sys.stdin)), allow_nan=False))
