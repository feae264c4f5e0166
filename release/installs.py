"""Clean environments outside the repository, with the newest and the oldest dependencies."""

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
"""No version of these has a wheel; building them needs no compiler."""


@dataclass(frozen=True)
class Case:
    """What is installed: a distribution, one of its extras, and the ages of what it needs."""

    distribution: Path
    extra: str
    oldest: bool = False

    def __str__(self) -> str:
        kind = "sdist" if self.distribution.name.endswith(".gz") else "wheel"
        age = "oldest" if self.oldest else "newest"
        return f"{kind} {self.extra or 'base'} {age}"


def cases(wheel: Path, sdist: Path, extras: list[str], *, oldest: bool) -> list[Case]:
    """The wheel with each extra, newest and oldest, and the sdist once."""
    ages = [False, True] if oldest else [False]
    return [
        *(Case(wheel, extra, age) for extra in extras for age in ages),
        Case(sdist, ""),
    ]


def requirements(extra: str, project: dict[str, dict[str, list[str]]]) -> list[str]:
    """What the base and this extra ask for, extras of extras resolved."""
    found = list(project["dependencies"])
    waiting = [extra] if extra else []
    while waiting:
        for each in project["optional-dependencies"][waiting.pop()]:
            ours = re.fullmatch(r"nomadp\[(.+)\]", each)
            if ours:
                waiting += ours.group(1).split(",")
            else:
                found.append(each)
    return found


def unbounded(project: dict[str, dict[str, list[str]]]) -> list[str]:
    """The requirements that do not say which version is old enough to break us."""
    extras = [each for each in project["optional-dependencies"] if each != "dev"]
    every = {each for extra in ["", *extras] for each in requirements(extra, project)}
    return sorted(each for each in every if ">=" not in each.partition(";")[0])


def read_project(root: Path) -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def executable(folder: Path, name: str) -> Path:
    """A program of an environment."""
    if os.name == "nt":
        return folder / "Scripts" / f"{name}.exe"
    return folder / "bin" / name


def make(folder: Path, case: Case, project: dict[str, dict[str, list[str]]]) -> None:
    """A new environment with what the case says, and nothing else."""
    uv = shutil.which("uv")
    base = getattr(sys, "_base_executable", None) or sys.executable
    wanted = f"{case.distribution}[{case.extra}]" if case.extra else str(case.distribution)
    if uv is None:
        _run([base, "-m", "venv", folder])
        pip = [executable(folder, "python"), "-m", "pip", "install", "--quiet"]
        _run([*pip, "--disable-pip-version-check", wanted])
        return
    _run([uv, "venv", "--quiet", "--python", base, folder])
    install = [uv, "pip", "install", "--quiet", "--python", executable(folder, "python")]
    if case.oldest:
        # "Direct" is only what is named here. Where a version has no wheel for this Python,
        # it is the next one's turn: that is what somebody without a compiler gets.
        named = ["--resolution", "lowest-direct", *requirements(case.extra, project)]
        built = [arg for each in SOURCE_ONLY for arg in ("--no-binary", each)]
        _run([*install, *named, "--only-binary", ":all:", *built, wanted])
    else:
        _run([*install, wanted])


def smoke(folder: Path, case: Case, scratch: Path) -> str:
    """Run smoke.py where only this environment can be found; what it said at the end."""
    scratch.mkdir()
    script = Path(__file__).resolve().parent / "smoke.py"
    kept = ("SYSTEMROOT", "TEMP", "TMP", "PATHEXT", "JAVA_HOME")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {
        "PATH": str(executable(folder, "python").parent),
        "HOME": str(scratch),
        "USERPROFILE": str(scratch),
        "PYTHONUTF8": "1",
    }
    # -I: neither the repository nor the folder it runs in can be imported from.
    command = [executable(folder, "python"), "-I", script, case.extra or "base"]
    return _run(command, cwd=scratch, env=environment)


def _run(command: list[object], **how: object) -> str:
    words = [str(part) for part in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **how)  # type: ignore[call-overload]
    if done.returncode != 0:
        told = (done.stdout + done.stderr).strip()[-3000:]
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{told}")
    return str(done.stdout)
