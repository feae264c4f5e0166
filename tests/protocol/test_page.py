"""The page is enough: a client written from it alone gives every known answer."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
import stranger
from known_answers import FOLDER, load
from vector_rules import rules_of

from nomadp.collector import guard
from nomadp.protocol import ceilings
from nomadp.protocol.canonical import INTEGER_MAX
from nomadp.protocol.files import FILE_BYTES_MAX

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "protocol.md").read_text(encoding="utf-8")
FILES = sorted(path.stem for path in FOLDER.glob("*.json"))
FILE = load("protocol")
BY_KIND = {
    kind: [case for case in FILE["cases"] if case["kind"] == kind]
    for kind in {case["kind"] for case in FILE["cases"]}
}


@pytest.mark.parametrize("case", BY_KIND["sent"], ids=lambda case: case["ask"]["world"])
def test_a_stranger_sends_the_same_bytes(case):
    asked = dict(case["ask"])
    world = FILE["worlds"][asked.pop("world")]
    task_id, numbers, upload = stranger.sent(world["task"], world["files"], **asked)
    known = case["answer"]
    assert (task_id, numbers, upload) == (known["task_id"], known["numbers"], known["upload"])


def test_a_stranger_writes_the_same_canonical_bytes():
    for case in BY_KIND["canonical"]:
        assert stranger.canonical(json.loads(case["ask"]["text"])) == case["answer"]["bytes"]
    for case in BY_KIND["task"]:
        text = stranger.canonical(case["ask"]["fields"])
        assert text == case["answer"]["bytes"]
        assert stranger.task_id(text.encode()) == case["answer"]["task_id"]


def test_a_stranger_finds_the_same_hashes():
    for case in BY_KIND["public_files"]:
        asked, known = case["ask"], case["answer"]
        found = {
            "locations_sha256": stranger.locations_sha256(
                stranger.read_locations(asked["locations"])
            )
        }
        if "atlas" in asked:
            found["atlas_sha256"] = stranger.atlas_sha256(json.loads(asked["atlas"]))
        if "zones" in asked:
            found["zones_sha256"] = stranger.zones_sha256(json.loads(asked["zones"]))
        assert found == known


def test_a_stranger_brings_journeys_to_the_same_length():
    for case in BY_KIND["resampled"]:
        assert (
            stranger.positions(**{"n": case["ask"]["count"], "length": case["ask"]["length"]})
            == case["answer"]
        )


@cache
def anchors(document: str) -> set[str]:
    """Of the headings of a page, as GitHub and the site make them."""
    text = (DOCS / document).read_text(encoding="utf-8")
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", FILES)
def test_every_vector_names_the_rules_that_it_depends_on(name):
    for case in load(name)["cases"]:
        assert case["rules"] == rules_of(case)
        assert case["rules"]
        for rule in case["rules"]:
            document, _, anchor = rule.partition("#")
            assert anchor in anchors(document), rule


def test_whatever_a_client_computes_is_named_by_a_vector():
    """The sections up to the value have to be held by known answers."""
    computed = PAGE[PAGE.index("### Canonical JSON") : PAGE.index("## Requests")]
    heads = re.findall(r"^### (.+)$", computed, re.MULTILINE)
    stated = {head.lower().replace(" ", "-") for head in heads} | {"value"}
    named = {rule for name in FILES for case in load(name)["cases"] for rule in case["rules"]}
    assert {f"protocol.md#{each}" for each in stated - {"outlines"}} <= named


LOW, HIGH = ceilings.PRECISION_RANGE_S
BOUNDS = [
    f"at most {ceilings.TASK_BYTES_MAX:,} bytes",
    f"`length` | `atlas` only: 1 to {ceilings.LENGTH_MAX} points",
    f"1 to {ceilings.REPORTS_MAX}; times `epsilon` at most {ceilings.EPSILON_LIFETIME_MAX}",
    f"at most {ceilings.EPSILON_REPORT_MAX}. The",
    f"1 to {ceilings.PURPOSE_MAX} code points",
    f"`time_precision` | seconds | {LOW:,} to {HIGH:,}",
    f"| 0 to {INTEGER_MAX // HIGH:,} |",
    f"0 to {ceilings.SEND_WITHIN_MAX_S:,}; at most",
    f"at most {ceilings.TASK_MAX_S:,} seconds",
    f"at most {ceilings.RETENTION_MAX_S:,} seconds",
    f"2 to {ceilings.LOCATIONS_MAX:,} rows",
    f"1 to {ceilings.JOURNEYS_MAX:,} different",
    f"at most {FILE_BYTES_MAX // 2**20} MiB",
    f"at most 2^{ceilings.LABELS_MAX.bit_length() - 1}",
    f"at most {ceilings.UPLOAD_BYTES_MAX:,} bytes",
    f"1 to {ceilings.UPLOAD_REPORTS_MAX} reports",
    f"at most {ceilings.REPLY_BYTES_MAX:,} bytes of any other reply",
    f"({ceilings.EPSILON_LIFETIME_DEFAULT} unless",
    f"within {guard.ARRIVAL_S:g} seconds",
    f"more than {guard.HEADERS_MAX} headers, or with more than {guard.HEADER_BYTES:,} bytes",
]


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_page_states_the_bounds_of_the_code(bound):
    assert bound in re.sub(r"\s+", " ", PAGE)
