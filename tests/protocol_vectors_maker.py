"""Write protocol.json and refused.json of tests/vectors: inputs from here, answers of our code.

``python tests/protocol_vectors_maker.py``: as in vectors_maker.py, it never changes an answer
that is already in a file.
"""

import json
import sys
from fractions import Fraction

import numpy as np
from known_answers import world_of
from protocol_answers import bundle_of
from vectors_maker import WORLDS, Aiming, case, write

from nomadp.mechanisms import kind_of
from nomadp.mechanisms.atlas import build_pinned
from nomadp.protocol import Task, TaskBundle, resample
from nomadp.protocol.canonical import canonical_bytes
from nomadp.zones import zones_of

HOW_TO_READ = (
    "A world is a task and its files as text (UTF-8); each case asks something (ask) about a "
    "kind of thing (kind), and answer is what every implementation of the protocol answers; "
    "tests/vectors/README.md explains every field."
)
DAY = 20773
"""16 November 2026, in days."""


def kit_world(world, mechanism, epsilon, length=None, size=None, **params):
    """A task over a world of locations, and its files."""
    places = world_of(json.dumps(WORLDS[world]))
    budget = Fraction(epsilon)
    if length is None:
        book = zones_of(places, params["zones"])
    else:
        book = build_pinned(places, [length], budget, size)
    task = Task(
        purpose=f"Known answers: {mechanism} in {world}.",
        mechanism=mechanism,
        version=kind_of(mechanism).version,
        params=params,
        epsilon=budget,
        length=length,
        locations_sha256=places.sha256,
        domain_sha256=book.sha256,
        start=DAY - 10,
        end=DAY + 90,
        send_within=3600,
        reports_per_contributor=2,
        retention=180,
        salt="AAECAwQFBgcICQoLDA0ODw",
    )
    bundle = TaskBundle(task, places, book)
    files = {name: content.decode() for name, content in bundle.files.items()}
    return {"task": task.content.decode(), "files": files}


def tasks():
    return {
        "atlas": kit_world("town", "atlas", "4", 3),
        "atlas of places": kit_world("town", "atlas", "1/2", 1),
        "atlas on the date line": kit_world("date line", "atlas", "5/2", 2),
        "atlas of many": kit_world("300", "atlas", "8", 4, 300),
        "trips": kit_world("town", "trips", "4", zones="grid:2"),
        "trips as bits": kit_world("town", "trips", "1", zones="grid:3"),
        "trips by part of the day": kit_world(
            "town", "trips", "2", zones="grid:2", when="day-part"
        ),
        "trips as a list": kit_world("300", "trips", "4", zones="grid:9"),
        "trips in a projective space": kit_world("300", "trips", "1", zones="grid:50"),
        "starts": kit_world("town", "starts", "1", zones="grid:3"),
        "ends": kit_world("town", "ends", "10", zones="grid:3", when="weekday"),
        "visits": kit_world("town", "visits", "1", zones="grid:3"),
        "visits by weekday": kit_world(
            "date line", "visits", "3", zones="grid:2", when="weekday"
        ),
    }


TOWN = [["41.8", "-87.6"], ["41.85", "-87.55"], ["41.791", "-87.679"], ["0", "0"]]
CITY = [["41.7", "-87.8"], ["41.9", "-87.5"], ["41.65", "-87.41"], ["42", "-87.9"]]
FIJI = [["-17", "180"], ["-17", "-180"], ["-16.81", "-179.71"], ["-17.1", "179.89"]]
LONG = [[f"41.{79 + k}", f"-87.{68 - k}"] for k in range(11)]


def sent(name, world, bundle, points, number, hour=None):
    """A case of `sent` with words of a seed; the first two have the extreme words."""
    places = [[float(each) for each in point] for point in points]
    snapped = bundle.locations.nearest(*np.array(places).T).tolist()
    length = bundle.task.length
    read = snapped if length is None else resample(snapped, length)
    choose = Aiming(1000 * len(name) + number, {})
    bundle.mechanism.reported(bundle.mechanism.read(np.array(read), hour), choose)
    words = choose.words
    if number < 2:
        words = ["0f"[number] * 16] * len(words)
    random = bytes((17 * number + 31 * k) % 256 for k in range(16)).hex()
    asked = {"points": points, "words": words, "random": random, "time": DAY + number}
    return case("sent", world=name, **asked, **({} if hour is None else {"hour": hour}))


def sent_by_all(worlds):
    for name, world in worlds.items():
        bundle = bundle_of(world)
        own = {"300": CITY, "date line": FIJI}
        points = next(
            (some for key, some in own.items() if f" {key}." in bundle.task.purpose), TOWN
        )
        journeys = [points[:1], points[1:3], points, [*points, *points, *points[1:]]]
        if points is TOWN:
            journeys += [LONG, [TOWN[2]] * 3, TOWN[:3]]
        for number, journey in enumerate(journeys):
            hour = 37 * number % 168 if bundle.mechanism.timed else None
            yield sent(name, world, bundle, journey, number, hour)


CANONICAL = [
    '{"b":1,"a":[true,false],"c":{"z":"","y":-1}}',
    ' { "a" : 9007199254740991 , "b" : -9007199254740991 } ',
    '{"\\ud83d\\ude00":1,"\\ue000":2,"e":3,"\\u00e9":4,"E":5,"":6}',
    '{"text":"\\u0000\\u0008\\u0009\\u000a\\u000c\\u000d\\u001f\\u007f\\"\\\\\\/\\u2028\\u00fc"}',
    '{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}',
    "{}",
    '{"a":[[[[[[[1]]]]]]]}',
    '{"a":[[[[[[[[]]]]]]]]}',
]
LENGTHS = [(1, 1), (1, 4), (2, 1), (2, 8), (3, 4), (4, 4), (5, 4), (6, 4), (7, 2), (10, 4)]
LENGTHS += [(11, 8), (100, 8), (9, 8), (1000, 3), (1001, 3), (12, 5), (65_537, 7)]


LAST = 3_362_902_947
EDGES = [
    {"epsilon": f"1/{10**30}"},
    {"epsilon": "10"},
    {"start": 0, "end": 1, "retention": 2},
    {"start": LAST - 1, "end": LAST, "time_precision": 3600},
]
"""Tasks at the limits of what is allowed."""


def spelled(world):
    """Other spellings of the same files, which have the same hashes."""
    files = world["files"]
    rows = files["locations"].splitlines()
    quoted = "\r\n".join(
        [rows[0], *(f'"{row.split(",")[0]}",{row.split(",", 1)[1]}' for row in rows[1:])]
    )
    book = "zones" if "zones" in files else "atlas"
    spaced = json.dumps(json.loads(files[book]), indent=1)
    odd = 'location_id,lat,lng\n"a, b",-0.0,1.50\n\u00fc,4.18e1,-87\n"say ""c""",89,-180\n'
    return [
        case("public_files", **files),
        case("public_files", locations=quoted, **{book: spaced}),
        case("public_files", locations=odd),
    ]


def protocol(worlds):
    fields = json.loads(worlds["atlas"]["task"])
    backwards = dict(sorted(fields.items(), reverse=True))
    other = backwards | {"locations_sha256": "0" * 64}
    spoken = backwards | {"purpose": 'Fahrg\u00e4ste z\u00e4hlen: "wohin?" \\ \U0001f68c'}
    newer = backwards | {"purpose": "\U0001fae9 " + "\U0001f68c" * 498}
    unknown = backwards | {"purpose": "unassigned \u0378, unusual \u0600 \U000e0002"}
    asked = [case("canonical", text=text) for text in CANONICAL]
    forgetful = backwards | {"delete_counts": True}
    edges = [backwards | change for change in EDGES]
    zoned = json.loads(worlds["trips"]["task"])
    for rule in ("grid:0", "grid:9999", "h3:0"):
        law = zoned["mechanism"] | {"params": {"zones": rule}}
        edges.append(zoned | {"mechanism": law})
    given = (backwards, other, spoken, newer, unknown, forgetful, *edges)
    asked += [case("task", fields=each) for each in given]
    asked += [case("task", fields=json.loads(world["task"])) for world in worlds.values()]
    asked += spelled(worlds["atlas"]) + spelled(worlds["trips"])
    asked += [case("resampled", count=count, length=length) for count, length in LENGTHS]
    asked += [case("value_size", world=name) for name in worlds]
    return asked + list(sent_by_all(worlds))


NOT_CANONICAL = [
    '{"b":1,"a":2}',
    '{"a": 1}',
    ' {"a":1}',
    '{"a":1}\n',
    '{"a":1,"a":1}',
    '{"a":1,"a":2}',
    '{"a":1.0}',
    '{"a":1e2}',
    '{"a":-0}',
    '{"a":01}',
    '{"a":null}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":9007199254740992}',
    '{"a":-9007199254740992}',
    '{"a":"\\u0061"}',
    '{"a":"\\/"}',
    '{"a":"\\u001F"}',
    '{"a":"\\u000a"}',
    '{"a":"\\ud800"}',
    '{"\\udc00":1}',
    '{"\ue000":1,"\U0001f600":2}',
    '{"a":[[[[[[[[1]]]]]]]]}',
    '["a"]',
    '"a"',
    "1",
    "",
    "{",
    '{"a":1}{}',
    "{'a':1}",
    '{"a":1,}',
    "\ufeff{}",
    '{"a":"\t"}',
    '{"a":[[[[[[[[[]]]]]]]]]}',
]


def refused_canonical():
    huge = '{"a":' + "9" * 400 + "}"
    yield from (case("refused_canonical", text=text) for text in [*NOT_CANONICAL, huge])
    yield from (
        case("refused_canonical", hexadecimal=each)
        for each in ("ff", "7b2261223a22ff227d", "7b2261223a22eda080227d", "feff007b007d")
    )


CHANGES = [
    {"wire_version": 2},
    {"wire_version": True},
    {"wire_version": "1"},
    {"extra": 1},
    {"zones_sha256": "0" * 64},
    {"purpose": ""},
    {"purpose": " "},
    {"purpose": "a" * 501},
    {"purpose": "two\nlines"},
    {"purpose": "turned \u202e round"},
    {"purpose": 1},
    {"epsilon": 4},
    {"epsilon": "0"},
    {"epsilon": "-1"},
    {"epsilon": "4.0"},
    {"epsilon": "8/2"},
    {"epsilon": " 4"},
    {"epsilon": "1e0"},
    {"epsilon": "11"},
    {"epsilon": "101/10"},
    {"epsilon": "21"},
    {"epsilon": "10", "reports_per_contributor": 11},
    {"epsilon": "1/3", "reports_per_contributor": 301},
    {"length": 0},
    {"length": 9},
    {"length": "3"},
    {"length": True},
    {"locations_sha256": "0" * 63},
    {"locations_sha256": "A" * 64},
    {"atlas_sha256": ""},
    {"atlas_sha256": 5},
    {"time_precision": 3599},
    {"time_precision": 31 * 86400 + 1},
    {"start": -1},
    {"start": DAY + 90},
    {"end": DAY - 11},
    {"end": DAY + 723, "retention": 1000},
    {"retention": 99},
    {"retention": 1831},
    {"retention": -1},
    {"send_within": -1},
    {"send_within": 7 * 86400 + 1},
    {"end": DAY - 9, "retention": 1},
    {"reports_per_contributor": 0},
    {"reports_per_contributor": 367, "epsilon": "1/10"},
    {"min_batch_size": 0},
    {"min_batch_size": 10**9 + 1},
    {"delete_counts": False},
    {"delete_counts": 1},
    {"delete_counts": "true"},
    {"salt": "AAECAwQFBgcICQoLDA0ODx"},
    {"salt": "AAECAwQFBgcICQoLDA0OD"},
    {"salt": "AAECAwQFBgcICQoLDA0O/w"},
    {"mechanism": "atlas"},
    {"mechanism": {"name": "atlas", "version": 3}},
    {"mechanism": {"name": "exp", "params": {}, "version": 1}},
    {"mechanism": {"name": "atlas", "params": {}, "version": 2}},
    {"mechanism": {"name": "atlas", "params": {}, "version": True}},
    {"mechanism": {"name": "atlas", "params": {"size": "8"}, "version": 3}},
    {"mechanism": {"name": "atlas", "params": [], "version": 3}},
    {"mechanism": {"name": "trips", "params": {"zones": "grid:2"}, "version": 1}},
]
UNSEEN = [0x00, 0x7F, 0x85, 0xA0, 0xAD, 0x61C, 0x180E, 0x200B, 0x200D, 0x2028, 0x2066, 0x3000]
UNSEEN += [0xE000, 0xF8FF, 0xFDD0, 0xFEFF, 0xFFF9, 0xFFFF, 0x1FFFE, 0xE0001, 0xE0041]
UNSEEN += [0xF0000, 0x10FFFF]
"""Code points that a purpose must not contain."""
CHANGES += [{"purpose": f"a{chr(each)}b"} for each in UNSEEN]
CHANGES += [{"epsilon": f"1/{10**30 + 1}"}, {"epsilon": "07/2"}, {"epsilon": "+4"}]
CHANGES += [{"start": LAST, "end": LAST + 1}]
CHANGES += [{"purpose": each} for each in (" a", "a ", "\U0001f68c" * 501)]
PARAMS = [
    {},
    {"zones": "grid:4", "size": "3"},
    {"zones": 4},
    {"zones": "grid:04"},
    {"zones": "grid:10000"},
    {"zones": "h3:-1"},
    {"zones": "anything"},
    {"zones": "polygons:" + "0" * 64},
    {"when": "day-part"},
    {"when": "", "zones": "grid:2"},
    {"when": "hour", "zones": "grid:2"},
]


def refused_task(worlds):
    fields, asks = (json.loads(worlds[name]["task"]) for name in ("atlas", "trips"))
    text = worlds["atlas"]["task"]
    yield from (_bad(fields | change) for change in CHANGES)
    for name in fields:
        yield _bad({other: fields[other] for other in fields if other != name})
    for params in PARAMS:
        yield _bad(asks | {"mechanism": asks["mechanism"] | {"params": params}})
    yield _bad(asks | {"length": 3})
    yield case("refused_task", text=text + "\n")
    yield case("refused_task", text=json.dumps(fields))
    yield case("refused_task", text=text.replace('"end":', '"end":1,"end":'))
    yield case("refused_task", text=text.replace('"length":3', '"length":3.0'))
    yield case("refused_task", text=text.replace('"length":3', '"length":null'))
    yield _bad(fields | {"purpose": "a" * 16_384})
    yield case("refused_task", text=text, expected_id="A" * 43)


def _bad(fields):
    return case("refused_task", text=canonical_bytes(fields).decode())


def refused_files(worlds):
    atlas, zones = (worlds[name]["files"] for name in ("atlas", "trips"))
    rows = atlas["locations"].splitlines(keepends=True)
    head, first, second, *rest = rows
    spoiled = {
        "moved": atlas["locations"].replace("41.82,", "41.83,"),
        "renamed": atlas["locations"].replace("\nb,", "\nB,"),
        "in another order": "".join([head, second, first, *rest]),
        "fewer": "".join(rows[:-1]),
        "one": head + first,
        "none": head,
        "without a head": "".join(rows[1:]),
        "of another head": atlas["locations"].replace("location_id", "id"),
        "with a column": atlas["locations"].replace("lng\n", "lng,name\n"),
        "with a blank line": atlas["locations"] + "\n",
        "twice": atlas["locations"] + first,
        "nowhere": atlas["locations"].replace("41.82,", "nan,"),
        "beyond the pole": atlas["locations"].replace("41.82,", "91.0,"),
        "in words": atlas["locations"].replace("41.82,", "4_1.82,"),
        "with a mark": "\ufeff" + atlas["locations"],
        "without a name": atlas["locations"].replace("\nb,", "\n,"),
        "with a control character": atlas["locations"].replace("\nb,", "\nb\x1b]0;x\x07,"),
        "turned round": atlas["locations"].replace("\nb,", "\nb\u202e,"),
        "in two lines": atlas["locations"].replace("\nb,", '\n"b\nb",'),
        "in lines that end in CR": atlas["locations"].replace("\n", "\r"),
        "with one line that ends in CR": atlas["locations"].replace("\nb,", "\rb,"),
        "with a bare quote": atlas["locations"].replace("\nb,", '\nb"b,'),
        "with one field for a head": atlas["locations"].replace(head, f'"{head.strip()}"\n'),
    }
    for text in spoiled.values():
        yield case("refused_files", world="atlas", files={"locations": text})
    said = json.loads(atlas["atlas"])
    journeys = said["journeys"]
    for change in (
        {"journeys": [[*journeys[0][:-1], 99], *journeys[1:]]},
        {"journeys": [[*journeys[0][:-1], -1], *journeys[1:]]},
        {"journeys": [journeys[1], *journeys[1:]]},
        {"journeys": journeys[:-1]},
        {"journeys": journeys[::-1]},
        {"journeys": [row[:-1] for row in journeys]},
        {"journeys": [journeys[0][:-1], *journeys[1:]]},
        {"journeys": []},
        {"journeys": "many"},
        {"near_count": 0},
        {"near_count": len(journeys) + 1},
        {"near_count": said["near_count"] + 1},
        {"epsilon": "5"},
        {"epsilon": 4},
        {"epsilon": "4.0"},
        {"epsilon": "8/2"},
        {"epsilon": " 4"},
        {"format": "nomadp codebook 1"},
        {"locations_sha256": "0" * 64},
        {"extra": 1},
        {"size": "8"},
    ):
        yield case("refused_files", world="atlas", files={"atlas": json.dumps(said | change)})
    yield case("refused_files", world="atlas", files={"atlas": "{}"})
    yield case("refused_files", world="atlas", files={"atlas": "no JSON"})
    yield case("refused_files", world="atlas", files={"atlas": None})
    yield case("refused_files", world="atlas", files={"locations": None})
    said = json.loads(zones["zones"])
    for change in (
        {"of": [0] * len(said["of"])},
        {"of": said["of"][:-1]},
        {"of": [0.5, *said["of"][1:]]},
        {"of": [99, *said["of"][1:]]},
        {"of": [0, *said["of"][1:]]},
        {"names": said["names"][::-1]},
        {"names": [*said["names"], "nobody's"]},
        {"names": [said["names"][0]] * len(said["names"])},
        {"names": ["", *said["names"][1:]]},
        {"names": ["\ud800", *said["names"][1:]]},
        {"names": ["\x1b[2J", *said["names"][1:]]},
        {"names": ["\u2066", *said["names"][1:]]},
        {"names": 4},
        {"rule": "grid:3"},
        {"rule": 2},
        {"format": "nomadp zones 2"},
        {"locations_sha256": "0" * 64},
        {"extra": 1},
    ):
        yield case("refused_files", world="trips", files={"zones": json.dumps(said | change)})


def refused_upload(worlds):
    name, bundle = "atlas", bundle_of(worlds["atlas"])
    good = {"report_id": "AAECAwQFBgcICQoLDA0ODw", "time": DAY, "value": bundle.code.text((5,))}
    last = good | {"report_id": "_____________________w"}

    def asked(*reports, now=DAY, world=name, **more):
        body = canonical_bytes({"reports": list(reports)}).decode()
        return case("refused_upload", world=world, now=now, text=body, **more)

    yield asked(good)
    yield asked(good, now=DAY + 179)
    yield asked(good | {"time": DAY + 1})
    values = [
        bundle.code.text((bundle.code.size,)),
        "_w",
        "",
        "A",
        "AAAA",
        "BR",
        "BQ==",
        "B+",
        "\u00fc\u00fc",
    ]
    for value in values:
        yield asked(last, good | {"value": value})
    yield from (asked(good | {"simulated": each}, last) for each in (True, False))
    yield asked(last, good | {"time": DAY - 11})
    yield asked(last, good | {"time": DAY + 90}, now=DAY + 100)
    yield asked(last, good | {"time": DAY + 2})
    yield asked(good, now=DAY + 180)
    yield asked(good, last, closed=True)
    for change in (
        {"report_id": "AAECAwQFBgcICQoLDA0ODx"},
        {"report_id": "AAECAwQFBgcICQoLDA0OD"},
        {"report_id": "AAECAwQFBgcICQoLDA0OD+w"},
        {"report_id": 1},
        {"time": "20773"},
        {"time": True},
        {"value": 5},
        {"uid": "somebody"},
    ):
        yield asked(last, good | change)
    for missing in good:
        yield asked({key: each for key, each in good.items() if key != missing})
    yield asked()
    yield asked(*[good] * 101)
    one = json.dumps(good)
    for text in (
        "",
        "{}",
        "[]",
        one,
        f'{{"reports":{one}}}',
        f'{{"reports":[{one}],"x":1}}',
        f'{{"reports":[{one}]',
        f'{{"reports":[[{one}]]}}',
        '{"reports":[null]}',
        f'{{"reports":[{one.replace("20773", "20773.5")}]}}',
    ):
        yield case("refused_upload", world=name, now=DAY, text=text)
    yield case("refused_upload", world=name, now=DAY, hexadecimal="7b22ff")
    yield from _other_values(worlds, asked, good)


def _other_values(worlds, asked, good):
    """Values of frequency oracles that the mechanism cannot release."""
    for name in ("trips as bits", "trips as a list", "trips in a projective space"):
        code = bundle_of(worlds[name]).code
        rows = [range(1, 1 + code.entries)]
        if code.bits:
            rows += [range(code.entries - 1), range(code.entries + 1)]
        elif code.entries > 1:
            rows += [range(code.entries, 0, -1), [1] * code.entries]
            rows += [[*range(code.entries - 1), code.size]]
        else:
            rows += [[code.size], [256**3 - 1]]
        for row in rows:
            yield asked(good | {"value": code.text(tuple(row))}, world=name)


def refusals(worlds):
    return [
        *refused_canonical(),
        *refused_task(worlds),
        *refused_files(worlds),
        *refused_upload(worlds),
    ]


def main(force):
    worlds = tasks()
    for name, asked in (("protocol", protocol(worlds)), ("refused", refusals(worlds))):
        used = {one["ask"].get("world") for one in asked}
        kept = {key: world for key, world in worlds.items() if key in used}
        write(
            name, {"wire_version": 1, "how_to_read": HOW_TO_READ, "worlds": kept}, asked, force
        )


if __name__ == "__main__":
    main("--force" in sys.argv[1:])
