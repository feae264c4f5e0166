#!/usr/bin/env python3
"""NomaDP's own commands. They need Python 3.11 or newer and nothing else.

    python3 dev.py demo [ARGS]   true and perturbed journeys on one page, in demo-output/
    python3 dev.py test [ARGS]   the tests; arguments go to pytest
    python3 dev.py check         format, lint, types, layers, documentation
    python3 dev.py lock [ARGS]   renew requirements.lock; arguments go to uv

The first call makes .venv from requirements.lock (with uv if there is one, else with pip);
later calls find it ready by its stamp.
"""

import compileall
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Before anything an older Python cannot evaluate.
if sys.version_info < (3, 11):  # noqa: UP036 - the sentence is for those below the floor
    sys.exit(
        "NomaDP needs Python 3.11 or newer; this is Python {}.{}. Call dev.py with a newer "
        "one, for example: python3.11 dev.py test".format(*sys.version_info[:2])
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "nomadp-stamp"
LOCK = ROOT / "requirements.lock"
PYPROJECT = ROOT / "pyproject.toml"
DOCS_CHECK = ROOT / "docs" / "generate.py"
# The interpreter behind a virtual environment: .venv must not be rebuilt from itself.
BASE_PYTHON = getattr(sys, "_base_executable", None) or sys.executable


def demo(args: list[str]) -> int:
    """Write the demonstration page."""
    chosen = any(arg.split("=")[0] == "--out" for arg in args)
    where = [] if chosen else ["--out", ROOT / "demo-output"]
    return run([BIN / "nomadp", "demo", *where, *args])


def test(args: list[str]) -> int:
    """Run the tests on every core."""
    return run([PYTHON, "-m", "pytest", "-n", "auto", *args], cwd=ROOT)


def check(args: list[str]) -> int:
    """Run every static check, and say at the end which of them failed."""
    if args:
        sys.exit(f"dev.py check takes no arguments, got {' '.join(args)}")
    checks: dict[str, list[object]] = {
        "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
        "lint": [PYTHON, "-m", "ruff", "check", "."],
        "types": [PYTHON, "-m", "mypy", "--strict", "src"],
        "layers": [BIN / "lint-imports", "--no-logo"],
    }
    if DOCS_CHECK.exists():
        checks["documentation"] = [PYTHON, DOCS_CHECK, "--check"]
    failed = [name for name, command in checks.items() if run(command, cwd=ROOT) != 0]
    names, verdict = (failed, "failed") if failed else (checks, "passed")
    print(f"check: {', '.join(names)} {verdict}")
    return 1 if failed else 0


def lock(args: list[str]) -> int:
    """Resolve pyproject.toml for every platform, with hashes and without addresses."""
    uv = shutil.which("uv")
    if uv is None:
        sys.exit("dev.py lock needs uv on PATH; install it with: python3 -m pip install uv")
    # fewest: the same versions on every Python, so that a result does not depend on it.
    resolve = ["--extra", "dev", "--universal", "--python-version", "3.11"]
    resolve += ["--fork-strategy", "fewest", "--generate-hashes"]
    plain = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    return run(
        [uv, "pip", "compile", "--quiet", PYPROJECT, *resolve, *plain, "-o", LOCK, *args]
    )


def run(command: list[object], cwd: Path | None = None) -> int:
    return subprocess.run([str(part) for part in command], cwd=cwd, check=False).returncode


def stamps() -> tuple[str, str]:
    """What .venv was made from, and what the package was installed from."""
    environment = hashlib.sha256(f"{sys.version}\n{VENV}\n".encode() + LOCK.read_bytes())
    package = environment.copy()
    package.update(PYPROJECT.read_bytes())
    return environment.hexdigest(), package.hexdigest()


def prepare() -> None:
    """Bring .venv to what the lock says; do nothing when the stamp says it is there."""
    environment, package = stamps()
    found = STAMP.read_text().split() if STAMP.exists() else []
    if found != [environment, package]:
        uv = shutil.which("uv")
        if found[:1] != [environment]:
            print("dev.py: making .venv from requirements.lock", file=sys.stderr)
            make_environment(uv)
            install(uv, ["--require-hashes", "-r", LOCK])
        install(uv, ["--no-deps", "--no-build-isolation", "-e", ROOT])
        STAMP.write_text(f"{environment}\n{package}\n")
    # Where bytecode is not written on import, compiling anew would dominate start-up.
    compileall.compile_dir(ROOT / "src", quiet=2)


def make_environment(uv: str | None) -> None:
    if uv is not None:
        must(run([uv, "venv", "--quiet", "--clear", "--python", BASE_PYTHON, VENV]))
        return
    missing = [name for name in ("venv", "ensurepip") if not importlib.util.find_spec(name)]
    if missing:
        sys.exit(
            f"dev.py needs the Python modules venv and ensurepip, or uv; {BASE_PYTHON} lacks "
            f"{' and '.join(missing)}. On Debian and Ubuntu: apt-get install python3-venv"
        )
    must(run([BASE_PYTHON, "-m", "venv", "--clear", VENV]))


def install(uv: str | None, what: list[object]) -> None:
    # pip compiles bytecode by itself; uv has to be asked.
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    uv_pip = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", PYTHON]
    must(run([*(pip if uv is None else uv_pip), *what]))


def must(returncode: int) -> None:
    if returncode != 0:
        sys.exit("dev.py could not prepare .venv; the reason is above. Run the command again.")


COMMANDS = {"demo": demo, "test": test, "check": check, "lock": lock}


def main(args: list[str]) -> int:
    if not args or args[0] not in COMMANDS:
        asked_for_help = args[:1] in (["-h"], ["--help"])
        print(__doc__.strip(), file=sys.stdout if asked_for_help else sys.stderr)
        return 0 if asked_for_help else 2
    if args[0] != "lock":
        prepare()
    return COMMANDS[args[0]](args[1:])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
