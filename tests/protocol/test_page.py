"""The page is enough: a client written from it alone gives every known answer."""

import json

import pytest
import stranger
from known_answers import load

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
