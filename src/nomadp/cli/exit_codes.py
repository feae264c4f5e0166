"""Exit codes and error messages.

0    done
1    refused or failed: no randomness, not private, a failed audit, a full disk
2    bad input: a file, an option or a trajectory that cannot be used
130  interrupted by Ctrl-C; 143 by SIGTERM, 129 by a closed terminal (128 plus the signal)

Every failure prints one sentence on stderr, followed by its stable code in brackets. The
message of an unexpected exception may quote a private location, so only its class and the
line that raised it are shown, unless NOMADP_DEBUG=1.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ELOOP, ENAMETOOLONG
from types import FrameType
from typing import ClassVar, NoReturn

import click

from nomadp.characters import printable
from nomadp.cli.output import say
from nomadp.errors import NomadpError

__all__ = [
    "BadOption",
    "BadUsage",
    "Stopped",
    "end_threads",
    "report_failure",
    "stopped_by_signals",
]

FAILED = 1
BAD_INPUT = 2

GRACE_S = 3.0
"""Seconds after a signal until the process ends, even inside a long compiled loop."""

_UNUSABLE_PATH = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)


class BadUsage(click.UsageError):
    """Options or arguments that cannot be combined; ``code`` names the rule they break."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class BadOption(click.BadParameter):
    """An invalid value of one option, which click names in the message."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class Stopped(BaseException):
    """A signal interrupted the command. The exception's notes say which results were kept."""

    is_reported: ClassVar[bool] = False
    """Whether the interruption was printed, so that the watching thread does not repeat it."""

    def __init__(self, number: int) -> None:
        self.number = number


def report_failure(error: BaseException, *, as_json: bool) -> int:
    """Print the failure on stderr, and as JSON on stdout if requested; return the exit code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        say(error.format_message(), err=True)
        return BAD_INPUT
    if os.environ.get("NOMADP_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    exit_code, name, sentence = _description(error)
    suffix = "" if isinstance(error, Stopped | click.Abort) else f" [{name}]"
    say(f"nomadp: {printable(sentence, lines=False)}{suffix}", err=True)
    if as_json:
        from nomadp.cli.output import print_json

        print_json({"error": {"code": name, "message": sentence}})
    return exit_code


def _description(error: BaseException) -> tuple[int, str, str]:
    """Exit code, stable name and sentence of a failure."""
    if isinstance(error, NomadpError):
        code = BAD_INPUT if isinstance(error, ValueError) else FAILED
        return code, error.code, str(error)
    if isinstance(error, ImportError):
        from nomadp.extras import absence_of

        if missing := absence_of(error.name):
            return FAILED, missing.code, str(missing)
    if isinstance(error, Stopped | click.Abort):
        return _interruption(error)
    if isinstance(error, click.ClickException):
        return BAD_INPUT, getattr(error, "code", "usage"), _usage_sentence(error)
    if isinstance(error, OSError) and error.strerror:
        unusable = isinstance(error, _UNUSABLE_PATH) or error.errno in (ELOOP, ENAMETOOLONG)
        code = BAD_INPUT if unusable else FAILED
        return code, "file", f"{error.filename or 'a file'}: {error.strerror.lower()}"
    return FAILED, "unexpected", _unexpected_sentence(error)


def _interruption(error: Stopped | click.Abort) -> tuple[int, str, str]:
    Stopped.is_reported = True
    # click raises Abort for a KeyboardInterrupt that did not come from our handler.
    cause: BaseException | None = error if isinstance(error, Stopped) else error.__cause__
    number = cause.number if isinstance(cause, Stopped) else signal.SIGINT
    by_signal = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
    notes = "; ".join(getattr(cause, "__notes__", ["the output was not written"]))
    return 128 + number, "interrupted", f"interrupted{by_signal}; {notes}"


def _usage_sentence(error: click.ClickException) -> str:
    sentence = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return sentence if context is None else f'{sentence}; see "{context.command_path} --help"'


def _unexpected_sentence(error: BaseException) -> str:
    place, entry = "outside nomadp", error.__traceback__
    while entry is not None:  # the last entry inside nomadp wins
        module = str(entry.tb_frame.f_globals.get("__name__"))
        if module.startswith("nomadp."):
            place = f"{module}:{entry.tb_lineno}"
        entry = entry.tb_next
    return (
        f"unexpected {type(error).__name__} at {place}; its message is withheld because it may "
        "contain private values (NOMADP_DEBUG=1 shows it)"
    )


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Inside, signals that would end the process raise `Stopped`; ignored ones stay ignored.

    The exception closes and removes open files. A second signal, or `GRACE_S` seconds, ends the
    process at once. This is safe, because a partial file never has the name of an output.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python sets signal handlers in the main thread only
        return
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    previous = {
        number: handler
        for number in (signal.Signals[name] for name in names)
        if (handler := signal.getsignal(number)) in (signal.SIG_DFL, signal.default_int_handler)
    }
    for number in previous:
        signal.signal(number, _raise_stopped)
    try:
        with _exit_after_grace():
            yield
    finally:
        if signal.getsignal(signal.SIGINT) is not _exit_now:  # else the process is ending
            for number, handler in previous.items():
                signal.signal(number, handler)


def end_threads(code: int) -> None:
    """Exit at once if a non-daemon thread is running; a normal exit would wait for it."""
    others = set(threading.enumerate()) - {threading.main_thread()}
    if not all(thread.daemon for thread in others):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _raise_stopped(number: int, frame: FrameType | None) -> NoReturn:
    for second in (signal.SIGINT, signal.SIGTERM):
        signal.signal(second, _exit_now)
    raise Stopped(number)


def _exit_now(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


@contextmanager
def _exit_after_grace() -> Iterator[None]:
    """Watch for signals in a thread, which ends the process after `GRACE_S` seconds.

    Python runs a handler only between two bytecodes of the main thread, so a long call into
    compiled code would delay it. The wakeup pipe gets the number of a signal at once.
    """
    if os.name == "nt":  # a wakeup needs a socket there, not a pipe
        yield
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    previous = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    threading.Thread(target=_watch_signals, args=(read_end,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        os.close(write_end)  # the thread then reads an end of file and returns


def _watch_signals(read_end: int) -> None:
    ending = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    while received := os.read(read_end, 1):
        number = received[0]
        if number in ending and signal.getsignal(number) in (_raise_stopped, _exit_now):
            time.sleep(GRACE_S)
            if not Stopped.is_reported:
                report_failure(Stopped(number), as_json=False)
            os._exit(128 + number)
    os.close(read_end)
