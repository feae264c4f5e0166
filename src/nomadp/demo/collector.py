"""Run a real ``nomadp serve`` on this machine for the duration of a context."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from nomadp.errors import NomadpError

__all__ = ["CollectorFailed", "Running", "running_collector"]

SHUTDOWN_S = 2.0
"""How long the collector may take to end; the demonstration itself has three seconds."""


class CollectorFailed(NomadpError):
    """The collector of the demonstration did not start, or it ended too early."""

    kind = "collector"


class Running(NamedTuple):
    """A running collector: its address, its analyst's token and its process."""

    address: str
    token: str
    process: "subprocess.Popen[str]"

    def check(self) -> None:
        """Raise if the collector has ended."""
        if self.process.poll() is not None:
            raise CollectorFailed(
                "the collector must run until the demonstration ends, but it exited with code "
                f"{self.process.returncode}",
                code="collector_ended",
                exit_code=self.process.returncode,
            )


@contextmanager
def running_collector(
    tasks: Sequence[Path], folder: Path, *, port: int = 0
) -> Iterator[Running]:
    """Serve the tasks in these folders from a store in ``folder`` until the context ends."""
    store, log = folder / "collector.sqlite", folder / "collector.log"
    options = ["--store", str(store), "--port", str(port), "--operator-port", "0", "--json"]
    command = [sys.executable, "-m", "nomadp.demo.signals", "serve", *options, *map(str, tasks)]
    with log.open("w", encoding="utf-8") as log_file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # it closes when this process ends: see `signals`
            stdout=subprocess.PIPE,
            stderr=log_file,
            text=True,
            encoding="utf-8",
        )
        try:
            yield _wait_for_addresses(process, log)
        finally:
            _end(process)


def _wait_for_addresses(process: "subprocess.Popen[str]", log: Path) -> Running:
    text = _first_json_object(process.stdout) if process.stdout is not None else ""
    reply = json.loads(text or "{}")
    if "addresses" in reply:
        address = reply["addresses"]["devices and analysts"]
        return Running(address, reply["tokens"]["analyst"], process)
    process.wait()
    last_line = log.read_text(encoding="utf-8").strip().splitlines()[-1:]
    raise CollectorFailed(
        f"the collector must start, but exited with {process.returncode}: {''.join(last_line)}",
        code="collector_not_started",
        exit_code=process.returncode,
    )


def _first_json_object(lines: IO[str]) -> str:
    """The first JSON object that the collector prints; empty if it ends before."""
    text = ""
    for line in lines:
        text += line
        if line == "}\n":
            return text
    return ""


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.wait(SHUTDOWN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
