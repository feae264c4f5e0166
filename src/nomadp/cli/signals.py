"""Being told to stop (Ctrl-C, SIGTERM, a closed terminal) ends a command at once.

The first signal raises `Stopped`, so that whatever is open is closed and removed. A second one,
or `GRACE_S` without an end (a long compiled loop, a thread that still runs), ends the process
as it is: nothing half written is ever in the place of an output, and workers follow.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from nomadp.cli.exit_codes import Stopped, report_failure

__all__ = ["end_threads", "stopped_by_signals"]

GRACE_S = 3.0


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Inside, signals that would end the process raise `Stopped`; ignored ones stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {
        number: handler
        for number in (signal.Signals[name] for name in names)
        if (handler := signal.getsignal(number)) in (signal.SIG_DFL, signal.default_int_handler)
    }
    for number in before:
        signal.signal(number, _stop)
    try:
        with _watched():
            yield
    finally:
        if signal.getsignal(signal.SIGINT) is not _leave:  # else the process is ending
            for number, handler in before.items():
                signal.signal(number, handler)


def end_threads(code: int) -> None:
    """End the process if a thread still works: leaving would wait for what nobody wants."""
    others = set(threading.enumerate()) - {threading.main_thread()}
    if not all(thread.daemon for thread in others):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, _leave)
    raise Stopped(number)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


@contextmanager
def _watched() -> Iterator[None]:
    """Python runs a handler only between two steps of the main thread; this thread need not."""
    if os.name == "nt":  # no pipe can wake it there
        yield
        return
    hear, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(hear,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(tell)


def _watch(hear: int) -> None:
    ending = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    while heard := os.read(hear, 1):
        if heard[0] in ending and signal.getsignal(heard[0]) in (_stop, _leave):
            time.sleep(GRACE_S)
            if not Stopped.is_said:
                report_failure(Stopped(heard[0]), as_json=False)
            os._exit(128 + heard[0])
    os.close(hear)
