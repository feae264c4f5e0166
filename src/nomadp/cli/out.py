"""The option --out: everything that can be wrong with it is said before any work is done."""

import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from errno import ENOTDIR
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from nomadp.cli.options import EXISTING

__all__ = ["check_writable", "out_option"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True)
class Kind:
    """What may be written: files of these suffixes, and folders under any other name."""

    suffixes: tuple[str, ...]
    or_folder: bool

    def is_file(self, out: Path) -> bool:
        return not self.or_folder or out.name.endswith(self.suffixes or ("/",))


def out_option(
    what: str, *suffixes: str, or_folder: bool = False
) -> Callable[[Decorated], Decorated]:
    """--out and --overwrite, checked before the command begins."""
    kind = Kind(suffixes, or_folder)
    metavar = "FILE" if not or_folder else "OUT" if suffixes else "DIR"

    def decorate(command: Decorated) -> Decorated:
        @wraps(command)
        def checked(*arguments: Any, overwrite: bool, **options: Any) -> Any:
            check_out(options["out"], kind, _inputs(options), overwrite=overwrite)
            return command(*arguments, **options)

        replace: Any = click.option("--overwrite", is_flag=True, help="Replace what is there.")
        out: Any = click.option(
            "--out", type=EXISTING, required=True, metavar=metavar, help=what
        )
        return cast(Decorated, out(replace(checked)))

    return decorate


def check_out(out: Path, kind: Kind, inputs: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse an output of unknown kind, over an input or another output, or not writable."""
    is_file = kind.is_file(out)
    if is_file:
        from nomadp.formats.files import file_path

        file_path(out, kind.suffixes)
    # Not Path.resolve, which fails where links lead in a circle.
    if os.path.realpath(out) in map(os.path.realpath, inputs):
        raise click.UsageError("--out must name a new file or folder, got one of the inputs")
    is_folder = out.is_dir()
    if is_folder and is_file:
        raise click.UsageError(
            f"--out must name a new file or folder, and {out} is a folder; name another"
        )
    if not overwrite and (any(out.iterdir()) if is_folder else os.path.lexists(out)):
        raise click.UsageError(
            f"--out must name a new file or folder, and {out} is there; name another, or add "
            "--overwrite to replace it"
        )
    check_writable(out, in_folder=is_folder, is_made=not is_file)


def check_writable(out: Path, *, in_folder: bool, is_made: bool) -> None:
    """Write a file like ``out`` and remove it; folders that are missing may be made."""
    from nomadp.errors import OutputError

    folder = out if in_folder else out.parent
    if is_made and not in_folder and os.path.lexists(out):
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(out))
    while is_made and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    probe = folder / f".part-{secrets.token_hex(4)}-{out.name}"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        probe.unlink()
    except (FileNotFoundError, NotADirectoryError) as error:
        error.filename = str(folder)
        raise
    except OSError as error:
        reason = (error.strerror or "an error of the device").lower()
        raise OutputError(f"{out} cannot be written: {reason}") from error


def _inputs(options: dict[str, Any]) -> list[Path]:
    given = [value for name, value in options.items() if name != "out"]
    several = [value if isinstance(value, tuple) else (value,) for value in given]
    return [path for each in several for path in each if isinstance(path, Path)]
