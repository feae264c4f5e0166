"""A program run twice in processes of their own: with numba, and as if it were not there."""

import subprocess
import sys

PLAIN = 'import sys\nsys.modules["numba"] = None\n'
WAS_PLAIN = '\nassert sys.modules["numba"] is None\n'
WAS_FAST = '\nimport sys\nassert sys.modules["numba"] is not None\n'


def printed_with_and_without(program: str) -> tuple[str, str]:
    """What the program prints, accelerated and plain."""
    programs = program + WAS_FAST, PLAIN + program + WAS_PLAIN
    fast, plain = (
        subprocess.run(
            [sys.executable, "-c", each], capture_output=True, check=True, text=True
        ).stdout
        for each in programs
    )
    return fast, plain
