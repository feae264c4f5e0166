"""A real ``nomadp serve`` on this machine, for as long as it is used."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from nomadp.errors import NomadpError

__all__ = ["CollectorFailed", "Running", "running_collector"]

END_S = 2.0
"""It gets so long to end by itself: what starts it gets three seconds in all."""


class CollectorFailed(NomadpError):
    """The collector of the demonstration did not start, or ended too soon."""

    kind = "collector"


class Running(NamedTuple):
    """Where it is, and what opens it to an analyst."""

    address: str
    token: str
    process: "subprocess.Popen[str]"

    def check(self) -> None:
        """Refuse to go on without it."""
        if self.process.poll() is not None:
            raise CollectorFailed(
                "the collector must run until the demonstration ends, and ended with "
                f"{self.process.returncode}",
                code="collector_ended",
                exit_code=self.process.returncode,
            )


@contextmanager
def running_collector(
    tasks: Sequence[Path], folder: Path, *, port: int = 0
) -> Iterator[Running]:
    """Serves the tasks in these folders from a store in ``folder``; ends when left."""
    store, log = folder / "collector.sqlite", folder / "collector.log"
    where = ["--store", str(store), "--port", str(port), "--operator-port", "0", "--json"]
    command = [sys.executable, "-m", "nomadp.demo.signals", "serve", *where, *map(str, tasks)]
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            encoding="utf-8",
        )
        try:
            yield _started(process, log)
        finally:
            _end(process)


def _started(process: "subprocess.Popen[str]", log: Path) -> Running:
    text = _whole_object(process.stdout) if process.stdout is not None else ""
    found = json.loads(text or "{}")
    if "addresses" in found:
        address = found["addresses"]["devices and analysts"]
        return Running(address, found["tokens"]["analyst"], process)
    process.wait()
    last = log.read_text(encoding="utf-8").strip().splitlines()[-1:]
    raise CollectorFailed(
        f"the collector must start, and ended with {process.returncode}: {''.join(last)}",
        code="collector_not_started",
        exit_code=process.returncode,
    )


def _whole_object(lines: IO[str]) -> str:
    """The first object of JSON that it prints; nothing if it ends before."""
    text = ""
    for line in lines:
        text += line
        if line == "}\n":
            return text
    return ""


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
