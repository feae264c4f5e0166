"""The public files: what is in them is hashed, and nothing else is read."""

import hashlib
import json
import struct
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from refusals import check, refused

from nomadp.errors import DomainError, NomadpError, TaskRefused
from nomadp.locations import LocationSet
from nomadp.protocol import Task, TaskBundle
from nomadp.protocol.ceilings import LOCATIONS_MAX
from nomadp.protocol.public_files import (
    FILE_BYTES_MAX,
    atlas_bytes,
    locations_bytes,
    parse_atlas,
    parse_locations,
    parse_zones,
    zones_bytes,
)
from tests.protocol.conftest import ATLAS, NINE, ZONES, fields, question


def test_locations_survive_their_bytes_bit_for_bit():
    odd = LocationSet.from_columns(
        ["a,b", 'say "c"', "\u00fc\u00a0new"], [0.1 + 0.2, -90, 5e-324], [180, -0.0, 1 / 3]
    )
    again = parse_locations(locations_bytes(odd))
    assert again.ids == odd.ids
    assert again.lat.tobytes() == odd.lat.tobytes()
    assert again.lng.tobytes() == odd.lng.tobytes()


def test_the_hash_of_locations_is_of_these_bytes():
    """As docs/protocol.md spells them out."""
    said = b"nomadp-locations-1\n9\n" + b"".join(b"7:%s" % each.encode() for each in NINE.ids)
    for column in (NINE.lat, NINE.lng):
        said += b"".join(struct.pack("<d", each + 0.0) for each in column.tolist())
    assert NINE.sha256 == hashlib.sha256(said).hexdigest()


def test_the_hash_of_an_atlas_is_of_these_bytes():
    page = ATLAS.tables[0]
    rows = page.codewords.tolist()
    said = f"nomadp atlas 2\n{NINE.sha256}\n4\n".encode()
    said += struct.pack("<qqq", len(rows), 3, page.near_count)
    said += b"".join(struct.pack("<i", each) for row in rows for each in row)
    assert ATLAS.sha256 == hashlib.sha256(said).hexdigest()


def test_the_hash_of_zones_is_of_these_bytes():
    said = f"nomadp-zones-1\n{NINE.sha256}\n{len(ZONES)}\n".encode()
    said += b"".join(b"%d:%s" % (len(name), name.encode()) for name in ZONES.names)
    said += b"".join(struct.pack("<q", each) for each in ZONES.of.tolist())
    assert ZONES.sha256 == hashlib.sha256(said).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "location_id,lat,lng\n",
        "location_id,lat,lng\na,1,2\n",
        "lat,lng,location_id\n1,2,a\n3,4,b\n",
        "location_id,lat,lng\na,1,2\nb,3\n",
        "location_id,lat,lng\na,1,2\nb,3,4,5\n",
        "location_id,lat,lng\na,1,2\n\nb,3,4\n",
        "location_id,lat,lng\na,1,2\na,3,4\n",
        "location_id,lat,lng\na,1,2\n,3,4\n",
        "location_id,lat,lng\na,1,2\nb,1_0,4\n",
        "location_id,lat,lng\na,1,2\nb, 1,4\n",
        "location_id,lat,lng\na,1,2\nb,\u0661,4\n",
        "location_id,lat,lng\na,1,2\nb,nan,4\n",
        "location_id,lat,lng\na,1,2\nb,inf,4\n",
        "location_id,lat,lng\na,1,2\nb,1e999,4\n",
        "location_id,lat,lng\na,1,2\nb,+1,4\n",
        "location_id,lat,lng\na,1,2\nb,.5,4\n",
        "location_id,lat,lng\na,1,2\nb,90.5,4\n",
        "location_id,lat,lng\na,1,2\nb,1,180.5\n",
        'location_id,lat,lng\na,1,2\n"b,3,4\n',
        "\ufefflocation_id,lat,lng\na,1,2\nb,3,4\n",
    ],
)
def test_locations_that_are_not_are_refused(text):
    with pytest.raises(NomadpError):
        parse_locations(text.encode())


def test_locations_that_are_no_utf_8_are_refused():
    with refused(TaskRefused, "locations_malformed"):
        parse_locations(b"location_id,lat,lng\n\xff,1,2\nb,3,4\n")


def test_more_locations_than_the_ceiling_are_refused():
    rows = "".join(f"p{k},1,2\n" for k in range(LOCATIONS_MAX + 1))
    with refused(TaskRefused, "too_many_locations", limit=65_536, locations=65_537):
        parse_locations(f"location_id,lat,lng\n{rows}".encode())


@pytest.mark.parametrize(
    ("read", "code"),
    [
        (parse_locations, "task_file_too_large"),
        (parse_atlas, "json_too_large"),
        (lambda content: parse_zones(content, NINE), "json_too_large"),
    ],
)
def test_a_file_of_more_than_sixteen_megabytes_is_not_parsed(read, code):
    with refused(TaskRefused, code, limit=16_777_216):
        read(b" " * (FILE_BYTES_MAX + 1))


def atlas_with(**changes) -> bytes:
    return json.dumps(json.loads(atlas_bytes(ATLAS)) | changes).encode()


def zones_with(**changes) -> bytes:
    return json.dumps(json.loads(zones_bytes(ZONES)) | changes).encode()


def test_an_atlas_survives_its_bytes_however_they_are_written():
    assert parse_atlas(atlas_bytes(ATLAS)) == ATLAS
    assert parse_atlas(atlas_with()) == ATLAS


@pytest.mark.parametrize(
    "changes",
    [
        {"journeys": []},
        {"journeys": [[]]},
        {"journeys": [[0, 1, 2], [0, 1]]},
        {"journeys": [[0, 1, 2], [0, 1, 2]]},
        {"journeys": [[0, 1, -1]]},
        {"journeys": [[0, 1, 2**31]]},
        {"journeys": [[0, 1, True]]},
        {"journeys": [[0, 1, "2"]]},
        {"journeys": [[0] * 9]},
        {"journeys": [[k // 81, k // 9 % 9, k % 9] for k in range(729)] * 2},
        {"journeys": 5},
        {"journeys": [5]},
        {"near_count": 0},
        {"near_count": 10**6},
        {"near_count": "1"},
        {"near_count": True},
        {"epsilon": 4},
        {"epsilon": "x"},
        {"epsilon": "0"},
        {"recipe": 1},
        {"format": "nomadp atlas 1"},
        {"format": 2},
        {"locations_sha256": None},
        {"size": "8"},
        {"size": -1},
        {"more": 1},
    ],
)
def test_an_atlas_that_is_none_is_refused(changes):
    with pytest.raises(NomadpError):
        parse_atlas(atlas_with(**changes))


def test_an_atlas_of_more_than_1024_journeys_is_refused():
    rows = [[k // 81 % 9, k // 9 % 9, k % 9, k // 729] for k in range(1025)]
    with refused(TaskRefused, "codebook_malformed", limit=1024):
        parse_atlas(atlas_with(journeys=rows))
    assert parse_atlas(atlas_with(journeys=rows[:-1])).lengths == (4,)


def test_zones_survive_their_bytes():
    assert parse_zones(zones_bytes(ZONES), NINE) == ZONES
    assert parse_zones(zones_with(), NINE) == ZONES


@pytest.mark.parametrize(
    "changes",
    [
        {"of": [0] * 9},
        {"of": list(range(8))},
        {"of": [*range(8), 9]},
        {"of": [*range(8), -8]},
        {"of": [*range(8), True]},
        {"of": "012345678"},
        {"names": ["x"] * 9},
        {"names": [*"abcdefgh", ""]},
        {"names": [*"abcdefgh", "\ud800"]},
        {"names": [*"abcdefghi", "j"]},
        {"names": "abcdefghi"},
        {"rule": None},
        {"format": "nomadp zones 2"},
        {"locations_sha256": "0" * 64},
        {"more": 1},
    ],
)
def test_zones_that_are_none_are_refused(changes):
    with pytest.raises(NomadpError):
        parse_zones(zones_with(**changes), NINE)


def files_of(bundle, **changes):
    return bundle.files | changes


def test_a_kit_survives_its_files(atlas_bundle, zones_bundle):
    for bundle in (atlas_bundle, zones_bundle):
        again = TaskBundle.from_files(
            Task.from_bytes(bundle.task.content, bundle.task.id), bundle.files
        )
        assert again.files == bundle.files
        assert again.mechanism.identity == bundle.mechanism.identity


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace(b"place-a", b"place-z"),
        lambda text: text.replace(b"40.02", b"40.02000000000001"),
        lambda text: b"\n".join([*text.split(b"\n")[:-2], b""]),
        lambda text: text.replace(
            b"place-a,40.0,-74.0\nplace-b,40.0,-73.98\n",
            b"place-b,40.0,-73.98\nplace-a,40.0,-74.0\n",
        ),
    ],
)
def test_locations_for_one_person_alone_are_refused(atlas_bundle, spoil):
    other = spoil(atlas_bundle.files["locations"])
    assert other != atlas_bundle.files["locations"]
    with refused(TaskRefused, "task_file_hash_mismatch"):
        TaskBundle.from_files(atlas_bundle.task, files_of(atlas_bundle, locations=other))


def test_an_atlas_for_one_person_alone_is_refused(atlas_bundle):
    rows = ATLAS.tables[0].codewords.tolist()
    for changes in (
        {"journeys": rows[::-1]},
        {"journeys": rows[1:]},
        {"near_count": 2},
        {"epsilon": "3"},
    ):
        with refused(TaskRefused, "task_file_hash_mismatch"):
            TaskBundle.from_files(
                atlas_bundle.task, files_of(atlas_bundle, atlas=atlas_with(**changes))
            )


def test_zones_for_one_person_alone_are_refused(zones_bundle):
    for changes in ({"names": [*"abcdefghi"]}, {"of": [*range(1, 9), 0]}):
        with refused(TaskRefused, "task_file_hash_mismatch"):
            TaskBundle.from_files(
                zones_bundle.task, files_of(zones_bundle, zones=zones_with(**changes))
            )


def test_a_missing_file_is_refused(atlas_bundle, zones_bundle):
    for bundle in (atlas_bundle, zones_bundle):
        for name in bundle.files:
            rest = {other: content for other, content in bundle.files.items() if other != name}
            with refused(TaskRefused, "task_file_missing", files=[name]):
                TaskBundle.from_files(bundle.task, rest)


def pinned_task(content: bytes, **changes) -> TaskBundle:
    """A task whose author hashed this very atlas."""
    book = parse_atlas(content)
    task = Task(**fields(domain_sha256=book.sha256, **changes))
    return TaskBundle.from_files(task, {"locations": locations_bytes(NINE), "atlas": content})


@contextmanager
def refused_by_its_mechanism():
    """As a task, under the code that the mechanism gave it."""
    with pytest.raises(TaskRefused) as caught:
        yield
    check(caught.value.__cause__, caught.value.code)
    assert isinstance(caught.value.__cause__, DomainError)


def test_an_atlas_that_leaves_the_locations_is_refused_though_it_was_hashed():
    with refused_by_its_mechanism():
        pinned_task(atlas_with(journeys=[[0, 1, 9], [0, 1, 2]], near_count=1))


def test_an_atlas_for_another_epsilon_is_refused_though_it_was_hashed():
    with refused_by_its_mechanism():
        pinned_task(atlas_with(epsilon="5"))


def test_an_atlas_of_another_length_is_refused_though_it_was_hashed():
    with refused(TaskRefused, "codebook_length_mismatch", length=4):
        pinned_task(atlas_bytes(ATLAS), length=4)


def test_an_atlas_of_other_locations_is_refused_though_it_was_hashed():
    with refused_by_its_mechanism():
        pinned_task(atlas_with(locations_sha256="0" * 64))


def test_zones_of_another_rule_are_refused_though_they_were_hashed(zones_bundle):
    task = Task(**question(params={"zones": "grid:4"}))
    with refused(TaskRefused, "zones_rule_mismatch"):
        TaskBundle.from_files(task, zones_bundle.files)


def test_a_question_of_too_many_labels_is_refused_and_soon():
    size = 1100
    many = LocationSet.from_columns(
        [f"p{k}" for k in range(size)], np.linspace(40, 41, size), np.linspace(-74, -73, size)
    )
    zones = type(ZONES)(many, np.arange(size), tuple(f"z{k}" for k in range(size)), "grid:1024")
    asked = question(locations_sha256=many.sha256, params={"zones": "grid:1024"})
    task = Task(**asked | {"domain_sha256": zones.sha256, "epsilon": Fraction(1)})
    with refused(TaskRefused, "too_many_labels", limit=2**20, labels=1100**2):
        TaskBundle(task, many, zones)


def test_a_task_with_the_wrong_kind_of_book_is_refused():
    task = Task(**question() | {"domain_sha256": ATLAS.sha256})
    with refused(TaskRefused, "codebook_of_another_mechanism", mechanism="trips"):
        TaskBundle(task, NINE, ATLAS)
