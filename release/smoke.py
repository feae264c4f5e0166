"""Test an installed NomaDP, with the Python of its environment, in an empty folder.

    python -I smoke.py EXTRA    run the help of every command, then small jobs that need EXTRA

Needs only the standard library and the package. Exits with 1 at the first failure.
"""

import importlib
import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

CITY = "--locations city/locations.csv"
TRIPS = "city/trajectories.csv"
SET = f"{TRIPS} {CITY} --epsilon 4"
END = date.today() + timedelta(days=300)

JOBS = {
    "base": [
        "doctor",
        "explain --epsilon 4 --length 5",
        "granularity --epsilon 1",
        "data build city --places 30 --trips 40 --out city",
        f"perturb {SET} --out reports.csv",
        f"perturb {SET} --mechanism trips --zones grid:3 --out asked.csv",
        "audit --mechanism exp --epsilon 1 --length 1",
        f"task create {CITY} --epsilon 4 --length 4 --purpose Buses --end {END} --out task",
        "task verify task",
        f"report {TRIPS} --task task --to http://127.0.0.1:9 --queue --yes --home h",
        "ledger show --home h",
    ],
    "tables": [
        f"perturb {SET} --out reports.parquet",
        f"codebook build {CITY} --length 2 --epsilon 4 --out atlas.parquet",
    ],
    "analysis": [
        f"decode reports.csv {CITY} --out where.csv",
        f"query flows asked.csv {CITY} --out flows.csv",
        f"perturb {SET} --mechanism brr --out ranked.csv",
        f"decode ranked.csv {CITY} --prior fitted --out learned.csv",
        f"explain {CITY} --length 2 --epsilon 4",
        "audit --mechanism atlas --epsilon 1 --length 2",
    ],
    "fast": [f"perturb {SET} --mechanism tp --out fast.csv"],
    "h3": ["data locations --box=-8.7,41.1,-8.5,41.25 --h3 7 --out cells.csv"],
}
"""The jobs by the extra that they need. Those of the base run first, in every environment."""

FRAMES = {"geo": "to_geopandas", "polars": "to_polars", "tables": "to_arrow"}
ANSWER = {
    "location_id": ["a", "b"],
    "lat": [52.5, 52.6],
    "lng": [13.4, 13.5],
    "share": [0.7, 0.3],
}
HELPED = {"base", "collector", "all"}
"""Environments in which the help of every command is run."""
TOGETHER = ["tables", "analysis", "fast", "plot", "h3", "geo", "polars", "collector"]


def nomadp(*arguments: str) -> str:
    """Run the installed command as a shell would find it, and return its output."""
    program = shutil.which("nomadp")
    if program is None or not Path(program).is_relative_to(sys.prefix):
        sys.exit(f"nomadp must be installed in {sys.prefix}, got {program}")
    result = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        output = result.stdout[-1000:] + result.stderr[-2000:]
        sys.exit(f"nomadp {' '.join(arguments)} exited with code {result.returncode}: {output}")
    return result.stdout


def commands() -> Iterator[list[str]]:
    """Every command and subcommand of the installed package."""
    import click

    from nomadp.cli import main

    def below(command: click.Command, path: list[str]) -> Iterator[list[str]]:
        yield path
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                if child is not None:
                    yield from below(child, [*path, name])

    return below(main, [])


def check_help() -> int:
    """Check the help of every command, and return their number."""
    paths = list(commands())
    for path in paths:
        text = nomadp(*path, "--help")
        if not text.startswith(" ".join(["Usage: nomadp", *path, "["])):
            sys.exit(f"nomadp {' '.join(path)} --help must print its usage, got: {text[:200]}")
    return len(paths)


def check_answer(extra: str) -> None:
    """Convert an answer to a data frame of another package, or to a figure."""
    answers = importlib.import_module("nomadp.answers")
    answer = answers.Table("hotspots", ANSWER, {"epsilon": "4"})
    if extra == "plot":
        importlib.import_module("nomadp.answers.picture").write_png("drawn.png", [answer])
    elif len(getattr(answer, FRAMES[extra])()) != len(answer):
        sys.exit(f"{FRAMES[extra]} must keep every row of an answer, and does not")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as response:
        return bytes(response.read())


def collect() -> None:
    """Check that a collector accepts a report, serves its pages and counts the report."""
    port = free_port()
    serve = ["serve", "task", "--store", "store.sqlite", "--port", str(port)]
    command = [shutil.which("nomadp") or "nomadp", *serve, "--operator-port", "0"]
    with Path("serve.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(port, server)
        check_pages(f"http://127.0.0.1:{port}")
        command_line = f"report {TRIPS} --task task --now --yes --home other --to"
        nomadp(*command_line.split(), f"http://127.0.0.1:{port}")
        status = json.loads(nomadp("collector", "status", "--store", "store.sqlite", "--json"))
        if '"accepted": 1' not in json.dumps(status):
            sys.exit(f"the collector must have accepted one report, got status {status}")
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        if server.poll() is not None:
            sys.exit(f"nomadp serve exited: {Path('serve.log').read_text()[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("nomadp serve must answer within a minute, and does not")


def check_pages(url: str) -> None:
    """Check the index page and every file that it links to."""
    index = fetch(f"{url}/").decode()
    named = re.findall(r'(?:src|href)="(/[^"]+)"', index)
    if not any(name.endswith(".js") for name in named):
        sys.exit("the index page of the collector must load a script")
    for name in named:
        if not fetch(url + name):
            sys.exit(f"{name} must be served with its content, and is empty")


def main(args: list[str]) -> int:
    (extra,) = args
    home = Path(importlib.import_module("nomadp").__file__ or "")
    if not home.is_relative_to(sys.prefix):
        sys.exit(f"nomadp must be imported from {sys.prefix}, got {home}")
    summary = [f"{check_help()} commands"] if extra in HELPED else []
    extras = TOGETHER if extra == "all" else [extra] * (extra != "base")
    for tested in ["base", *extras]:
        for job in JOBS.get(tested, []):
            nomadp(*job.split())
        if tested in FRAMES or tested == "plot":
            check_answer(tested)
        if tested == "collector":
            collect()
            summary.append("pages")
    jobs = sum(len(JOBS.get(tested, [])) for tested in ["base", *extras])
    print(", ".join([*summary, f"{jobs} jobs"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
