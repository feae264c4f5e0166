"""Limits of processor time, calibrated by a piece of work of known duration."""

import time

__all__ = ["on_this_machine"]

WORK_S = 0.0104
"""Of what `_work` does, on the machine that limits are told for."""


def on_this_machine(seconds: float) -> float:
    """The limit, scaled to the speed of this machine."""
    return seconds * max(1.0, min(_work() for _ in range(5)) / WORK_S)


def _work() -> float:
    began_s = time.process_time()
    sum(k * k for k in range(400_000))
    return time.process_time() - began_s
