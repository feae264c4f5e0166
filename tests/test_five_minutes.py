"""The collector in five minutes, as the examples and the README show it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from processes import wait_until

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "examples" / "five_minutes.sh"
COUNTED = ["accepted", "1"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")
def test_five_minutes_lead_from_nothing_to_a_report_that_the_operator_sees(
    tmp_path: Path,
) -> None:
    from collecting import free_port

    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", SCRIPT, tmp_path / "tried", str(free_port())],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.rstrip().splitlines()[-1].split() == COUNTED


def told_in_the_readme() -> list[list[str]]:
    """The commands under "Run a collection", without their comments."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("### Run a collection\n")[1]
    block = re.search(r"```\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return [shlex.split(line, comments=True) for line in block[1].splitlines()]


@pytest.mark.slow
def test_the_commands_of_the_readme_lead_from_nothing_to_a_report_that_is_seen(
    tmp_path: Path,
) -> None:
    from collecting import free_port

    port = free_port()
    env = os.environ | {"NOMADP_HOME": str(tmp_path / "device")}
    nomadp = [sys.executable, "-m", "nomadp"]
    said, collector = "", None
    try:
        for _, *words in told_in_the_readme():
            # Ports that are free here, and nobody is there to be asked.
            arguments = [word.replace(":8000", f":{port}") for word in words]
            if words[0] == "serve":
                ports = ["--port", str(port), "--operator-port", "0"]
                command = [*nomadp, *arguments, *ports]
                collector = subprocess.Popen(command, cwd=tmp_path, env=env)
                assert wait_until(lambda: is_ready(port), 300)
                continue
            more = ["--yes"] if words[0] == "report" else []
            said = subprocess.run(
                [*nomadp, *arguments, *more],
                cwd=tmp_path,
                env=env,
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            ).stdout
    finally:
        if collector is not None:
            collector.kill()
            collector.wait()
    assert said.rstrip().splitlines()[-1].split() == COUNTED


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
