"""Runs ``nomadp`` until it ends, or until whoever started it is gone, however they went.

A process that was killed cannot stop the ones it started: they would be there for ever. This
one holds a pipe from its starter, which closes with it.
"""

import os
import runpy
import signal
import sys
import threading

__all__: list[str] = []


def _leave_with_the_starter(pipe: int) -> None:
    while os.read(pipe, 64):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    pipe = os.dup(0)  # standard input goes to the command, which reads none
    threading.Thread(target=_leave_with_the_starter, args=(pipe,), daemon=True).start()
    runpy.run_module("nomadp", run_name="__main__", alter_sys=True)
    sys.exit(0)
