"""What devices fetch, what operators do, what analysts ask, over real HTTP."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from collecting import Address, Reply, bundle_of, collector, report, today, value_of

from nomadp.answers.query import _RULES, QUERIES
from nomadp.collector.answers import FittedTask
from nomadp.collector.app import operator_app, public_app
from nomadp.collector.connections import open_store
from nomadp.collector.problems import PROBLEMS
from nomadp.collector.store import Store
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.task import Task
from nomadp.reports.counts import Counts


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def new_task(bundle: TaskBundle) -> dict[str, Any]:
    files = {name: encoded(content) for name, content in bundle.files.items()}
    return {"task": encoded(bundle.task.content), "files": files}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    place = tmp_path_factory.mktemp("collector") / "collector.sqlite"
    with collector(open_store(str(place)), bundle_of(), bundle_of("starts")) as address:
        yield address


def test_a_device_fetches_the_very_bytes_that_the_id_names(running: Address) -> None:
    for bundle in (bundle_of(), bundle_of("starts")):
        path = f"/tasks/{bundle.task.id}"
        content = running.ask("GET", path).body
        task = Task.from_bytes(content, bundle.task.id)
        book = "zones" if task.is_oracle else "atlas"
        files = {n: running.ask("GET", f"{path}/{n}").body for n in ("locations", book)}
        assert (
            TaskBundle.from_files(task, files).mechanism.identity == bundle.mechanism.identity
        )


def test_files_are_fetched_once_and_kept(running: Address) -> None:
    path = f"/tasks/{bundle_of().task.id}/atlas"
    first = running.ask("GET", path)
    assert "immutable" in first.headers["cache-control"]
    again = running.ask("GET", path, if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    for tag in (f"W/{first.headers['etag']}", "*"):  # as proxies and caches ask
        assert running.ask("GET", path, if_none_match=tag).status == 304
    assert running.ask("GET", path, if_none_match='"another"').status == 200


@pytest.mark.parametrize("path", ["/healthz/", "/tasks/", f"/tasks/{bundle_of().task.id}/"])
def test_nobody_is_sent_to_the_host_that_they_name(running: Address, path: str) -> None:
    reply = running.ask("GET", path, host="elsewhere.example")
    assert "location" not in reply.headers
    assert reply.problem in ("not_found", "unrecognized_task")


@pytest.mark.parametrize(
    ("method", "ending", "problem"),
    [
        ("POST", "/collection_jobs", "unsupported_media_type"),
        ("GET", "/collection_jobs/x", "unrecognized_job"),
        ("DELETE", "/locations", "method_not_allowed"),
        ("GET", "/counts?start=x", "invalid_message"),
    ],
)
def test_a_problem_names_the_task_it_is_of(
    running: Address, method: str, ending: str, problem: str
) -> None:
    task_id = bundle_of().task.id
    reply = running.ask(method, f"/tasks/{task_id}{ending}", b"x", role="analyst")
    assert (reply.problem, reply.json.get("taskid")) == (problem, task_id)


def test_an_atlas_task_has_no_zones(running: Address) -> None:
    assert running.ask("GET", f"/tasks/{bundle_of().task.id}/zones").problem == "not_found"


@pytest.mark.parametrize(
    ("method", "path", "status", "problem"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/tasks/short", 404, "unrecognized_task"),
        ("GET", "/tasks/%00%ff", 404, "unrecognized_task"),
        ("DELETE", "/healthz", 405, "method_not_allowed"),
        ("PUT", f"/tasks/{'A' * 43}/reports", 404, "not_found"),
        ("GET", "/operator/nothing", 404, "not_found"),
    ],
)
def test_other_addresses_are_problems(
    running: Address, method: str, path: str, status: int, problem: str
) -> None:
    reply = running.ask(method, path)
    assert (reply.status, reply.problem) == (status, problem)


@pytest.mark.parametrize("role", [None, "analyst"])
def test_only_the_operator_operates(running: Address, role: str | None) -> None:
    path = f"/operator/tasks/{bundle_of().task.id}"
    for method, where in (
        ("GET", "/operator/tasks"),
        ("POST", "/operator/tasks"),
        ("GET", path),
        ("POST", f"{path}/close"),
    ):
        reply = running.ask(method, where, role=role)
        assert (reply.status, reply.problem) == (401, "unauthorized")
        assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("role", [None, "operator"])
def test_only_the_analyst_asks(running: Address, role: str | None) -> None:
    path = f"/tasks/{bundle_of().task.id}"
    for method, where in (
        ("POST", f"{path}/collection_jobs"),
        ("GET", f"{path}/collection_jobs/{'A' * 43}"),
        ("DELETE", f"{path}/collection_jobs/{'A' * 43}"),
        ("GET", f"{path}/counts"),
        ("GET", f"{path}/progress"),
        ("GET", "/tasks"),
    ):
        assert running.ask(method, where, role=role).status == 401


def test_the_operators_addresses_are_not_on_the_public_listener(running: Address) -> None:
    swapped = Address(running.operator_port, running.port)
    assert swapped.ask("GET", "/operator/tasks", role="operator").status == 404
    assert swapped.ask("GET", "/metrics").status == 404


def test_an_operator_adds_a_task_and_devices_report_at_once(address: Address) -> None:
    bundle = bundle_of(purpose="A second one.")
    assert address.send(bundle, report(bundle)).status == 404
    for _ in range(2):  # adding it again changes nothing
        reply = address.post("/operator/tasks", new_task(bundle), "operator")
        assert (reply.status, reply.json) == (201, {"task_id": bundle.task.id})
    assert address.send(bundle, report(bundle)).body == b""
    listed = address.ask("GET", "/operator/tasks", role="operator").json["tasks"]
    assert bundle.task.id in [each["task_id"] for each in listed]


def test_what_is_no_task_is_not_added(running: Address) -> None:
    good = new_task(bundle_of(purpose="A third one."))
    other = new_task(bundle_of("starts"))
    for wrong, problem in (
        ({}, "invalid_message"),
        ({**good, "more": 1}, "invalid_message"),
        ({**good, "task": "%"}, "invalid_message"),
        ({**good, "task": encoded(b"{}")}, "invalid_task"),
        ({**good, "files": {}}, "invalid_task"),
        ({**good, "files": other["files"]}, "invalid_task"),
    ):
        assert running.post("/operator/tasks", wrong, "operator").problem == problem


def finished(address: Address, job: Reply) -> Reply:
    assert job.status == 201
    deadline_s = time.monotonic() + 300
    while True:
        reply = address.ask("GET", job.headers["location"], role="analyst")
        if reply.status != 202 or time.monotonic() > deadline_s:
            return reply
        assert int(reply.headers["retry-after"]) > 0
        time.sleep(0.1)


QUESTION = {"query": {"kind": "hotspots"}}


def test_a_question_is_one_job_until_it_is_deleted(
    address: Address, bundle: TaskBundle
) -> None:
    path = f"/tasks/{bundle.task.id}/collection_jobs"
    address.send(bundle, *[report(bundle, k) for k in range(5)])
    first = address.post(path, QUESTION, "analyst")
    found = finished(address, first)
    assert found.status == 200
    assert found.json["status"] == "done"
    assert found.json["answer"]["about"]["reports"] == 5
    assert found.json["task_id"] == bundle.task.id
    address.send(bundle, report(bundle))
    again = address.post(path, QUESTION, "analyst")
    assert again.headers["location"] == first.headers["location"]
    assert finished(address, again).json == found.json
    assert address.ask("DELETE", first.headers["location"], role="analyst").status == 204
    gone = address.ask("GET", first.headers["location"], role="analyst")
    assert gone.problem == "unrecognized_job"
    anew = finished(address, address.post(path, QUESTION, "analyst"))
    assert anew.json["answer"]["about"]["reports"] == 6


def test_a_default_that_is_said_is_no_other_job(address: Address, bundle: TaskBundle) -> None:
    path, task = f"/tasks/{bundle.task.id}/collection_jobs", bundle.task
    said = {"kind": "hotspots", "level": "0.90", "areas": "locations", "at": None}
    asked: list[dict[str, Any]] = [QUESTION, {"query": said}]
    asked += [{"start": task.start, **QUESTION, "end": task.end}]
    names = [address.post(path, each, "analyst").json["job"] for each in asked]
    assert len(set(names)) == 1
    # Under this name it was kept before defaults were looked at, and is found again.
    before = json.dumps([task.id, QUESTION], sort_keys=True, separators=(",", ":"))
    assert names[0] == encoded(hashlib.sha256(before.encode()).digest())
    for other in ({"start": task.start + 1, **QUESTION}, {"query": {**said, "level": 0.5}}):
        assert address.post(path, other, "analyst").json["job"] != names[0]


def test_below_the_batch_size_only_what_is_missing_is_told(
    address: Address, bundle: TaskBundle
) -> None:
    address.send(bundle, report(bundle))
    path = f"/tasks/{bundle.task.id}"
    job = address.post(f"{path}/collection_jobs", QUESTION, "analyst")
    told = finished(address, job).json
    assert told == {"status": "too_few", "missing": 2, "task_id": bundle.task.id}
    counts = address.ask("GET", f"{path}/counts", role="analyst").json
    assert set(counts) == {"task_id", "start", "end", "missing"}
    assert counts["missing"] == 2
    address.send(bundle, report(bundle), report(bundle))
    assert finished(address, job).json["status"] == "done"


def test_the_batch_size_holds_for_the_days_that_are_asked_about(
    address: Address, bundle: TaskBundle
) -> None:
    address.send(bundle, *[report(bundle, k) for k in range(2)])
    address.send(bundle, *[report(bundle, k, time=today() - 1) for k in range(3)])
    path = f"/tasks/{bundle.task.id}"
    few = address.post(f"{path}/collection_jobs", {**QUESTION, "start": today()}, "analyst")
    told = {"status": "too_few", "missing": 1, "task_id": bundle.task.id}
    assert finished(address, few).json == told
    counts = address.ask("GET", f"{path}/counts?start={today()}", role="analyst").json
    assert (counts["missing"], "cells" in counts) == (1, False)


def test_an_answer_to_too_few_reports_has_no_rows_even_if_somebody_works_it_out(
    question: TaskBundle,
) -> None:
    numbers = question.code.parse(value_of(question))
    law, length = question.mechanism.identity, question.code.entries
    for reports, missing in ((2, 1), (3, 0)):
        counts = Counts({(law, length, number): reports for number in numbers})
        found = FittedTask(question, counts).answer(QUESTION["query"])
        assert found["about"]["missing"] == missing
        assert bool(found["columns"]["share"]) is (missing == 0)


def test_a_question_that_cannot_be_asked_is_refused(
    address: Address, bundle: TaskBundle, question: TaskBundle
) -> None:
    for each in (bundle, question):
        address.send(each, *[report(each) for _ in range(3)])
    path = f"/tasks/{bundle.task.id}/collection_jobs"
    for wrong in (
        {},
        {"kind": "who was it"},
        {"kind": ["flows"]},
        {"kind": "flows", "level": "2"},
        {"kind": "flows", "people": 7},
        {"kind": "hotspots", "areas": "secret:4"},
        {"kind": "hotspots", "areas": "grid:0"},
        {"kind": "hotspots", "at": "home"},
        {"kind": "hotspots", "areas": f"polygons:{64 * 'f'}"},
        {"kind": "density", "areas": "locations"},
        {"kind": "flows", "areas": "locations"},
        {"kind": "hotspots", "level": "\u0660.\u0669"},
        {"kind": "synthesize", "start": "tomorrow"},
        {"kind": "synthesize", "start": "2300-01-01"},
    ):
        reply = address.post(path, {"query": wrong}, "analyst")
        assert (reply.status, reply.problem) == (422, "invalid_query")
        assert reply.json["detail"]
        assert not any(word in reply.body for word in (b"secret", b"home", b"people"))
    other = f"/tasks/{question.task.id}/collection_jobs"
    job = address.post(other, {"query": {"kind": "hotspots", "areas": "grid:9"}}, "analyst")
    assert finished(address, job).json["status"] == "refused"  # only this task cannot answer
    for wrong in ({}, {"query": 1}, {"query": {}, "start": -1}, {"query": {}, "x": 1}):
        assert address.post(path, wrong, "analyst").problem == "invalid_message"
    twice = b'{"query":{"kind":"hotspots"},"query":{"kind":"density"}}'
    kind = {"content_type": "application/json"}
    reply = address.ask("POST", path, twice, role="analyst", **kind)
    assert reply.problem == "invalid_message"


def test_counts_are_those_of_the_reports(
    address: Address, bundle: TaskBundle, question: TaskBundle
) -> None:
    for each in (bundle, question):
        address.send(each, *[report(each, k % 4) for k in range(9)])
        address.send(each, report(each, 1, time=today() - 1))
        path = f"/tasks/{each.task.id}/counts"
        found = address.ask("GET", path, role="analyst").json
        assert found["reports"] == 10
        assert found["law"] == each.mechanism.identity
        assert sum(n for *_, n in found["cells"]) == 10 * each.code.entries
        today_only = address.ask("GET", f"{path}?start={today()}", role="analyst").json
        assert today_only["reports"] == 9
        bad = address.ask("GET", f"{path}?start=-1", role="analyst")
        assert bad.problem == "invalid_message"


def test_counts_travel_as_arrow(address: Address, bundle: TaskBundle) -> None:
    import pyarrow as pa

    address.send(bundle, *[report(bundle, k % 4) for k in range(9)])
    kind = "application/vnd.apache.arrow.stream"
    reply = address.ask("GET", f"/tasks/{bundle.task.id}/counts", role="analyst", accept=kind)
    counts = Counts.from_arrow(pa.ipc.open_stream(reply.body).read_all())
    ((length, values, often),) = counts.by_length(bundle.mechanism)
    assert (length, values.tolist(), often.tolist()) == (3, [0, 1, 2, 3], [3, 2, 2, 2])


def test_health_and_metrics_are_there_for_those_who_watch(
    address: Address, bundle: TaskBundle
) -> None:
    assert address.ask("GET", "/healthz").json == {"status": "alive"}
    assert address.ask("GET", "/readyz").json == {"status": "ready"}
    address.send(bundle, report(bundle), report(bundle))
    said = address.ask("GET", "/metrics").body.decode()
    assert 'nomadp_uploads_total{status="200"} 1' in said
    assert "nomadp_reports_acknowledged_total 2" in said
    assert "nomadp_ready 1" in said
    assert bundle.task.id not in said


DOCUMENT = json.loads(
    Path(__file__)
    .parents[2]
    .joinpath("src/nomadp/collector/openapi.json")
    .read_text(encoding="utf-8")
)


def test_the_document_has_every_problem_and_its_status() -> None:
    schema = DOCUMENT["components"]["schemas"]["Problem"]
    described = {
        kind.removeprefix("urn:nomadp:error:") for kind in schema["properties"]["type"]["enum"]
    }
    assert described == set(PROBLEMS)
    for status in {kind.status for kind in PROBLEMS.values()}:
        of = sorted(name for name, kind in PROBLEMS.items() if kind.status == status)
        assert f"{status} {', '.join(of)}" in schema["description"]


def test_the_document_has_every_question_and_what_it_takes() -> None:
    question = DOCUMENT["components"]["schemas"]["JobRequest"]["properties"]["query"]
    assert question["properties"]["kind"]["enum"] == list(QUERIES)
    assert set(question["properties"]) == {"kind", *_RULES}


def test_the_document_has_every_route_and_no_other() -> None:
    described = {
        (method.upper(), path) for path, each in DOCUMENT["paths"].items() for method in each
    }
    service: Any = object()
    routes = [*public_app(service)._others.routes, *operator_app(service).routes]
    built = {
        (method, route.path) for route in routes for method in route.methods - {"HEAD"}
    } | {("POST", "/tasks/{task}/reports")}
    assert described == built


def test_a_task_of_another_process_is_found(store: Store, bundle: TaskBundle) -> None:
    from nomadp.collector.loaded_task import add_task

    with collector(store) as address:
        assert address.send(bundle, report(bundle)).status == 404
        connection = store.connect()
        add_task(connection, bundle)
        connection.close()
        time.sleep(1.1)
        assert address.send(bundle, report(bundle)).body == b""


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_job_of_any_name_is_not_there(
    address: Address, bundle: TaskBundle, method: str
) -> None:
    for name in ("%00", "%FF", "A" * 43, "A" * 44):
        path = f"/tasks/{bundle.task.id}/collection_jobs/{name}"
        assert address.ask(method, path, role="analyst").problem == "unrecognized_job"


def test_a_job_is_not_there_behind_another_task(
    address: Address, bundle: TaskBundle, question: TaskBundle
) -> None:
    job = address.post(f"/tasks/{bundle.task.id}/collection_jobs", QUESTION, "analyst").json[
        "job"
    ]
    path = f"/tasks/{question.task.id}/collection_jobs/{job}"
    for method in ("GET", "DELETE"):
        assert address.ask(method, path, role="analyst").problem == "unrecognized_job"
