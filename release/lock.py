#!/usr/bin/env python3
"""Update all lock files: the same versions on every platform, with hashes, without addresses.

    dev.py lock [ARGS]    arguments go to uv

requirements.lock defines .venv. The lock files of the clusters and of "dev.py outside" only
contain additions, at compatible versions. The lock files of a deployed collector and of its
build are subsets. The npm lock file in web/ and the bill of materials are updated, too.
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
    independent = {
        dev.LOCK: [project, "--extra", "dev"],
        dev.NODE.locks[-1]: ["--group", f"{project}:web"],
    }
    for out, options in independent.items():
        if dev.run(resolve(uv, out, [*options, *args])) != 0:
            return 1
    for out, options in parts(dev).items():
        if dev.run(resolve(uv, out, [*options, "--constraint", dev.LOCK, *args])) != 0:
            return 1
    base = entries(dev.LOCK.read_text())
    for out, options in additions(dev).items():
        constrained = [project, "--extra", "dev", *options, "--constraint", dev.LOCK]
        if dev.run(resolve(uv, out, [*constrained, *args])) != 0:
            return 1
        added = [entry for entry in entries(out.read_text()) if entry not in base]
        out.write_text("".join(added))
    renew = [dev.BASE_PYTHON, dev.WEB_BUILD, "lock"]
    return dev.run(renew) or dev.run([dev.BASE_PYTHON, ROOT / "release" / "bom.py"])


def parts(dev: ModuleType) -> dict[Path, list[object]]:
    """Lock files with a subset of .venv, for examples/docker."""
    extras = [word for extra in COLLECTOR for word in ("--extra", extra)]
    return {
        dev.LOCK.with_name("requirements-collector.lock"): [dev.PYPROJECT, *extras],
        dev.LOCK.with_name("requirements-build.lock"): ["--group", f"{dev.PYPROJECT}:build"],
    }


def additions(dev: ModuleType) -> dict[Path, list[str]]:
    """Lock files that add to .venv, and the options that select their packages."""
    options = {env.locks[-1]: ["--extra", extra] for extra, env in dev.CLUSTERS.items()}
    options[dev.OUTSIDE.locks[-1]] = ["--group", f"{dev.PYPROJECT}:outside"]
    return options


def resolve(uv: str, out: Path, options: list[object]) -> list[object]:
    # fewest: the same versions for every Python version, so that results are the same.
    resolution = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest"]
    format_options = [
        "--no-header",
        "--no-annotate",
        "--no-emit-index-url",
        "--no-emit-find-links",
    ]
    hashes = ["--quiet", "--generate-hashes"]
    return [uv, "pip", "compile", *resolution, *format_options, *hashes, *options, "-o", out]


def entries(text: str) -> list[str]:
    """The requirements in a lock file, each with its hashes."""
    return re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
