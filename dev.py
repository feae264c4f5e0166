#!/usr/bin/env python3
"""NomaDP's own commands. They need Python 3.11 or newer and nothing else.

    python3 dev.py demo [ARGS]     run a collection in a simulated city
    python3 dev.py test [ARGS]     run the tests; arguments go to pytest
    python3 dev.py check           check format, lint, types, layers and documentation
    python3 dev.py docs [ARGS]     build the documentation site, or show it with --serve
    python3 dev.py wording [ARGS]  update the snapshots of wording and docs/reference
    python3 dev.py web             build the client and the pages, if their sources changed
    python3 dev.py screenshots     take the screenshots of the README, with Chromium
    python3 dev.py cluster [ARGS]  run the tests on Spark and Sail, in separate environments
    python3 dev.py bench [ARGS]    measure speed; "bench collector" tests the collector
    python3 dev.py outside [ARGS]  run third-party linters and auditors
    python3 dev.py release ARGS    build, check, install and test a release; see --help
    python3 dev.py lock [ARGS]     update every lock file; arguments go to uv

The first call creates .venv from requirements.lock, with uv if it is installed, otherwise with
pip. Later calls recognise it by its stamp. .venv-spark, .venv-sail and .venv-outside can import
everything in .venv, and only contain the additions in their own lock files. If there is no
Node, `web` installs one into .venv-web; see web/build.py.
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

# First, before any code that an older Python cannot run.
if sys.version_info < (3, 11):  # noqa: UP036 - this message is for older versions
    sys.exit(
        "NomaDP needs Python 3.11 or newer; this is Python {}.{}. Run dev.py with a newer "
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
# The interpreter outside of any virtual environment: .venv must not be created from itself.
BASE_PYTHON = getattr(sys, "_base_executable", None) or sys.executable


class Environment(NamedTuple):
    """A virtual environment and its lock files; only the last one is installed into it."""

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
# By the extra in pyproject.toml that each environment adds.
CLUSTERS = {
    extra: Environment(ROOT / f".venv-{extra}", [LOCK, ROOT / f"requirements-{extra}.lock"])
    for extra in ("spark", "sail")
}
# Third-party linters and auditors, in addition to .venv.
OUTSIDE = Environment(ROOT / ".venv-outside", [LOCK, ROOT / "requirements-outside.lock"])
NODE = Environment(ROOT / ".venv-web", [ROOT / "requirements-web.lock"])


def demo(args: list[str]) -> int:
    """Run the demo, with the dashboard if it can be built."""
    prepare_web()
    has_out = any(arg.split("=")[0] == "--out" for arg in args)
    out = [] if has_out else ["--out", ROOT / "demo-output"]
    return become([MAIN.bin / "nomadp", "demo", *out, *args])


def test(args: list[str]) -> int:
    """Run the tests on every core."""
    # tests/conftest.py orders the tests and groups those that share a fixture.
    distribution = ["-n", "auto", "--dist", "loadgroup", "--no-loadscope-reorder"]
    return run([MAIN.python, "-m", "pytest", *distribution, *args], cwd=ROOT)


def check(args: list[str]) -> int:
    """Run all static checks, and print at the end which ones failed."""
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
    """Build the documentation site; docs/build.py defines the arguments."""
    return run([MAIN.python, DOCS_BUILD, *args])


def wording(args: list[str]) -> int:
    """Update the snapshots of wording with the tests that compare them. Review the diff."""
    prepare_web()
    os.environ["NOMADP_WORDING"] = "write"
    # The last -m wins. One process, because each snapshot file is written as a whole.
    tests = [MAIN.python, "-m", "pytest", "-q", "-m", "wording", *args]
    commands: dict[str, list[object]] = {"tests": tests, "reference": [MAIN.python, DOCS_CHECK]}
    commands["notebooks"] = [MAIN.python, NOTEBOOKS]
    return run_all("wording", commands)


def web(args: list[str]) -> int:
    """Build the code that runs in a browser."""
    return run([MAIN.python, WEB_BUILD, "build", *args])


def screenshots(args: list[str]) -> int:
    """Take screenshots of the running demo; arguments select some of them by name."""
    prepare_web()
    return become([MAIN.python, ROOT / "docs" / "screenshots.py", *args])


def cluster(args: list[str]) -> int:
    """Run tests/cluster on Spark and on Sail; arguments go to pytest."""
    failed = []
    for extra, environment in CLUSTERS.items():
        if extra == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            print("cluster: skipped spark, because it needs Java, which is not installed")
            continue
        prepare_further(environment)
        # The last -m wins over pyproject's "not slow".
        command = [environment.python, "-m", "pytest", "-m", "", "tests/cluster", *args]
        if run(command, cwd=ROOT) != 0:
            failed.append(extra)
    print(f"cluster: {' and '.join(failed)} failed" if failed else "cluster: passed")
    return 1 if failed else 0


def bench(args: list[str]) -> int:
    """Run benchmarks/speed.py or, if the first argument is "collector", collector.py."""
    name, rest = ("collector", args[1:]) if args[:1] == ["collector"] else ("speed", args)
    return run([MAIN.python, ROOT / "benchmarks" / f"{name}.py", *rest])


def release(args: list[str]) -> int:
    """Prepare a release; release/prepare.py defines the arguments."""
    return run([MAIN.python, RELEASE / "prepare.py", *args])


def lock(args: list[str]) -> int:
    """Update the lock files with release/lock.py."""
    return run([BASE_PYTHON, RELEASE / "lock.py", *args])


def outside(args: list[str]) -> int:
    """Run third-party linters and auditors; arguments go to the pytest of the auditors."""
    prepare_further(OUTSIDE)
    checks: dict[str, list[object]] = {
        "repository": [OUTSIDE.bin / "repo-review", "."],
        "workflows": [OUTSIDE.bin / "zizmor", "--offline", "--no-progress", ".github"],
        # The last -m wins over pyproject's "not slow".
        "auditors": [OUTSIDE.python, "-m", "pytest", "-m", "", "tests/outside", *args],
    }
    return run_all("outside", checks)


def run_all(name: str, commands: dict[str, list[object]]) -> int:
    """Run all commands, and print at the end which ones failed."""
    failed = [label for label, command in commands.items() if run(command, cwd=ROOT) != 0]
    names, verdict = (failed, "failed") if failed else (commands, "passed")
    print(f"{name}: {', '.join(names)} {verdict}")
    return 1 if failed else 0


def run(command: list[object], cwd: Path | None = None) -> int:
    return subprocess.run([str(part) for part in command], cwd=cwd, check=False).returncode


def become(command: list[object]) -> int:
    """Replace this process by a command, so that stopping the process stops the command."""
    parts = [str(part) for part in command]
    return run(command) if os.name == "nt" else os.execv(parts[0], parts)


def stamps(environment: Environment) -> tuple[str, str]:
    """The hash of what an environment is made from, and the same including pyproject.toml."""
    locked = b"".join(lock.read_bytes() for lock in environment.locks)
    made = hashlib.sha256(f"{sys.version}\n{environment.folder}\n".encode() + locked)
    package = made.copy()
    package.update(PYPROJECT.read_bytes())
    return made.hexdigest(), package.hexdigest()


def prepare(environment: Environment) -> None:
    """Create or update an environment with the package, unless its stamp is current."""
    made, package = stamps(environment)
    stamp = environment.stamp
    current = stamp.read_text().split() if stamp.exists() else []
    if current != [made, package]:
        uv = shutil.which("uv")
        if current[:1] != [made]:
            make_environment(environment, uv)
            install(environment, uv, ["--require-hashes", "-r", environment.locks[-1]])
        install(environment, uv, ["--no-deps", "--no-build-isolation", "-e", ROOT])
        stamp.write_text(f"{made}\n{package}\n")
    # If bytecode is not written on import, compiling it at every start would take longest.
    compileall.compile_dir(ROOT / "src", quiet=2)


def prepare_further(environment: Environment) -> None:
    """Create an environment without the package. If it extends .venv, prepare that first."""
    made, _ = stamps(environment)
    stamp = environment.stamp
    if stamp.exists() and stamp.read_text() == made:
        return
    uv = shutil.which("uv")
    make_environment(environment, uv)
    if LOCK in environment.locks:
        environment.packages.mkdir(parents=True, exist_ok=True)
        main_packages = f"import site; site.addsitedir({str(MAIN.packages)!r})\n"
        (environment.packages / "nomadp-main.pth").write_text(main_packages)
    install(environment, uv, ["--no-deps", "--require-hashes", "-r", environment.locks[-1]])
    stamp.write_text(made)


def prepare_web() -> None:
    """Build the pages if necessary. If that is not possible, continue without them."""
    if web([]) != 0:
        print(
            "dev.py: could not build the pages (see above); continuing without", file=sys.stderr
        )


def make_environment(environment: Environment, uv: str | None) -> None:
    folder, lock = environment.folder, environment.locks[-1]
    print(f"dev.py: creating {folder.name} from {lock.name}", file=sys.stderr)
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
    # pip compiles bytecode by default, uv only on request.
    python = environment.python
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    uv_pip = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
    must(run([*(pip if uv is None else uv_pip), *what]))


def must(returncode: int) -> None:
    if returncode != 0:
        sys.exit("dev.py could not prepare an environment (see above). Run the command again.")


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
        is_help = args[:1] in (["-h"], ["--help"])
        print(__doc__.strip(), file=sys.stdout if is_help else sys.stderr)
        return 0 if is_help else 2
    if args[0] != "lock":
        prepare(MAIN)
    return COMMANDS[args[0]](args[1:])


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
