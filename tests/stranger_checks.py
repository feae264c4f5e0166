"""The checks of the client in stranger.py, also written from docs/protocol.md alone.

Every failed check raises ValueError.
"""

import base64
import csv
import io
import json
import math
import re
from fractions import Fraction

import stranger

WHOLE = 2**53 - 1
VERSIONS = {"atlas": 3, "trips": 1, "starts": 1, "ends": 1, "visits": 1}
TEXTS = {"purpose", "epsilon", "locations_sha256", "salt"}
LAST = 3_362_902_947
NUMBERS = {
    "time_precision": (3600, 2_678_400),
    "start": (0, LAST),
    "end": (0, LAST),
    "retention": (0, LAST),
    "send_within": (0, 604_800),
    "reports_per_contributor": (1, 366),
    "min_batch_size": (1, 10**9),
}
HIDDEN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff"
    "\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe-\uffff\U000e0001\U000e0020-\U000e007f"
    "\U000efffe-\U0010ffff"
    + "".join(
        chr((plane << 16) + 0xFFFE) + chr((plane << 16) + 0xFFFF) for plane in range(1, 14)
    )
    + "]"
)
SPACES = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
FIELD = r'(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n]*+)'
CSV = re.compile(rf"(?:{FIELD}(?:,|\r?\n|\Z))*+")
DEGREES = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
MIB = 2**20


def must(is_so):
    if not is_so:
        raise ValueError("refused")


def is_number(value, low, high):
    return type(value) is int and low <= value <= high


# Canonical JSON


def named_once(pairs):
    must(len(dict(pairs)) == len(pairs))
    return dict(pairs)


def plain_object(content, most):
    must(len(content) <= most)
    refuse = {"parse_float": lambda _: must(is_so=False)}
    refuse["parse_constant"] = refuse["parse_float"]
    value = json.loads(content.decode(), object_pairs_hook=named_once, **refuse)
    must(isinstance(value, dict))
    check_nested(value, 0)
    return value


def check_nested(value, depth):
    """Check a value that is nested in ``depth`` objects and arrays."""
    must(depth <= 8)
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        for name, inner in value.items():
            name.encode()
            check_nested(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            check_nested(inner, depth + 1)
    else:
        must(isinstance(value, bool) or is_number(value, -WHOLE, WHOLE))


def canonical_object(content, most):
    value = plain_object(content, most)
    must(stranger.canonical(value).encode() == content)
    return value


# Task


def check_task(content, expected_id=None):
    task = canonical_object(content, 16_384)
    law = task.get("mechanism")
    must(isinstance(law, dict) and law.keys() == {"name", "params", "version"})
    must(isinstance(law["name"], str) and law["name"] in VERSIONS)
    must(is_number(law["version"], VERSIONS[law["name"]], VERSIONS[law["name"]]))
    kind = {"atlas_sha256", "length"} if law["name"] == "atlas" else {"zones_sha256"}
    known = {"wire_version", "mechanism", *TEXTS, *NUMBERS, *kind}
    must(task.keys() - {"delete_counts"} == known)
    must(is_number(task["wire_version"], 1, 1))
    must(task.get("delete_counts", True) is True)
    for name, (low, high) in NUMBERS.items():
        must(is_number(task[name], low, high))
    must("length" not in task or is_number(task["length"], 1, 8))
    for name in TEXTS | (kind - {"length"}):
        must(isinstance(task[name], str))
        must(not name.endswith("sha256") or re.fullmatch("[0-9a-f]{64}", task[name]))
    check_purpose(task["purpose"])
    check_id(task["salt"])
    check_epsilon(task)
    check_times(task)
    check_params(task, law)
    must(expected_id in (None, stranger.task_id(content)))
    return task


def check_purpose(purpose):
    must(1 <= len(purpose) <= 500 and purpose == purpose.strip(" "))
    must(not HIDDEN.search(purpose) and not SPACES.search(purpose))


def check_id(text):
    must(re.fullmatch("[A-Za-z0-9_-]{21}[AQgw]", text))


def check_epsilon(task):
    text = task["epsilon"]
    must(re.fullmatch(r"[1-9]\d*(/[1-9]\d*)?", text, re.ASCII))
    value = Fraction(text)
    must(str(value) == text and value <= 10 and value.denominator <= 10**30)
    must(task["reports_per_contributor"] * value <= 100)


def check_times(task):
    second, kept = task["time_precision"], task["retention"]
    lasts = task["end"] - task["start"]
    must(lasts >= 1 and lasts * second <= 63_244_800)
    must(kept >= lasts and kept * second <= 158_112_000)
    must(task["send_within"] <= (kept - 1) * second)


def check_params(task, law):
    params = law["params"]
    must(isinstance(params, dict) and all(isinstance(each, str) for each in params.values()))
    if law["name"] == "atlas":
        must(not params)
        return
    must(params.keys() - {"when"} == {"zones"})
    must(params.get("when", "day-part") in ("day-part", "weekday"))
    polygons = params["zones"] == f"polygons:{task['zones_sha256']}"
    must(polygons or re.fullmatch("(grid|h3):(0|[1-9][0-9]{0,3})", params["zones"]))


# Files


def check_files(task, files):
    """Check the files of a task; returns the number of labels or codewords."""
    book = "atlas" if task["mechanism"]["name"] == "atlas" else "zones"
    must({"locations", book} <= files.keys())
    must(Fraction(task["epsilon"]) >= Fraction(1, 10**6))
    rows = check_locations(files["locations"])
    must(stranger.locations_sha256(rows) == task["locations_sha256"])
    said = plain_object(files[book], 16 * MIB)
    size = check_atlas(said, task, rows) if book == "atlas" else check_zones(said, task, rows)
    sha256 = stranger.atlas_sha256 if book == "atlas" else stranger.zones_sha256
    must(sha256(said) == task[f"{book}_sha256"])
    return size


def check_locations(content):
    must(len(content) <= 16 * MIB)
    text = content.decode()
    must(CSV.fullmatch(text))
    try:
        head, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except csv.Error:
        raise ValueError from None
    must(head == ["location_id", "lat", "lng"] and 2 <= len(rows) <= 65_536)
    must(all(len(row) == 3 for row in rows))
    ids = {row[0] for row in rows}
    must(len(ids) == len(rows) and "" not in ids and not any(map(HIDDEN.search, ids)))
    for column, most in ((1, 90), (2, 180)):
        for row in rows:
            must(DEGREES.fullmatch(row[column]) and abs(float(row[column])) <= most)
    return stranger.read_locations(text)


def check_atlas(said, task, rows):
    needed = {"format", "recipe", "epsilon", "locations_sha256", "near_count", "journeys"}
    must(needed <= said.keys() <= needed | {"size"})
    words = said["journeys"]
    must(said["format"] == "nomadp atlas 2" and isinstance(said["recipe"], str))
    must(isinstance(said["epsilon"], str) and said["epsilon"] == task["epsilon"])
    must(said["locations_sha256"] == task["locations_sha256"])
    must(is_number(said.get("size", 0), 0, 2**31 - 1))
    must(isinstance(words, list) and 1 <= len(words) <= 1024)
    must(all(isinstance(each, list) and len(each) == task["length"] for each in words))
    must(all(is_number(place, 0, len(rows) - 1) for each in words for place in each))
    must(len(set(map(tuple, words))) == len(words))
    must(is_number(said["near_count"], 1, len(words)))
    epsilon = Fraction(task["epsilon"])
    unit = stranger.unit_of(len(words), epsilon)
    near = said["near_count"]
    total = near * stranger.heaviest(unit, epsilon) + (len(words) - near) * unit
    must(near == len(words) or (total < 2**63 and total <= 2**33 * unit))
    return len(words)


def check_zones(said, task, rows):
    must(said.keys() == {"format", "rule", "locations_sha256", "names", "of"})
    names, of = said["names"], said["of"]
    must(said["format"] == "nomadp zones 1")
    must(said["rule"] == task["mechanism"]["params"]["zones"])
    must(said["locations_sha256"] == task["locations_sha256"])
    must(isinstance(names, list) and all(isinstance(name, str) and name for name in names))
    must(len(set(names)) == len(names) and not any(map(HIDDEN.search, names)))
    must(isinstance(of, list) and len(of) == len(rows))
    must(all(is_number(zone, 0, len(names) - 1) for zone in of))
    must(len(set(of)) == len(names))
    labels = label_count(task, len(names))
    must(labels <= 2**20)
    check_words(stranger.Law(labels, Fraction(task["epsilon"])))
    return labels


def grid_zones(rows, n):
    """The zones of grid:N: their names, and the zone of each location."""
    turns = [row[2] - rows[0][2] for row in rows]
    x = [rows[0][2] + (turn - 360 * round(turn / 360)) for turn in turns]
    column, line = (along(each, n) for each in (x, [row[1] for row in rows]))
    cells = [n * a + b for a, b in zip(line, column, strict=True)]
    kept = sorted(set(cells))
    return {"names": [f"r{k // n}_c{k % n}" for k in kept], "of": [*map(kept.index, cells)]}


def along(values, n):
    low, wide = min(values), max(values) - min(values)
    return [min(n - 1, math.floor((each - low) / wide * n)) if wide else 0 for each in values]


def label_count(task, zones):
    slots = {None: 1, "day-part": 4, "weekday": 7}[task["mechanism"]["params"].get("when")]
    return (zones**2 if task["mechanism"]["name"] == "trips" else zones) * slots


def check_words(law):
    owned = math.ceil(law.chances()[0] * 2**64)
    must(all(words == 0 or words >= 2**32 for words in (owned, 2**64 - owned)))
    d, c = law.d, law.count
    if law.q is None:
        ranges = [range(d - c + 1, d), range(max(1, d - c), max(2, d))]
    else:
        inside = stranger.points_of(law.q, law.t - 1)
        ranges = [[inside], [law.q] * (law.t - 1)]
    must(max(map(sum, ranges)) <= 2**30)


# What a collector replies


def value_kind(task, size):
    """How many numbers a report has, their upper bound, and whether they are bits."""
    if task["mechanism"]["name"] == "atlas":
        return 1, size, False
    law = stranger.Law(size, Fraction(task["epsilon"]))
    if law.q is not None:
        return 1, stranger.points_of(law.q, law.t), False
    return law.count, size, -(-size // 8) < law.count * stranger.width(size)


def check_value(task, size, text):
    """Refuse what the mechanism cannot release."""
    count, below, bits = value_kind(task, size)
    each = stranger.width(below)
    length = -(-below // 8) if bits else count * each
    must(re.fullmatch("[A-Za-z0-9_-]*", text) and len(text) == -(-4 * length // 3))
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    must(stranger.base64url(raw) == text)
    if bits:
        whole = int.from_bytes(raw, "little")
        must(whole < 2**below and whole.bit_count() == count)
        return
    parts = [int.from_bytes(raw[k : k + each], "big") for k in range(0, length, each)]
    must(all(one < other for one, other in zip(parts, [*parts[1:], below], strict=True)))


def replied(task, size, body, now, closed):
    """The status of an upload, and the reports that failed with their errors."""
    try:
        reports = check_upload(body)
    except ValueError:
        return 400, []
    found = [(each["report_id"], errors_of(task, size, each, now)) for each in reports]
    dropped = {"report_dropped"} if closed else set()
    return 200, [(name, errors | dropped) for name, errors in found if errors | dropped]


def check_upload(body):
    must(len(body) <= 65_536)
    upload = json.loads(body.decode(), object_pairs_hook=named_once)
    must(isinstance(upload, dict) and upload.keys() - {"simulated"} == {"reports"})
    reports = upload["reports"]
    must(isinstance(reports, list) and 1 <= len(reports) <= 100)
    for each in reports:
        must(isinstance(each, dict))
        must(each.keys() - {"simulated"} == {"report_id", "time", "value"})
        must(isinstance(each["report_id"], str) and isinstance(each["value"], str))
        check_id(each["report_id"])
        must(is_number(each["time"], 0, WHOLE))
        if "simulated" in upload:
            each["simulated"] = True
    return reports


def errors_of(task, size, report, now):
    """All errors of a report; a collector replies with one of them."""
    time, found = report["time"], set()
    try:
        check_value(task, size, report["value"])
        must("simulated" not in report)
    except ValueError:
        found.add("invalid_message")
    found |= {"task_not_started"} if time < task["start"] else set()
    found |= {"task_expired"} if time >= task["end"] else set()
    found |= {"report_too_early"} if time > now + 1 else set()
    return found | ({"report_replayed"} if now >= time + task["retention"] else set())
