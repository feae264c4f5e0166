"""One self-contained HTML file: the page's sources with the findings put in.

Nothing is loaded from anywhere, and the content policy forbids it: only the style and the
script written here may run, each named by its hash.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import nomadp
from nomadp.demo.experiment import Findings
from nomadp.demo.payload import payload
from nomadp.demo.sentences import audit_words, gallery_words, verdicts
from nomadp.demo.tables import (
    audit_details,
    audit_table,
    curve_tables,
    gallery_table,
    paragraphs,
)

__all__ = ["embedded_json", "render"]

SCRIPTS = ("dom", "store", "map", "journeys", "charts", "budget", "main")
"""In the order they are put into the page: each uses only those before it."""


def render(findings: Findings) -> str:
    """The page as text."""
    audit = findings.audit
    style = _source("style.css")
    script = "\n".join(_source(f"{name}.js") for name in SCRIPTS)
    markup = {
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "payload": embedded_json(payload(findings)),
        "verdicts": paragraphs(verdicts(findings)),
        "curve_tables": curve_tables(findings),
        "audit_words": paragraphs(audit_words(audit)),
        "audit_table": audit_table(audit),
        "audit_details": audit_details(audit),
        "gallery_words": paragraphs(gallery_words(audit)),
        "gallery_table": gallery_table(audit),
    }
    text = {name: escape(value) for name, value in _facts(findings).items()}
    return Template(_source("template.html")).substitute(markup | text)


def _facts(findings: Findings) -> dict[str, str]:
    plan, locations = findings.study.plan, findings.study.city.locations
    return {
        "version": nomadp.__version__,
        "seed": str(plan.seed),
        "places": f"{len(locations):,}",
        "location_set_sha256": locations.sha256,
        "command": plan.command,
    }


def embedded_json(value: Mapping[str, Any]) -> str:
    """JSON that no value in it can break out of: the page's parser sees no tag in it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, script: str) -> str:
    return escape(
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(source: str) -> str:
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"


def _source(name: str) -> str:
    return files("nomadp.demo").joinpath("page", name).read_text(encoding="utf-8")
