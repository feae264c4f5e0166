"""The pages as a collector serves them, and what they ask it."""

import gzip

import pytest
from collecting import Address, bundle_of, collector, report

from nomadp.collector import jobs, page_routes
from nomadp.collector.store import Store
from nomadp.pages import NOT_BUILT, POLICY, PageFile, built_pages
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.guarantee import Guarantee

PAGES = {
    "index.html": PageFile("index.html", b"<!doctype html><title>x</title>"),
    "contribute.html": PageFile("contribute.html", b"<!doctype html><title>y</title>"),
    "index-abc.js": PageFile("index-abc.js", b"export {};" * 100),
}


def served(
    store: Store, monkeypatch: pytest.MonkeyPatch, pages: dict[str, PageFile]
) -> "collector":
    monkeypatch.setattr(page_routes, "built_pages", lambda: pages)
    return collector(store, bundle_of())


def test_the_page_may_load_nothing_from_elsewhere_and_run_nothing_inline(
    sqlite: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(sqlite, monkeypatch, PAGES) as address:
        page = address.ask("GET", "/")
    assert (page.status, page.body) == (200, PAGES["index.html"].content)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"] == POLICY
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules.pop("default-src") == "'none'"
    assert set(rules.values()) == {"'self'", "'none'"}
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "no-cache"


def test_contributors_get_one_page_for_every_task(
    sqlite: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(sqlite, monkeypatch, PAGES) as address:
        pages = [
            address.ask("GET", f"/contribute/{name}") for name in (bundle_of().task.id, "x")
        ]
        wrong = [address.ask("GET", path) for path in ("/contribute", "/contribute/x/y")]
    assert {each.body for each in pages} == {PAGES["contribute.html"].content}
    assert {each.headers["content-security-policy"] for each in pages} == {POLICY}
    assert {each.status for each in wrong} == {404}


def test_assets_are_kept_for_ever_and_sent_small(
    sqlite: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(sqlite, monkeypatch, PAGES) as address:
        plain = address.ask("GET", "/assets/index-abc.js")
        small = address.ask("GET", "/assets/index-abc.js", accept_encoding="gzip")
        wrong = [
            address.ask("GET", path)
            for path in (
                "/assets/index.html",
                "/assets/contribute.html",
                "/assets/other.js",
                "/assets/../index.html",
            )
        ]
    assert plain.body == gzip.decompress(small.body) == PAGES["index-abc.js"].content
    assert len(small.body) < len(plain.body)
    assert plain.headers["content-type"].startswith("text/javascript")
    assert "immutable" in plain.headers["cache-control"]
    assert {each.status for each in wrong} == {404}


def test_without_pages_it_says_how_to_build_them_and_takes_reports(
    sqlite: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(sqlite, monkeypatch, {}) as address:
        page = address.ask("GET", "/")
        assert (page.status, page.body.decode()) == (404, f"{NOT_BUILT}\n")
        assert address.send(bundle_of(), report(bundle_of())).status == 200


def test_a_folder_without_an_index_has_no_pages(tmp_path: object) -> None:
    assert built_pages(tmp_path) == {}  # type: ignore[arg-type]


def test_an_analyst_sees_how_tasks_fare_and_what_was_refused(
    address: Address, bundle: TaskBundle, question: TaskBundle
) -> None:
    address.send(bundle, report(bundle), report(bundle, time=1))
    assert address.counters(bundle, "task_not_started") == 1
    tasks = address.ask("GET", "/tasks", role="analyst").json["tasks"]
    assert {each["task_id"] for each in tasks} == {bundle.task.id, question.task.id}
    found = address.ask("GET", f"/tasks/{bundle.task.id}/progress", role="analyst").json
    assert found in tasks
    assert (found["purpose"], found["epsilon"]) == (bundle.task.purpose, "4")
    assert (found["reports"], found["counters"]["task_not_started"]) == (1, 1)


def test_what_a_task_promises_is_told_to_everybody(
    address: Address, bundle: TaskBundle
) -> None:
    reply = address.ask("GET", f"/tasks/{bundle.task.id}/promise")
    assert reply.json == {"task_id": bundle.task.id, **Guarantee(bundle).as_dict()}
    assert "immutable" in reply.headers["cache-control"]


@pytest.mark.slow
def test_questions_asked_together_are_learned_for_once(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [{"kind": "hotspots"}, {"kind": "flows"}]
    works, work_out = [], jobs._run_worker

    async def counted(request: bytes) -> bytes | None:
        works.append(request)
        return await work_out(request)

    monkeypatch.setattr(jobs, "_run_worker", counted)
    with collector(sqlite, bundle) as address:
        address.send(bundle, *[report(bundle, k) for k in range(5)])
        path = f"/tasks/{bundle.task.id}/collection_jobs"
        made = [address.post(path, {"query": each}, "analyst") for each in asked]
        strange = address.post(path, {"query": {"kind": "nothing of the kind"}}, "analyst")
        where = [each.headers["location"] for each in made]
        found = [address.ask("GET", each, role="analyst") for each in where]
        while any(each.status == 202 for each in found):
            found = [address.ask("GET", each, role="analyst") for each in where]
    assert strange.status == 422  # at once, and nothing is worked out for it
    told = [each.json for each in found]
    assert [each["status"] for each in told] == ["done", "done"]
    assert [each["answer"]["kind"] for each in told] == ["hotspots", "flows"]
    assert told[0]["answer"]["drawn"]["dots"]
    assert len(works) == 1  # also for those that nobody had asked after yet
