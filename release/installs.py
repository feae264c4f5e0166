"""Install the package in clean environments with the newest and the oldest dependencies."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

EXTRAS = ["tables", "analysis", "fast", "plot", "h3", "geo", "polars", "collector", "all"]
CLUSTERS = ["spark", "sail"]
QUICK = ["", "collector"]
SOURCE_ONLY = ["pyspark", "pyspark-client"]
"""Packages without wheels, which can be built without a compiler."""


@dataclass(frozen=True)
class Case:
    """An installation: a distribution, an extra, and the newest or oldest dependencies."""

    distribution: Path
    extra: str
    oldest: bool = False

    def __str__(self) -> str:
        kind = "sdist" if self.distribution.name.endswith(".gz") else "wheel"
        age = "oldest" if self.oldest else "newest"
        return f"{kind} {self.extra or 'base'} {age}"


def cases(wheel: Path, sdist: Path, extras: list[str], *, oldest: bool) -> list[Case]:
    """The wheel with each extra, newest and oldest dependencies, and the sdist once."""
    ages = [False, True] if oldest else [False]
    return [
        *(Case(wheel, extra, age) for extra in extras for age in ages),
        Case(sdist, ""),
    ]


def requirements(extra: str, project: dict[str, dict[str, list[str]]]) -> list[str]:
    """The requirements of the base and an extra, including extras of extras."""
    result = list(project["dependencies"])
    pending = [extra] if extra else []
    while pending:
        for requirement in project["optional-dependencies"][pending.pop()]:
            own = re.fullmatch(r"nomadp\[(.+)\]", requirement)
            if own:
                pending += own.group(1).split(",")
            else:
                result.append(requirement)
    return result


def unbounded(project: dict[str, dict[str, list[str]]]) -> list[str]:
    """Requirements without a lower bound."""
    extras = [each for each in project["optional-dependencies"] if each != "dev"]
    everything = {each for extra in ["", *extras] for each in requirements(extra, project)}
    return sorted(each for each in everything if ">=" not in each.partition(";")[0])


def read_project(root: Path) -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def executable(folder: Path, name: str) -> Path:
    """The path of a program in an environment."""
    if os.name == "nt":
        return folder / "Scripts" / f"{name}.exe"
    return folder / "bin" / name


def make(folder: Path, case: Case, project: dict[str, dict[str, list[str]]]) -> None:
    """Create an environment with only the installation of a case."""
    uv = shutil.which("uv")
    base = getattr(sys, "_base_executable", None) or sys.executable
    requirement = f"{case.distribution}[{case.extra}]" if case.extra else str(case.distribution)
    if uv is None:
        _run([base, "-m", "venv", folder])
        pip = [executable(folder, "python"), "-m", "pip", "install", "--quiet"]
        _run([*pip, "--disable-pip-version-check", requirement])
        return
    _run([uv, "venv", "--quiet", "--python", base, folder])
    install = [uv, "pip", "install", "--quiet", "--python", executable(folder, "python")]
    if case.oldest:
        # "Direct" means named on this command line. If a version has no wheel for this Python,
        # uv takes the next one, as it would for somebody without a compiler.
        named = ["--resolution", "lowest-direct", *requirements(case.extra, project)]
        built = [arg for each in SOURCE_ONLY for arg in ("--no-binary", each)]
        _run([*install, *named, "--only-binary", ":all:", *built, requirement])
    else:
        _run([*install, requirement])


def smoke(folder: Path, case: Case, scratch: Path) -> str:
    """Run smoke.py with access to only this environment, and return its output."""
    scratch.mkdir()
    script = Path(__file__).resolve().parent / "smoke.py"
    inherited = ("SYSTEMROOT", "TEMP", "TMP", "PATHEXT", "JAVA_HOME")
    environment = {name: os.environ[name] for name in inherited if name in os.environ}
    environment |= {
        "PATH": str(executable(folder, "python").parent),
        "HOME": str(scratch),
        "USERPROFILE": str(scratch),
        "PYTHONUTF8": "1",
    }
    # -I prevents imports from the repository and from the working folder.
    command = [executable(folder, "python"), "-I", script, case.extra or "base"]
    return _run(command, cwd=scratch, env=environment)


def _run(command: list[object], **options: object) -> str:
    args = [str(part) for part in command]
    result = subprocess.run(args, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if result.returncode != 0:
        output = (result.stdout + result.stderr).strip()[-3000:]
        raise RuntimeError(f"{' '.join(args)} exited with code {result.returncode}:\n{output}")
    return str(result.stdout)
