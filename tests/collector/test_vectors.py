"""The protocol's known answers to uploads, asked of a real collector."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from collecting import collector

from nomadp.collector.connections import open_store
from nomadp.collector.messages import UPLOAD_TYPE
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.task import Task

VECTORS = json.loads(
    Path(__file__).parents[1].joinpath("vectors", "refused.json").read_text(encoding="utf-8")
)
CASES = [each for each in VECTORS["cases"] if each["kind"] == "refused_upload"]
WORLDS = sorted({case["ask"]["world"] for case in CASES})


def kit_of_world(name: str) -> TaskBundle:
    said = VECTORS["worlds"][name]
    files = {k: v.encode() for k, v in said["files"].items()}
    return TaskBundle.from_files(Task.from_bytes(said["task"].encode()), files)


def answers(world: str, folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What is answered to each case, each on a store without reports."""
    bundle, store = kit_of_world(world), open_store(str(folder / "collector.sqlite"))
    now_s = [0.0]
    with collector(store, bundle, clock=lambda: now_s[0]) as address:
        connection = store.connect()
        for case in (each for each in CASES if each["ask"]["world"] == world):
            ask = case["ask"]
            now_s[0] = ask["now"] * bundle.task.time_precision
            with connection.transaction():
                connection.run("DELETE FROM report")
                connection.run("DELETE FROM cell")
                connection.run("UPDATE task SET closed = ?", int(ask.get("closed", False)))
            body = ask["text"].encode() if "text" in ask else bytes.fromhex(ask["hexadecimal"])
            path = f"/tasks/{bundle.task.id}/reports"
            reply = address.ask("POST", path, body, content_type=UPLOAD_TYPE)
            told = {"status": reply.status}
            if reply.status == 200:
                told |= {"failures": reply.json["failures"] if reply.body else []}
            else:
                told |= {"type": reply.json["type"]}
            yield case, told
        connection.close()


@pytest.mark.parametrize("world", WORLDS)
def test_every_known_upload_is_answered_as_known(world: str, tmp_path: Path) -> None:
    wrong = [(case, told) for case, told in answers(world, tmp_path) if told != case["answer"]]
    assert not wrong
