"""Run a tutorial as a reader would: commands in one folder, collectors, a Python session."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from plugin import install

__all__ = ["Walk"]

PORTS = ("8000", "8001")
"""The ports in the pages: for devices and analysts, and for the operator."""
SECONDS = 900
"""The time limit of a command: pip can be slow on a busy machine."""

SESSION = """
import contextlib, io, json, sys
names = {"__name__": "__main__"}
for line in sys.stdin:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(json.loads(line), "tutorial", "exec"), names)
    print(json.dumps(printed.getvalue()), flush=True)
"""


class Walk:
    """Runs in a new environment in which pip installs ``wheel``; without one, in this one."""

    def __init__(self, folder: Path, wheel: Path | None = None) -> None:
        self.folder, self.wheel = folder / "walk", wheel
        self.folder.mkdir()
        self.site = folder / "site"
        self.site.mkdir()
        self.bin = Path(sys.executable).parent if wheel is None else _environment(folder)
        self.ports = _free_ports()
        self.task_id = "ID"
        path = os.pathsep.join([str(self.bin), os.environ["PATH"]])
        home = {"NOMADP_HOME": str(folder / "home")}
        self.variables = {**os.environ, **home, "PATH": path, "PYTHONPATH": str(self.site)}
        self.variables.pop("NOMADP_ANALYST_TOKEN", None)
        self.running: list[subprocess.Popen[str]] = []
        self.session: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.running += [self.session] if self.session else []
        self.stop()

    def stop(self) -> None:
        """Stop all collectors that still run."""
        while self.running:
            process = self.running.pop()
            process.terminate()
            process.communicate()

    def has_packages(self) -> bool:
        """Whether pip can download packages on this machine."""
        command = [str(self.bin / "python"), "-m", "pip", "download", "--no-deps", "click"]
        where = ["--quiet", "--dest", str(self.site)]
        return (
            subprocess.run([*command, *where], capture_output=True, check=False).returncode == 0
        )

    def save(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._here(text), encoding="utf-8")

    def typed(self, block: str, *, refused: bool) -> str:
        """Run the commands of a block; returns what they print."""
        lines = block.replace("\\\n", " ").splitlines()
        every = [shlex.split(self._here(line), comments=True) for line in lines]
        return self._as_on_the_page(
            "".join(self._command(words, refused=refused) for words in every if words)
        )

    def python(self, block: str) -> str:
        if self.session is None:
            self.session = self._started([str(self.bin / "python"), "-c", SESSION])
        stdin, stdout = self.session.stdin, self.session.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(self._here(block)) + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            _, error = self.session.communicate()
            raise RuntimeError(f"{block}\n{error}")
        return self._as_on_the_page(json.loads(answer))

    def _command(self, words: list[str], *, refused: bool) -> str:
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self.variables[name] = value
            return ""
        if words[0] == "cd":
            self.folder /= words[1]
            return ""
        if words[0] == "pip":
            self._pip(words)
            return ""
        if words[:2] == ["nomadp", "serve"]:
            return self._serve(words)
        if words[0] not in ("nomadp", "python"):
            raise ValueError(f"a tutorial may use nomadp, pip and python, got {words[0]}")
        done = subprocess.run(
            [str(self.bin / words[0]), *words[1:]],
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
        if (done.returncode != 0) != refused:
            raise RuntimeError(f"{shlex.join(words)}\nexit {done.returncode}\n{done.stdout}")
        found = re.search(r"^(?:\w+ )?([\w-]{43})$", done.stdout, re.MULTILINE)
        self.task_id = found[1] if found else self.task_id
        return done.stdout

    def _pip(self, words: list[str]) -> None:
        """Run pip, with the wheel as nomadp; without a wheel, add only local packages."""
        if self.wheel is not None:
            ours = [re.sub(r"^nomadp(?=\[|$)", str(self.wheel), word) for word in words[1:]]
            command = [str(self.bin / "python"), "-m", "pip", "--quiet", *ours]
            subprocess.run(command, cwd=self.folder, check=True, timeout=SECONDS)
            return
        for word in words[2:]:
            if word.startswith("./"):
                self._own_package(self.folder / word)

    def _own_package(self, folder: Path) -> None:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        points = project["project"]["entry-points"]["nomadp.mechanisms"]
        name = project["project"]["name"]
        source = (folder / f"{name}.py").read_text(encoding="utf-8")
        install(self.site, name, source, {k: v.split(":")[1] for k, v in points.items()})

    def _serve(self, words: list[str]) -> str:
        ports = ["--port", self.ports[0], "--operator-port", self.ports[1]]
        process = self._started([str(self.bin / words[0]), *words[1:], *ports])
        self.running.append(process)
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if f":{self.ports[1]}" in line:  # the operator's, the last before it is ready
                return said
        raise RuntimeError(f"{shlex.join(words)}\n{said}{process.communicate()[1]}")

    def _started(self, command: list[str]) -> subprocess.Popen[str]:
        pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        return subprocess.Popen(
            command, cwd=self.folder, env=self.variables, text=True, encoding="utf-8", **pipes
        )

    def _here(self, text: str) -> str:
        """The text with the ports, the dates and the task id of this run."""
        for page, here in zip(PORTS, self.ports, strict=True):
            text = text.replace(f"127.0.0.1:{page}", f"127.0.0.1:{here}")
        text = re.sub(r"(?<=--end )\d{4}-\d\d-\d\d", lambda day: _ahead(day[0]), text)
        return re.sub(r"\bID\b", self.task_id, text)

    def _as_on_the_page(self, text: str) -> str:
        for page, here in zip(PORTS, self.ports, strict=True):
            text = text.replace(f"127.0.0.1:{here}", f"127.0.0.1:{page}")
        return text


def _ahead(day: str) -> str:
    """The day, or a later one if it is over."""
    today = datetime.now(UTC).date()
    later = (today + timedelta(days=300)).isoformat()
    return day if day > today.isoformat() else later


def _environment(folder: Path) -> Path:
    """Create an environment with nothing but pip; returns the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    return folder / "venv" / ("Scripts" if os.name == "nt" else "bin")


def _free_ports() -> list[str]:
    from collecting import free_port

    return [str(free_port()) for _ in range(2)]
