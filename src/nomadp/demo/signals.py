"""Run ``nomadp`` until it ends, or until the process that started it ends for any reason.

A killed process cannot stop its children, which would then run forever. This child has a pipe
from its parent, and the system closes the pipe when the parent ends.
"""

import os
import runpy
import signal
import sys
import threading

__all__: list[str] = []


def _end_with_parent(pipe: int) -> None:
    while os.read(pipe, 64):  # empty once the parent's end is closed
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    pipe = os.dup(0)  # the command itself does not read standard input
    threading.Thread(target=_end_with_parent, args=(pipe,), daemon=True).start()
    runpy.run_module("nomadp", run_name="__main__", alter_sys=True)
    sys.exit(0)
