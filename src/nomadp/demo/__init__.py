"""The demonstration: a simulated city, perturbed, scored and audited, as one page."""

from pathlib import Path

from nomadp.demo.document import render
from nomadp.demo.experiment import Progress, explore
from nomadp.demo.plan import FULL, QUICK
from nomadp.formats.atomic import write_whole

__all__ = ["build_demo", "pieces_of_work"]

PAGE_NAME = "index.html"


def build_demo(
    out: Path, *, quick: bool = False, jobs: int = 0, progress: Progress | None = None
) -> Path:
    """Write the page into the folder ``out`` and return its path.

    It opens offline and is the same, byte for byte, on every run. ``jobs`` 0 means one
    process per core; ``progress`` is told of each of `pieces_of_work` as it is finished.
    """
    findings = explore(QUICK if quick else FULL, jobs, progress or (lambda count: None))
    return write_whole(out / PAGE_NAME, render(findings).encode())


def pieces_of_work(*, quick: bool = False) -> int:
    """How many pieces of work `build_demo` tells its ``progress`` of."""
    plan = QUICK if quick else FULL
    return len(plan.settings) + len(plan.audits)
