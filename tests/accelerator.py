"""Run a program in two processes: with numba, and as if numba were not installed."""

import subprocess
import sys

PLAIN = 'import sys\nsys.modules["numba"] = None\n'
WAS_PLAIN = '\nassert sys.modules["numba"] is None\n'
WAS_FAST = '\nimport sys\nassert sys.modules["numba"] is not None\n'


def printed_with_and_without(program: str) -> tuple[str, str]:
    """The output of the program with numba, and without it."""
    programs = program + WAS_FAST, PLAIN + program + WAS_PLAIN
    fast, plain = (
        subprocess.run(
            [sys.executable, "-c", each], capture_output=True, check=True, text=True
        ).stdout
        for each in programs
    )
    return fast, plain
