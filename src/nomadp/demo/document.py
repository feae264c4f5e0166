"""The demonstration as one self-contained HTML file: the page's sources, and findings."""

import json
from collections.abc import Mapping
from typing import Any

import nomadp
from nomadp.demo.experiment import Findings
from nomadp.demo.payload import payload
from nomadp.demo.sentences import audit_words, gallery_words, verdicts
from nomadp.demo.tables import audit_details, audit_table, curve_tables, gallery_table
from nomadp.page import page, paragraphs

__all__ = ["embedded_json", "render"]

SCRIPTS = ("dom", "store", "map", "journeys", "charts", "budget", "main")


def render(findings: Findings) -> str:
    """The page as text."""
    audit, plan = findings.audit, findings.study.plan
    locations = findings.study.city.locations
    markup = {
        "payload": embedded_json(payload(findings)),
        "verdicts": paragraphs(verdicts(findings)),
        "curve_tables": curve_tables(findings),
        "audit_words": paragraphs(audit_words(audit)),
        "audit_table": audit_table(audit),
        "audit_details": audit_details(audit),
        "gallery_words": paragraphs(gallery_words(audit)),
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
    """JSON that no value in it can break out of: the page's parser sees no tag in it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
