"""One JSON object a line on standard error: what the collector does, never who asked.

Requests are not logged: the moment of one is finer than its epoch, and an address is somebody.
"""

import json
import sys
import time
from typing import Any

__all__ = ["log", "log_failure"]


def log(code: str, event: str, **facts: Any) -> None:
    """``code`` is for programs and stays the same; ``event`` is for people and may change."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = json.dumps({"time": moment, "code": code, "event": event, **facts}, default=str)
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def log_failure(code: str, event: str, error: BaseException) -> None:
    """Its class and place; its message may quote what somebody sent."""
    place, step = "", error.__traceback__
    while step is not None:
        place = f"{step.tb_frame.f_globals.get('__name__')}:{step.tb_lineno}"
        step = step.tb_next
    log(code, event, error=type(error).__name__, at=place)
