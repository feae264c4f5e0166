"""The page is enough: a client written from it alone gives every known answer."""

import json
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
import stranger
import stranger_checks as checks
from known_answers import FOLDER, load, readable, row, world_of
from vector_rules import rules_of

from nomadp.collector import limits
from nomadp.mechanisms import kind_of
from nomadp.protocol import ceilings
from nomadp.protocol.canonical import INTEGER_MAX
from nomadp.protocol.public_files import FILE_BYTES_MAX

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


REFUSED = load("refused")


def refusals(kind: str):
    found = [case for case in REFUSED["cases"] if case["kind"] == kind]
    return pytest.mark.parametrize("case", found, ids=range(len(found)))


def content_of(asked):
    return asked["text"].encode() if "text" in asked else bytes.fromhex(asked["hexadecimal"])


def taken(world, **changed):
    """The task of a world, and the number of its labels or codewords."""
    task = checks.check_task(world["task"].encode())
    files = {**world["files"], **changed}
    content = {name: text.encode() for name, text in files.items() if text is not None}
    return task, checks.check_files(task, content)


@refusals("refused_canonical")
def test_a_stranger_refuses_what_is_not_canonical(case):
    with pytest.raises(ValueError):  # noqa: PT011 - of the standard library, too
        checks.canonical_object(content_of(case["ask"]), 4096)


@refusals("refused_task")
def test_a_stranger_refuses_what_is_no_task(case):
    with pytest.raises(ValueError):  # noqa: PT011
        checks.check_task(content_of(case["ask"]), case["ask"].get("expected_id"))


@refusals("refused_files")
def test_a_stranger_refuses_files_of_no_task(case):
    world = REFUSED["worlds"][case["ask"]["world"]]
    with pytest.raises(ValueError):  # noqa: PT011
        taken(world, **case["ask"]["files"])


@refusals("refused_upload")
def test_a_stranger_replies_to_uploads_alike(case):
    asked, known = case["ask"], case["answer"]
    task, size = taken(REFUSED["worlds"][asked["world"]])
    closed = asked.get("closed", False)
    status, failed = checks.replied(task, size, content_of(asked), asked["now"], closed)
    said = known.get("failures", [])
    assert (status, len(failed)) == (known["status"], len(said))
    for (name, errors), each in zip(failed, said, strict=True):
        assert name == each["id"]
        assert each["error"] in errors


@pytest.mark.parametrize("name", FILE["worlds"])
def test_a_stranger_takes_every_task(name):
    task, size = taken(FILE["worlds"][name])
    (known,) = (
        case["answer"] for case in BY_KIND["value_size"] if case["ask"]["world"] == name
    )
    assert checks.value_kind(task, size) == (known["entries"], known["size"], known["bits"])


def test_a_stranger_takes_tasks_at_every_bound():
    for case in BY_KIND["task"]:
        checks.check_task(case["answer"]["bytes"].encode(), case["answer"]["task_id"])


def test_a_stranger_chooses_the_same_laws():
    for case in load("labels")["cases"]:
        if case["kind"] != "label_laws":
            continue
        for size, laws in zip(case["ask"]["sizes"], case["answer"], strict=True):
            if size > ceilings.LABELS_MAX:
                continue
            for share, known in zip(case["ask"]["shares"], laws, strict=True):
                law = stranger.Law(size, Fraction(share))
                found = (law.count,) if law.q is None else (law.q, law.t)
                names = ("count",) if law.q is None else ("order", "dimensions")
                assert found == tuple(known[name] for name in names), (size, share)


LABELS = load("labels")["cases"]


def law_of(asked):
    """A law whose parameters are given."""
    law = stranger.Law.__new__(stranger.Law)
    law.d, law.heavy = asked["size"], stranger.heaviest(stranger.U, Fraction(asked["share"]))
    law.count, law.q, law.t = (asked.get(name) for name in ("count", "order", "dimensions"))
    return law


@pytest.mark.parametrize("case", [each for each in LABELS if each["kind"] == "label_law"])
def test_a_stranger_draws_the_same_labels_with_as_many_words(case):
    law = law_of(case["ask"])
    chances = [str(each) for each in law.chances()]
    assert chances == [case["answer"][name] for name in ("true_chance", "other_chance")]
    width = 1 + law.count if law.q is None else law.t
    for secret, known in zip(case["ask"]["secrets"], case["answer"]["draws"], strict=True):
        for words, report in zip(case["ask"]["words"], known, strict=True):
            stream = iter([int(word, 16) for word in words])
            assert law.drawn(secret, lambda stream=stream: next(stream)) == report
            assert len(list(stream)) == len(words) - width


@pytest.mark.parametrize("case", [each for each in LABELS if each["kind"] == "supports"])
def test_a_stranger_counts_the_same_support(case):
    asked = case["ask"]
    law = law_of(asked | {"share": "1"})
    points = list(zip(asked["points"], asked["counts"], strict=True))
    found = [
        sum(count for point, count in points if law.supports(label, point))
        for label in range(law.d)
    ]
    assert row(found) == case["answer"]


def reports(*files):
    found = [
        pytest.param(file, case, id=f"{file}-{k}")
        for file in files
        for k, case in enumerate(load(file)["cases"])
        if case["kind"] == "report"
    ]
    return pytest.mark.parametrize(("file", "case"), found)


def places_of(file, name):
    """The rows of a world, whose locations are as written or generated."""
    world = world_of(json.dumps(load(file)["worlds"][name]))
    return list(zip(world.ids, world.lat.tolist(), world.lng.tolist(), strict=True))


@reports("trips-1", "starts-1", "ends-1", "visits-1")
def test_a_stranger_reports_the_same_labels(file, case):
    asked, known = case["ask"], case["answer"]
    params = json.loads(known["identity"])["params"]
    law = {"name": asked["mechanism"], "params": {k: v for k, v in params.items() if v}}
    n = int(params["zones"].removeprefix("grid:"))
    zones = checks.grid_zones(places_of(file, asked["world"]), n)
    stream = iter([int(word, 16) for word in asked["words"]])
    task, epsilon = {"mechanism": law}, Fraction(asked["epsilon"])
    hour = asked.get("hour")
    found = stranger.asked(task, zones, asked["trajectory"], hour, stream, epsilon)
    assert (found[0], len(list(stream))) == (known["report"], known["words_left"])
    step = known["steps"][-1]
    size = checks.label_count(task, len(zones["names"]))
    made = stranger.Law(size, epsilon)
    assert (size, made.heavy) == (step["size"], step["heavy"])
    names = ("order", "dimensions") if made.q else ("count",)
    assert [step[each] for each in names] == ([made.q, made.t] if made.q else [made.count])


@reports("atlas-3")
def test_a_stranger_weighs_the_same_codewords(file, case):
    """Of a codebook by hand: how others are designed is no matter of a client."""
    asked, step = case["ask"], case["answer"]["steps"][-1]
    pages = asked["options"].get("pinned", {}).get("pages", [])
    n = len(asked["trajectory"])
    seen = min(n, asked["options"].get("control_points") or n)
    for page in (each for each in pages if len(each["journeys"][0]) == seen):
        read = [asked["trajectory"][k] for k in stranger.positions(n, seen)]
        rows = places_of(file, asked["world"])
        weights = stranger.atlas_weights(rows, page, Fraction(asked["epsilon"]), read)
        assert row(weights) == step["weights"]
        assert stranger.chosen(weights, int(asked["words"][0], 16)) == step["choice"]


def test_a_stranger_picks_alike():
    for case in load("laws")["cases"]:
        if case["kind"] != "law" or case["ask"]["name"] != "Uniform":
            continue
        words = [int(word, 16) for word in case["ask"]["words"]]
        for count, known in zip(case["ask"]["secrets"], case["answer"]["rows"], strict=True):
            of = case["ask"]["size"] if count is None else count
            assert [word * of >> 64 for word in words] == known["draws"]


def test_a_stranger_writes_values_of_the_same_size():
    for case in BY_KIND["value_size"]:
        known = case["answer"]
        width = stranger.width(known["size"])
        size = -(-known["size"] // 8) if known["bits"] else known["entries"] * width
        assert (size, -(-4 * size // 3)) == (known["bytes"], known["characters"])


def test_a_stranger_finds_the_same_weights():
    (case,) = (each for each in load("laws")["cases"] if each["kind"] == "heaviest_weights")
    shares = [Fraction(share) for share in case["ask"]["shares"]]
    assert [
        [stranger.unit_of(size, share) for share in shares] for size in case["ask"]["sizes"]
    ] == case["answer"]["largest_unit"]
    assert [str(stranger.lower_exp(share)) for share in shares] == case["answer"]["exp_lower"]
    found = [
        [readable(stranger.heaviest(unit, share)) for share in shares]
        for unit in case["ask"]["units"]
    ]
    assert found == case["answer"]["heaviest"]


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


@pytest.mark.parametrize("name", ["atlas", "trips", "starts", "ends", "visits"])
def test_the_page_states_the_versions_of_the_code(name):
    assert f"`{name}` {kind_of(name).version}" in PAGE


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
    f"1 to {ceilings.CODEWORDS_MAX:,} different",
    f"at most {FILE_BYTES_MAX // 2**20} MiB",
    f"at most 2^{ceilings.LABELS_MAX.bit_length() - 1}",
    f"at most {ceilings.UPLOAD_BYTES_MAX:,} bytes",
    f"1 to {ceilings.UPLOAD_REPORTS_MAX} reports",
    f"at most {ceilings.REPLY_BYTES_MAX:,} bytes of any other reply",
    f"({ceilings.EPSILON_LIFETIME_DEFAULT} unless",
    f"within {limits.ARRIVAL_S:g} seconds",
    f"more than {limits.HEADERS_MAX} headers, or with more than {limits.HEADER_BYTES:,} bytes",
]


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_page_states_the_bounds_of_the_code(bound):
    assert bound in re.sub(r"\s+", " ", PAGE)
