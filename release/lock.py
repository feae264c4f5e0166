#!/usr/bin/env python3
"""Renew every lock: the same versions on every platform, with hashes and without addresses.

    dev.py lock [ARGS]    arguments go to uv

requirements.lock is what .venv holds. The locks of the clusters and of dev.py outside hold only
what they add to it, at versions that agree with it. Those of a deployed collector and of its
build are parts of it. What npm gets has its lock in web/, and the bill of materials follows.
"""

import importlib
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
COLLECTOR = ("collector", "tables", "analysis")
"""The extras of a deployed collector."""


def main(args: list[str]) -> int:
    sys.path.append(str(ROOT))
    return lock(importlib.import_module("dev"), args)


def lock(dev: ModuleType, args: list[str]) -> int:
    """Resolve pyproject.toml for each of dev.py's environments."""
    uv = shutil.which("uv")
    if uv is None:
        sys.exit("dev.py lock needs uv on PATH; install it with: python3 -m pip install uv")
    project = dev.PYPROJECT
    alone = {
        dev.LOCK: [project, "--extra", "dev"],
        dev.NODE.locks[-1]: ["--group", f"{project}:web"],
    }
    for out, what in alone.items():
        if dev.run(resolve(uv, out, [*what, *args])) != 0:
            return 1
    for out, what in parts(dev).items():
        if dev.run(resolve(uv, out, [*what, "--constraint", dev.LOCK, *args])) != 0:
            return 1
    known = entries(dev.LOCK.read_text())
    for out, more in additions(dev).items():
        agreed = [project, "--extra", "dev", *more, "--constraint", dev.LOCK]
        if dev.run(resolve(uv, out, [*agreed, *args])) != 0:
            return 1
        new = [entry for entry in entries(out.read_text()) if entry not in known]
        out.write_text("".join(new))
    renew = [dev.BASE_PYTHON, dev.WEB_BUILD, "lock"]
    return dev.run(renew) or dev.run([dev.BASE_PYTHON, ROOT / "release" / "bom.py"])


def parts(dev: ModuleType) -> dict[Path, list[object]]:
    """The locks that hold a part of what .venv does, for examples/docker and its like."""
    extras = [word for extra in COLLECTOR for word in ("--extra", extra)]
    return {
        dev.LOCK.with_name("requirements-collector.lock"): [dev.PYPROJECT, *extras],
        dev.LOCK.with_name("requirements-build.lock"): ["--group", f"{dev.PYPROJECT}:build"],
    }


def additions(dev: ModuleType) -> dict[Path, list[str]]:
    """The locks that add to .venv, and by what of pyproject.toml."""
    found = {each.locks[-1]: ["--extra", extra] for extra, each in dev.CLUSTERS.items()}
    found[dev.OUTSIDE.locks[-1]] = ["--group", f"{dev.PYPROJECT}:outside"]
    return found


def resolve(uv: str, out: Path, what: list[object]) -> list[object]:
    # fewest: the same versions on every Python, so that a result does not depend on it.
    how = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest"]
    plain = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    hashed = ["--quiet", "--generate-hashes"]
    return [uv, "pip", "compile", *how, *plain, *hashed, *what, "-o", out]


def entries(text: str) -> list[str]:
    """The requirements of a lock, each with its hashes."""
    return re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
