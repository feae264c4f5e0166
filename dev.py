#!/usr/bin/env python3
"""NomaDP's own commands. They need Python 3.11 or newer and nothing else.

    python3 dev.py demo [ARGS]     true and perturbed journeys on one page, in demo-output/
    python3 dev.py test [ARGS]     the tests; arguments go to pytest
    python3 dev.py check           format, lint, types, layers, documentation
    python3 dev.py cluster [ARGS]  the tests of Spark and of Sail, in an environment each
    python3 dev.py bench [ARGS]    how fast everything is, against earlier runs
    python3 dev.py lock [ARGS]     renew requirements*.lock; arguments go to uv

The first call makes .venv from requirements.lock (with uv if there is one, else with pip);
later calls find it ready by its stamp. The clusters' environments, .venv-spark and .venv-sail,
see all of .venv and hold only what their own locks add to it.
"""

import compileall
import hashlib
import importlib.util
import os
import re
import shutil
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


def demo(args: list[str]) -> int:
    """Write the demonstration page."""
    chosen = any(arg.split("=")[0] == "--out" for arg in args)
    where = [] if chosen else ["--out", ROOT / "demo-output"]
    return run([MAIN.bin / "nomadp", "demo", *where, *args])


def test(args: list[str]) -> int:
    """Run the tests on every core."""
    # Grouped as tests/conftest.py says, so that no two processes make the same fixtures.
    shared_out = ["-n", "auto", "--dist", "loadgroup"]
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
    if DOCS_CHECK.exists():
        checks["documentation"] = [MAIN.python, DOCS_CHECK, "--check"]
    failed = [name for name, command in checks.items() if run(command, cwd=ROOT) != 0]
    names, verdict = (failed, "failed") if failed else (checks, "passed")
    print(f"check: {', '.join(names)} {verdict}")
    return 1 if failed else 0


def cluster(args: list[str]) -> int:
    """Run the tests of tests/cluster on Spark and on Sail; arguments go to pytest."""
    failed = []
    for extra, environment in CLUSTERS.items():
        if extra == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            print("cluster: spark skipped, because it needs java and there is none here")
            continue
        prepare_cluster(environment)
        # The last -m wins over pyproject's "not slow".
        command = [environment.python, "-m", "pytest", "-m", "", "tests/cluster", *args]
        if run(command, cwd=ROOT) != 0:
            failed.append(extra)
    print(f"cluster: {' and '.join(failed)} failed" if failed else "cluster: nothing failed")
    return 1 if failed else 0


def bench(args: list[str]) -> int:
    """Measure the speed of every mechanism; benchmarks/speed.py says what else it takes."""
    return run([MAIN.python, ROOT / "benchmarks" / "speed.py", *args])


def lock(args: list[str]) -> int:
    """Resolve pyproject.toml for every platform, with hashes and without addresses."""
    uv = shutil.which("uv")
    if uv is None:
        sys.exit("dev.py lock needs uv on PATH; install it with: python3 -m pip install uv")
    if resolve(uv, ["--extra", "dev", "-o", LOCK, *args]) != 0:
        return 1
    for extra, environment in CLUSTERS.items():
        added = environment.locks[-1]
        # The same versions of everything that both have.
        agreed = ["--extra", "dev", "--extra", extra, "--constraint", LOCK]
        if resolve(uv, [*agreed, "-o", added, *args]) != 0:
            return 1
        known = entries(LOCK.read_text())
        new = [entry for entry in entries(added.read_text()) if entry not in known]
        added.write_text("".join(new))
    return 0


def resolve(uv: str, args: list[object]) -> int:
    # fewest: the same versions on every Python, so that a result does not depend on it.
    how = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest"]
    plain = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    hashed = ["--quiet", "--generate-hashes"]
    return run([uv, "pip", "compile", PYPROJECT, *how, *plain, *hashed, *args])


def entries(text: str) -> list[str]:
    """The requirements of a lock, each with its hashes."""
    return re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]


def run(command: list[object], cwd: Path | None = None) -> int:
    return subprocess.run([str(part) for part in command], cwd=cwd, check=False).returncode


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


def prepare_cluster(environment: Environment) -> None:
    """The same for an environment that adds to .venv, which must be ready."""
    made, _ = stamps(environment)
    stamp = environment.stamp
    if stamp.exists() and stamp.read_text() == made:
        return
    uv = shutil.which("uv")
    make_environment(environment, uv)
    environment.packages.mkdir(parents=True, exist_ok=True)
    seen = f"import site; site.addsitedir({str(MAIN.packages)!r})\n"
    (environment.packages / "nomadp-main.pth").write_text(seen)
    install(environment, uv, ["--no-deps", "--require-hashes", "-r", environment.locks[-1]])
    stamp.write_text(made)


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
    "cluster": cluster,
    "bench": bench,
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
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
