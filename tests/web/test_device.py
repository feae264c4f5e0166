"""The client in a real browser against a real collector: what it spends, keeps and sends."""

import base64
import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from browsers import JOURNEY, fresh, serve_client
from collecting import Address, Process, bundle_of

from nomadp.protocol import TaskBundle
from nomadp.protocol.upload import UPLOAD_TYPE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request

pytestmark = pytest.mark.browser

NUMBERS = itertools.count(1)
JOIN = """async ([url, options]) => {
  const { Client } = await import("/client/index.js");
  window.client = await Client.open({ acceptEviction: true, ...options });
  const bundle = await window.client.join(url);
  return bundle.task.id;
}"""
REPORT = """async ([points, times]) => {
  const made = await Promise.allSettled(
    Array.from({ length: times }, () => window.client.report(points, { now: true })),
  );
  return made.map(({ status, value, reason }) =>
    status === "fulfilled" ? value.state : `${reason.name}: ${reason.code}`);
}"""
SPENT = "async () => String((await window.client.budget()).used)"
OPEN = """async (options) => {
  const { Client } = await import("/client/index.js");
  const refused = (error) => `${error.name}: ${error.code}`;
  return Client.open(options).then(() => "opened", refused);
}"""
FORGET = """() => new Promise((done, refuse) => {
  const request = indexedDB.deleteDatabase("nomadp ledger");
  request.onsuccess = done;
  request.onerror = refuse;
})"""
UNWRITTEN = """() => {
  const { add } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.add = function (row) {
    const request = add.call(this, row);
    this.transaction.abort(); // as a full disk would
    return request;
  };
}"""
ASKED_DURABILITY = """() => {
  window.asked = [];
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (stores, mode, options) {
    window.asked.push(`${mode} ${options?.durability}`);
    return transaction.call(this, stores, mode, options);
  };
}"""
WITH_DURABILITY = """(durability) => {
  Object.defineProperty(IDBTransaction.prototype, "durability", { get: () => durability });
}"""
IN_WORKER = """() => new Promise((answer) => {
  const source = `import { Client } from "${location.origin}/client/index.js";
    Client.open({ acceptEviction: true }).then(() => postMessage("opened"),
      (error) => postMessage(error.name));`;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  new Worker(url, { type: "module" }).onmessage = ({ data }) => answer(data);
})"""


def salted() -> TaskBundle:
    """A task of its own for each test."""
    number = next(NUMBERS).to_bytes(16, "big")
    salt = base64.urlsafe_b64encode(number).decode().rstrip("=")
    return bundle_of(salt=salt, reports_per_contributor=10)


@dataclass
class Device:
    """A browser with a fresh profile, at a collector that really runs."""

    context: "BrowserContext"
    address: Address
    bundle: TaskBundle
    requests: list["Request"] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.address.port}"

    def page(self) -> "Page":
        page = self.context.new_page()
        page.goto(f"{self.origin}/client/index.html")
        return page

    def joined(self, **options: Any) -> "Page":
        page = self.page()
        url = f"{self.origin}/tasks/{self.bundle.task.id}"
        assert page.evaluate(JOIN, [url, options]) == self.bundle.task.id
        return page

    def counted(self, at_least: int = 1) -> int:
        return self.address.counters(self.bundle, "accepted", at_least)

    @property
    def theirs(self) -> list["Request"]:
        """What was asked of the collector, and not of this test's own files."""
        return [each for each in self.requests if "/client/" not in each.url]


@pytest.fixture(scope="module")
def collector(
    web: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Process]:
    web("build")
    folder = tmp_path_factory.mktemp("collector")
    with Process(str(folder / "collector.sqlite"), folder) as process:
        yield process


@contextmanager
def device_at(chromium: "Browser", collector: Process) -> Iterator[Device]:
    context = fresh(chromium)
    found = Device(context, collector.address, collector.add(salted()))
    context.route("**/client/**", serve_client)
    context.on("request", lambda request: found.requests.append(request))
    yield found
    context.close()


@pytest.fixture
def device(chromium: "Browser", collector: Process) -> Iterator[Device]:
    with device_at(chromium, collector) as found:
        yield found


@pytest.fixture(scope="module")
def reported(chromium: "Browser", collector: Process) -> Iterator[Device]:
    """A device that sent one report, from an origin with a cookie."""
    with device_at(chromium, collector) as found:
        page = found.page()
        page.evaluate("document.cookie = 'who=somebody; path=/'")
        page.evaluate(JOIN, [f"{found.origin}/tasks/{found.bundle.task.id}", {}])
        assert page.evaluate(REPORT, [JOURNEY, 1]) == ["accepted"]
        yield found


def test_a_report_reaches_the_collector_and_nothing_else_does(reported: Device) -> None:
    assert reported.counted() == 1
    path = f"/tasks/{reported.bundle.task.id}"
    asked = [(each.method, each.url.removeprefix(reported.origin)) for each in reported.theirs]
    assert asked == [
        ("GET", path),
        ("GET", f"{path}/locations"),
        ("GET", f"{path}/atlas"),
        ("POST", f"{path}/reports"),
    ]
    assert all(each.post_data is None for each in reported.theirs[:-1])
    body = json.loads(reported.theirs[-1].post_data or "")
    (report,) = body.pop("reports")
    assert body == {}
    assert set(report) == {"report_id", "time", "value"}
    assert reported.bundle.code.parse(report["value"])


def test_requests_carry_nothing_that_tells_people_apart(reported: Device) -> None:
    assert len(reported.theirs) == 4
    for each in reported.theirs:
        sent = each.all_headers()
        assert not {"cookie", "referer", "authorization", "if-none-match"} & set(sent)
        assert sent["accept-language"] == "*"
    assert reported.theirs[-1].all_headers()["content-type"] == UPLOAD_TYPE


def test_no_request_holds_a_coordinate_of_the_journey(reported: Device) -> None:
    said = ""
    for each in reported.theirs:
        headers = each.all_headers()
        del headers["user-agent"]  # a browser's version has numbers and dots
        said += f"{each.url} {each.post_data} {headers}"
    assert "reports" in said
    assert not re.search("41[.,]8|87[.,]6|80123|60654", said)


def test_a_reload_keeps_the_ledger_which_refuses_to_overspend(device: Device) -> None:
    page = device.joined(lifetime="10")
    assert page.evaluate(REPORT, [JOURNEY, 1]) == ["accepted"]
    page.reload()
    page.evaluate(JOIN, [f"{device.origin}/tasks/{device.bundle.task.id}", {}])
    assert page.evaluate(SPENT) == "4"
    assert page.evaluate(REPORT, [JOURNEY, 1]) == ["accepted"]
    assert page.evaluate(REPORT, [JOURNEY, 1]) == ["LedgerRefused: budget_exhausted"]
    assert page.evaluate(SPENT) == "8"
    assert device.counted(2) == 2


def test_two_tabs_cannot_overspend_together(device: Device) -> None:
    pages = [device.joined(), device.joined()]
    for page in pages:  # at once: neither waits for the other
        page.evaluate(f"([points]) => {{ window.made = ({REPORT})([points, 6]); }}", [JOURNEY])
    made = [state for page in pages for state in page.evaluate("() => window.made")]
    assert made.count("accepted") == 5
    assert made.count("LedgerRefused: budget_exhausted") == 7
    assert [page.evaluate(SPENT) for page in pages] == ["20", "20"]
    assert device.counted(5) == 5


def test_a_ledger_that_is_gone_is_missed(device: Device) -> None:
    page = device.joined()
    page.evaluate(FORGET)
    assert page.evaluate(REPORT, [JOURNEY, 1]) == ["LedgerRefused: ledger_unusable"]
    page.reload()
    assert page.evaluate(OPEN, {"acceptEviction": True}) == "LedgerRefused: ledger_missing"


def test_what_the_browser_could_not_write_is_neither_spent_nor_perturbed(
    device: Device,
) -> None:
    page = device.joined()
    page.evaluate(UNWRITTEN)
    assert page.evaluate(REPORT, [JOURNEY, 1]) == ["LedgerRefused: ledger_unusable"]
    assert page.evaluate(SPENT) == "0"
    assert {each.method for each in device.theirs} == {"GET"}


def test_a_browser_that_may_forget_is_refused_unless_that_is_accepted(device: Device) -> None:
    page = device.page()
    assert page.evaluate("() => navigator.storage.persist()") is False
    assert page.evaluate(OPEN, {}) == "LedgerRefused: storage_not_persistent"
    assert page.evaluate(OPEN, {"acceptEviction": True}) == "opened"


@pytest.mark.parametrize("durability", ["relaxed", "default", None])
def test_a_ledger_that_is_not_flushed_at_every_step_is_refused(
    device: Device, durability: str | None
) -> None:
    page = device.page()
    page.evaluate(WITH_DURABILITY, durability)
    refused = page.evaluate(OPEN, {"acceptEviction": True})
    assert refused == "LedgerRefused: ledger_not_durable"


def test_every_step_of_a_ledger_asks_for_strict_durability(device: Device) -> None:
    page = device.page()
    page.evaluate(ASKED_DURABILITY)
    assert page.evaluate(OPEN, {"acceptEviction": True}) == "opened"
    asked = page.evaluate("window.asked")
    assert asked
    assert set(asked) == {"readwrite strict"}


def test_a_worker_has_no_ledger(device: Device) -> None:
    assert device.page().evaluate(IN_WORKER) == "LedgerRefused"
