"""What an installed NomaDP does: run by the Python of its environment, in an empty folder.

    python -I smoke.py EXTRA    the help of every command, then small jobs that EXTRA is for

Needs the standard library and the package itself. Ends with 1 at the first job that fails.
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
"""By the extra that is needed for them; the base's come first, everywhere."""

FRAMES = {"geo": "to_geopandas", "polars": "to_polars", "tables": "to_arrow"}
ANSWER = {
    "location_id": ["a", "b"],
    "lat": [52.5, 52.6],
    "lng": [13.4, 13.5],
    "share": [0.7, 0.3],
}
HELPED = {"base", "collector", "all"}
"""Where nothing is installed beside the base, and where everything is."""
TOGETHER = ["tables", "analysis", "fast", "plot", "h3", "geo", "polars", "collector"]


def nomadp(*arguments: str) -> str:
    """The installed command, as a shell would find it."""
    program = shutil.which("nomadp")
    if program is None or not Path(program).is_relative_to(sys.prefix):
        sys.exit(f"nomadp must be the one of {sys.prefix}, got {program}")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stdout[-1000:] + done.stderr[-2000:]
        sys.exit(f"nomadp {' '.join(arguments)} ended with {done.returncode}: {said}")
    return done.stdout


def commands() -> Iterator[list[str]]:
    """Every command and subcommand, as the installed package has them."""
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


def every_help() -> int:
    """Each command says how it is used; how many there are."""
    found = list(commands())
    for path in found:
        said = nomadp(*path, "--help")
        if not said.startswith(" ".join(["Usage: nomadp", *path, "["])):
            sys.exit(f"nomadp {' '.join(path)} --help must say how it is used: {said[:200]}")
    return len(found)


def see_answer(extra: str) -> None:
    """An answer as a frame of another package, or as a figure."""
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
    """A collector takes a report, serves its pages, and counts what came."""
    port = free_port()
    serve = ["serve", "task", "--store", "store.sqlite", "--port", str(port)]
    command = [shutil.which("nomadp") or "nomadp", *serve, "--operator-port", "0"]
    with Path("serve.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(port, server)
        see_pages(f"http://127.0.0.1:{port}")
        sent = f"report {TRIPS} --task task --now --yes --home other --to"
        nomadp(*sent.split(), f"http://127.0.0.1:{port}")
        status = json.loads(nomadp("collector", "status", "--store", "store.sqlite", "--json"))
        if '"accepted": 1' not in json.dumps(status):
            sys.exit(f"the collector must have accepted one report, and says {status}")
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        if server.poll() is not None:
            sys.exit(f"nomadp serve ended: {Path('serve.log').read_text()[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("nomadp serve must answer within a minute, and does not")


def see_pages(url: str) -> None:
    """The index, and everything that it names."""
    index = fetch(f"{url}/").decode()
    named = re.findall(r'(?:src|href)="(/[^"]+)"', index)
    if not any(name.endswith(".js") for name in named):
        sys.exit("the index of the collector's pages must name a script")
    for name in named:
        if not fetch(url + name):
            sys.exit(f"{name} must be served with what it is, and is empty")


def main(args: list[str]) -> int:
    (extra,) = args
    home = Path(importlib.import_module("nomadp").__file__ or "")
    if not home.is_relative_to(sys.prefix):
        sys.exit(f"nomadp must be imported from {sys.prefix}, and comes from {home}")
    told = [f"{every_help()} commands"] if extra in HELPED else []
    extras = TOGETHER if extra == "all" else [extra] * (extra != "base")
    for each in ["base", *extras]:
        for job in JOBS.get(each, []):
            nomadp(*job.split())
        if each in FRAMES or each == "plot":
            see_answer(each)
        if each == "collector":
            collect()
            told.append("pages")
    jobs = sum(len(JOBS.get(each, [])) for each in ["base", *extras])
    print(", ".join([*told, f"{jobs} jobs"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
