"""The demonstration: a simulated city whose trajectories are perturbed, scored and audited."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nomadp
from nomadp.demo.experiment import FULL, QUICK, Findings, Progress, explore
from nomadp.demo.payload import payload
from nomadp.demo.sentences import audit_sentences, gallery_sentences, verdicts
from nomadp.demo.tables import audit_details, audit_table, curve_tables, gallery_table
from nomadp.formats.atomic import write_file
from nomadp.page import page, paragraphs

__all__ = ["build_demo", "embedded_json", "pieces_of_work", "render"]

PAGE_NAME = "index.html"
SCRIPTS = ("dom", "store", "map", "journeys", "views", "charts", "budget", "main")


def build_demo(
    out: Path, *, quick: bool = False, jobs: int = 0, progress: Progress | None = None
) -> Path:
    """Write the page into the folder ``out`` and return its path.

    The page opens offline and is identical, byte for byte, on every run. ``jobs`` 0 means one
    process per core. ``progress`` is called after each of the `pieces_of_work`.
    """
    findings = explore(QUICK if quick else FULL, jobs, progress or (lambda count: None))
    return write_file(out / PAGE_NAME, render(findings).encode())


def pieces_of_work(*, quick: bool = False) -> int:
    """The number of pieces of work that `build_demo` reports to its ``progress``."""
    plan = QUICK if quick else FULL
    return 1 + len(plan.settings) + len(plan.audits)


def render(findings: Findings) -> str:
    """The page's HTML."""
    audit, plan = findings.audit, findings.study.plan
    locations = findings.study.city.locations
    markup = {
        "payload": embedded_json(payload(findings)),
        "views": "".join(view.markup for view in findings.views),
        "people": f"{plan.survey.people:,}",
        "verdicts": paragraphs(verdicts(findings)),
        "curve_tables": curve_tables(findings),
        "audit_words": paragraphs(audit_sentences(audit)),
        "audit_table": audit_table(audit),
        "audit_details": audit_details(audit),
        "gallery_words": paragraphs(gallery_sentences(audit)),
        "gallery_table": gallery_table(audit),
    }
    text = {
        "version": nomadp.__version__,
        "seed": str(plan.seed),
        "places": f"{len(locations):,}",
        "location_set_sha256": locations.sha256,
        "command": plan.command,
    }
    return page("nomadp.demo", markup, text, SCRIPTS)


def embedded_json(value: Mapping[str, Any]) -> str:
    """JSON without characters that could end its element in the page."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
