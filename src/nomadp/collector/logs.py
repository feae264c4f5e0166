"""The collector's log: one JSON object per line on standard error.

Requests are not logged, because their times are more precise than an epoch and their addresses
identify people.
"""

import json
import sys
import time
from typing import Any

__all__ = ["log", "log_failure"]


def log(code: str, event: str, **facts: Any) -> None:
    """``code`` is for programs and never changes; ``event`` is for people and may change."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = json.dumps({"time": moment, "code": code, "event": event, **facts}, default=str)
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def log_failure(code: str, event: str, error: BaseException) -> None:
    """Log an error's class and place, but not its message, which may quote a request."""
    place, step = "", error.__traceback__
    while step is not None:
        place = f"{step.tb_frame.f_globals.get('__name__')}:{step.tb_lineno}"
        step = step.tb_next
    log(code, event, error=type(error).__name__, at=place)
