"""What the process says and returns when a command does not succeed.

0    done
1    refused or failed: no randomness, not private, an audit that flags, a disk that is full
2    bad input: a file, an option or a trajectory that cannot be used
130  interrupted by Ctrl-C; 143 by SIGTERM, 129 by a closed terminal (128 and the signal)

One sentence on stderr in every case. The message of an unexpected exception may quote a
private location, so only its class and its place are shown unless NOMADP_DEBUG=1.
"""

import os
import signal
from errno import ELOOP, ENAMETOOLONG
from typing import ClassVar

import click

from nomadp.errors import NomadpError

__all__ = ["Stopped", "report_failure"]

FAILED = 1
BAD_INPUT = 2

_UNUSABLE_PATH = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)


class Stopped(BaseException):
    """A signal said to stop. Its notes say what was kept."""

    is_said: ClassVar[bool] = False

    def __init__(self, number: int) -> None:
        self.number = number


def report_failure(error: BaseException, *, as_json: bool) -> int:
    """Say what happened on stderr, and as JSON on stdout if asked for; the exit code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    if os.environ.get("NOMADP_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    exit_code, name, sentence = _explained(error)
    click.echo(f"nomadp: {sentence}", err=True)
    if as_json:
        from nomadp.cli.output import print_json

        print_json({"error": {"code": name, "message": sentence}})
    return exit_code


def _explained(error: BaseException) -> tuple[int, str, str]:
    """Exit code, stable name and sentence of a failure."""
    if isinstance(error, NomadpError):
        code = BAD_INPUT if isinstance(error, ValueError) else FAILED
        return code, error.code, str(error)
    if isinstance(error, ImportError):
        from nomadp.extras import absence_of

        if missing := absence_of(error.name):
            return FAILED, missing.code, str(missing)
    if isinstance(error, Stopped | click.Abort):
        return _stopped(error)
    if isinstance(error, click.ClickException):
        return BAD_INPUT, "usage", _usage(error)
    if isinstance(error, OSError) and error.strerror:
        unusable = isinstance(error, _UNUSABLE_PATH) or error.errno in (ELOOP, ENAMETOOLONG)
        code = BAD_INPUT if unusable else FAILED
        return code, "file", f"{error.filename or 'a file'}: {error.strerror.lower()}"
    return FAILED, "unexpected", _unexpected(error)


def _stopped(error: Stopped | click.Abort) -> tuple[int, str, str]:
    Stopped.is_said = True
    # click aborts at a KeyboardInterrupt that no signal of ours made
    cause: BaseException | None = error if isinstance(error, Stopped) else error.__cause__
    number = cause.number if isinstance(cause, Stopped) else signal.SIGINT
    how = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
    kept = "; ".join(getattr(cause, "__notes__", ["the output was not written"]))
    return 128 + number, "interrupted", f"interrupted{how}; {kept}"


def _usage(error: click.ClickException) -> str:
    sentence = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return sentence if context is None else f'{sentence}; see "{context.command_path} --help"'


def _unexpected(error: BaseException) -> str:
    place, step = "outside nomadp", error.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__"))
        if module.startswith("nomadp."):
            place = f"{module}:{step.tb_lineno}"
        step = step.tb_next
    return (
        f"stopped by an unexpected {type(error).__name__} at {place}; its message is withheld "
        "because it may hold private values (NOMADP_DEBUG=1 shows it)"
    )
