#!/usr/bin/env python3
"""NomaDP's own commands. They need Python 3.11 or newer and nothing else.

    python3 dev.py demo [ARGS]     a collection in a simulated city: devices, dashboard, page
    python3 dev.py test [ARGS]     the tests; arguments go to pytest
    python3 dev.py check           format, lint, types, layers, documentation, wording
    python3 dev.py docs [ARGS]     build the site of docs/, or show it: --serve
    python3 dev.py wording [ARGS]  write again what people read: snapshots, reference, notebooks
    python3 dev.py web             build the client and the pages, if their sources changed
    python3 dev.py screenshots     the pictures of the README, by the system's Chromium
    python3 dev.py cluster [ARGS]  the tests of Spark and of Sail, in an environment each
    python3 dev.py bench [ARGS]    how fast everything is; "bench collector": what it withstands
    python3 dev.py outside [ARGS]  what others' reviewers and auditors find
    python3 dev.py release ARGS    build, check, install and try what is published; --help
    python3 dev.py lock [ARGS]     renew every lock; arguments go to uv

The first call makes .venv from requirements.lock (with uv if there is one, else with pip);
later calls find it ready by its stamp. .venv-spark, .venv-sail and .venv-outside see all of it
and hold only what their own locks add. Where there is no Node, web gets
one into .venv-web; web/build.py says how.
"""

import compileall
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

# Before anything an older Python cannot evaluate.
if sys.version_info < (3, 11):  # noqa: UP036 - the sentence is for those below the floor
    sys.exit(
        "NomaDP needs Python 3.11 or newer; this is Python {}.{}. Call dev.py with a newer "
        "one, for example: python3.11 dev.py test".format(*sys.version_info[:2])
    )

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements.lock"
PYPROJECT = ROOT / "pyproject.toml"
DOCS_CHECK = ROOT / "docs" / "generate.py"
VOCABULARY = ROOT / "docs" / "vocabulary.py"
READABILITY = ROOT / "docs" / "readability.py"
DOCS_BUILD = ROOT / "docs" / "build.py"
NOTEBOOKS = ROOT / "tests" / "notebook_maker.py"
WEB_BUILD = ROOT / "web" / "build.py"
RELEASE = ROOT / "release"
# The interpreter behind a virtual environment: .venv must not be rebuilt from itself.
BASE_PYTHON = getattr(sys, "_base_executable", None) or sys.executable


class Environment(NamedTuple):
    """A virtual environment, and the locks that say what is in it; it installs the last."""

    folder: Path
    locks: list[Path]

    @property
    def bin(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        return self.bin / ("python.exe" if os.name == "nt" else "python")

    @property
    def packages(self) -> Path:
        return Path(sysconfig.get_path("purelib", "venv", {"base": str(self.folder)}))

    @property
    def stamp(self) -> Path:
        return self.folder / "nomadp-stamp"


MAIN = Environment(ROOT / ".venv", [LOCK])
# By the extra of pyproject.toml that each of them adds.
CLUSTERS = {
    extra: Environment(ROOT / f".venv-{extra}", [LOCK, ROOT / f"requirements-{extra}.lock"])
    for extra in ("spark", "sail")
}
# Reviewers and auditors that others wrote; it adds to .venv, too.
OUTSIDE = Environment(ROOT / ".venv-outside", [LOCK, ROOT / "requirements-outside.lock"])
NODE = Environment(ROOT / ".venv-web", [ROOT / "requirements-web.lock"])


def demo(args: list[str]) -> int:
    """Hold the demonstration, with the dashboard if it can be built here."""
    prepare_web()
    chosen = any(arg.split("=")[0] == "--out" for arg in args)
    where = [] if chosen else ["--out", ROOT / "demo-output"]
    return become([MAIN.bin / "nomadp", "demo", *where, *args])


def test(args: list[str]) -> int:
    """Run the tests on every core."""
    # Grouped and ordered as tests/conftest.py says: fixtures are made once, long groups first.
    shared_out = ["-n", "auto", "--dist", "loadgroup", "--no-loadscope-reorder"]
    return run([MAIN.python, "-m", "pytest", *shared_out, *args], cwd=ROOT)


def check(args: list[str]) -> int:
    """Run every static check, and say at the end which of them failed."""
    if args:
        sys.exit(f"dev.py check takes no arguments, got {' '.join(args)}")
    checks: dict[str, list[object]] = {
        "format": [MAIN.python, "-m", "ruff", "format", "--check", "."],
        "lint": [MAIN.python, "-m", "ruff", "check", "."],
        "types": [MAIN.python, "-m", "mypy", "--strict", "src"],
        "layers": [MAIN.bin / "lint-imports", "--no-logo"],
    }
    checks["documentation"] = [MAIN.python, DOCS_CHECK, "--check"]
    checks["vocabulary"] = [MAIN.python, VOCABULARY]
    checks["readability"] = [MAIN.python, READABILITY]
    if shutil.which("node") or NODE.stamp.exists():
        checks["web"] = [MAIN.python, WEB_BUILD, "check"]
    return run_all("check", checks)


def docs(args: list[str]) -> int:
    """Build the site; docs/build.py says what it takes."""
    return run([MAIN.python, DOCS_BUILD, *args])


def wording(args: list[str]) -> int:
    """Write the snapshots of wording anew, by the tests that compare them; review the diff."""
    prepare_web()
    os.environ["NOMADP_WORDING"] = "write"
    # The last -m wins; one process, because it writes whole files.
    tests = [MAIN.python, "-m", "pytest", "-q", "-m", "wording", *args]
    commands: dict[str, list[object]] = {"tests": tests, "reference": [MAIN.python, DOCS_CHECK]}
    commands["notebooks"] = [MAIN.python, NOTEBOOKS]
    return run_all("wording", commands)


def web(args: list[str]) -> int:
    """Build what runs in a browser."""
    return run([MAIN.python, WEB_BUILD, "build", *args])


def screenshots(args: list[str]) -> int:
    """Take them of the demo as it runs; arguments name some of them."""
    prepare_web()
    return become([MAIN.python, ROOT / "docs" / "screenshots.py", *args])


def cluster(args: list[str]) -> int:
    """Run the tests of tests/cluster on Spark and on Sail; arguments go to pytest."""
    failed = []
    for extra, environment in CLUSTERS.items():
        if extra == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            print("cluster: spark skipped, because it needs java and there is none here")
            continue
        prepare_further(environment)
        # The last -m wins over pyproject's "not slow".
        command = [environment.python, "-m", "pytest", "-m", "", "tests/cluster", *args]
        if run(command, cwd=ROOT) != 0:
            failed.append(extra)
    print(f"cluster: {' and '.join(failed)} failed" if failed else "cluster: nothing failed")
    return 1 if failed else 0


def bench(args: list[str]) -> int:
    """Measure the mechanisms (benchmarks/speed.py) or, if that comes first, the collector."""
    name, rest = ("collector", args[1:]) if args[:1] == ["collector"] else ("speed", args)
    return run([MAIN.python, ROOT / "benchmarks" / f"{name}.py", *rest])


def release(args: list[str]) -> int:
    """Rehearse or make a release; release/prepare.py says what it takes."""
    return run([MAIN.python, RELEASE / "prepare.py", *args])


def lock(args: list[str]) -> int:
    """Resolve pyproject.toml for every platform; release/lock.py says how."""
    return run([BASE_PYTHON, RELEASE / "lock.py", *args])


def outside(args: list[str]) -> int:
    """Let others look at it; arguments go to the pytest of the independent auditors."""
    prepare_further(OUTSIDE)
    looks: dict[str, list[object]] = {
        "repository": [OUTSIDE.bin / "repo-review", "."],
        "workflows": [OUTSIDE.bin / "zizmor", "--offline", "--no-progress", ".github"],
        # The last -m wins over pyproject's "not slow".
        "auditors": [OUTSIDE.python, "-m", "pytest", "-m", "", "tests/outside", *args],
    }
    return run_all("outside", looks)


def run_all(name: str, commands: dict[str, list[object]]) -> int:
    """Run each of them, and say at the end which failed."""
    failed = [each for each, command in commands.items() if run(command, cwd=ROOT) != 0]
    names, verdict = (failed, "failed") if failed else (commands, "passed")
    print(f"{name}: {', '.join(names)} {verdict}")
    return 1 if failed else 0


def run(command: list[object], cwd: Path | None = None) -> int:
    return subprocess.run([str(part) for part in command], cwd=cwd, check=False).returncode


def become(command: list[object]) -> int:
    """Run it in place of this process, so that whoever stops this one stops it."""
    parts = [str(part) for part in command]
    return run(command) if os.name == "nt" else os.execv(parts[0], parts)


def stamps(environment: Environment) -> tuple[str, str]:
    """What an environment was made from, and what the package was installed from."""
    locked = b"".join(lock.read_bytes() for lock in environment.locks)
    made = hashlib.sha256(f"{sys.version}\n{environment.folder}\n".encode() + locked)
    package = made.copy()
    package.update(PYPROJECT.read_bytes())
    return made.hexdigest(), package.hexdigest()


def prepare(environment: Environment) -> None:
    """Bring it to what its lock says; do nothing when the stamp says it is there."""
    made, package = stamps(environment)
    stamp = environment.stamp
    found = stamp.read_text().split() if stamp.exists() else []
    if found != [made, package]:
        uv = shutil.which("uv")
        if found[:1] != [made]:
            make_environment(environment, uv)
            install(environment, uv, ["--require-hashes", "-r", environment.locks[-1]])
        install(environment, uv, ["--no-deps", "--no-build-isolation", "-e", ROOT])
        stamp.write_text(f"{made}\n{package}\n")
    # Where bytecode is not written on import, compiling anew would dominate start-up.
    compileall.compile_dir(ROOT / "src", quiet=2)


def prepare_further(environment: Environment) -> None:
    """The same for one without the package; if it adds to .venv, that must be ready."""
    made, _ = stamps(environment)
    stamp = environment.stamp
    if stamp.exists() and stamp.read_text() == made:
        return
    uv = shutil.which("uv")
    make_environment(environment, uv)
    if LOCK in environment.locks:
        environment.packages.mkdir(parents=True, exist_ok=True)
        seen = f"import site; site.addsitedir({str(MAIN.packages)!r})\n"
        (environment.packages / "nomadp-main.pth").write_text(seen)
    install(environment, uv, ["--no-deps", "--require-hashes", "-r", environment.locks[-1]])
    stamp.write_text(made)


def prepare_web() -> None:
    """Build what runs in a browser, unless it is there; where it cannot be, go on without."""
    if web([]) != 0:
        print("dev.py: no pages could be built (see above). Going on without.", file=sys.stderr)


def make_environment(environment: Environment, uv: str | None) -> None:
    folder, lock = environment.folder, environment.locks[-1]
    print(f"dev.py: making {folder.name} from {lock.name}", file=sys.stderr)
    if uv is not None:
        must(run([uv, "venv", "--quiet", "--clear", "--python", BASE_PYTHON, folder]))
        return
    missing = [name for name in ("venv", "ensurepip") if not importlib.util.find_spec(name)]
    if missing:
        sys.exit(
            f"dev.py needs the Python modules venv and ensurepip, or uv; {BASE_PYTHON} lacks "
            f"{' and '.join(missing)}. On Debian and Ubuntu: apt-get install python3-venv"
        )
    must(run([BASE_PYTHON, "-m", "venv", "--clear", folder]))


def install(environment: Environment, uv: str | None, what: list[object]) -> None:
    # pip compiles bytecode by itself; uv has to be asked.
    python = environment.python
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    uv_pip = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
    must(run([*(pip if uv is None else uv_pip), *what]))


def must(returncode: int) -> None:
    if returncode != 0:
        sys.exit("dev.py could not prepare it; the reason is above. Run the command again.")


COMMANDS = {
    "demo": demo,
    "test": test,
    "check": check,
    "docs": docs,
    "wording": wording,
    "web": web,
    "screenshots": screenshots,
    "cluster": cluster,
    "bench": bench,
    "outside": outside,
    "release": release,
    "lock": lock,
}


def main(args: list[str]) -> int:
    if not args or args[0] not in COMMANDS:
        asked_for_help = args[:1] in (["-h"], ["--help"])
        print(__doc__.strip(), file=sys.stdout if asked_for_help else sys.stderr)
        return 0 if asked_for_help else 2
    if args[0] != "lock":
        prepare(MAIN)
    return COMMANDS[args[0]](args[1:])


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
