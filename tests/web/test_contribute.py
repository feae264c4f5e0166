"""The contributor's page in a real browser, at a collector that really runs."""

import base64
import gzip
import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsers import (
    DESK,
    PATIENCE_MS,
    PHONE,
    drawn,
    expect,
    main_thread_s,
    measured,
    part,
    pixels,
    seen,
    serious,
    too_small,
    until,
)
from collecting import Process, kit_of, prepared, today
from limits import on_this_machine
from worlds import scattered

from nomadp.collector.opened import opened
from nomadp.look import look
from nomadp.protocol import Kit
from nomadp.protocol.create import create_task
from nomadp.protocol.upload import UPLOAD_TYPE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Request, Route

pytestmark = pytest.mark.browser

NUMBERS = itertools.count(1)
IMPORTS = Path(__file__).resolve().parents[1] / "imports"
INK = {"light": "#1c2127", "dark": "#ece8df"}
NO_MAPS = "HTMLCanvasElement.prototype.getContext = () => null"
"""Without graphics a browser draws maps slowly: they are looked at where they matter."""
NO_LOCKS = "Object.defineProperty(navigator, 'locks', { value: undefined })"
SLOW_LOCKS = """const ask = LockManager.prototype.request;
LockManager.prototype.request = async function (...asked) {
  await new Promise((done) => setTimeout(done, 1000));
  return ask.apply(this, asked);
}"""
"""A ledger takes its time to open."""
AGREES_AT_ONCE = """new MutationObserver(() => {
  document.querySelector("#accept:not(:checked)")?.click();
}).observe(document, { childList: true, subtree: true })"""


def salted(mechanism: str = "atlas", **said: Any) -> Kit:
    """A task of its own for each test."""
    number = next(NUMBERS).to_bytes(16, "big")
    salt = base64.urlsafe_b64encode(number).decode().rstrip("=")
    return kit_of(mechanism, salt, reports_per_contributor=10, min_batch_size=1, **said)


def dear() -> Kit:
    """One of which a browser can pay for two reports, and for no third."""
    return salted("trips", epsilon=Fraction(9))


ATLAS = kit_of(min_batch_size=1)
TRIPS = kit_of("trips", min_batch_size=1)
WEEKDAYS = kit_of.__wrapped__("visits", params={"zones": "grid:3", "when": "weekday"})
OVER = kit_of(salt="AQEBAQEBAQEBAQEBAQEBAQ", start=today() - 9, end=today() - 1)
LATER = kit_of(salt="AQEBAQEBAQEBAQEBAQEBAg", start=today() + 2, end=today() + 9)


@pytest.fixture(scope="module")
def collector(
    web: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Process]:
    web("build")
    folder = tmp_path_factory.mktemp("collector")
    store = str(folder / "collector.sqlite")
    prepared(opened(store), ATLAS, TRIPS, WEEKDAYS, OVER, LATER)
    with Process(store, folder) as process:
        yield process


class Visit:
    """A browser with a fresh profile at the page of a task."""

    def __init__(
        self, page: "Page", kit: Kit, collector: Process, asked: list["Request"]
    ) -> None:
        self.page, self.kit, self.asked, self.day = page, kit, asked, today()
        self.address = collector.address

    @property
    def posted(self) -> list["Request"]:
        return [each for each in self.asked if each.method != "GET"]

    def step(self, number: int) -> None:
        self.page.get_by_role("heading", name=re.compile(f"^{number}\\.")).wait_for()

    def button(self, name: str) -> "Locator":
        return self.page.get_by_role("button", name=name)

    def press(self, name: str) -> None:
        self.button(name).click()

    def draw(self) -> None:
        """Three locations, from the list."""
        self.press("Draw a journey")
        for name in ("p1", "p2", "p3"):
            self.page.locator("#place").fill(name)
            self.page.get_by_role("button", name=f"Add {name}", exact=True).click()

    def draw_on_map(self) -> None:
        drawn(self.page)
        self.press("Draw a journey")
        canvas = self.page.locator(".map canvas")
        box = canvas.bounding_box()
        assert box is not None
        for x, y in ((0.3, 0.3), (0.45, 0.6), (0.6, 0.7)):
            canvas.click(position={"x": box["width"] * x, "y": box["height"] * y})
        expect(self.page.locator(".points li")).to_have_count(3)

    def to_preview(self) -> None:
        self.draw()
        self.press("Use this journey")
        self.see_preview()

    def see_preview(self) -> None:
        self.press("See what would be sent")
        self.page.locator(".preview .says").wait_for()  # it is drawn after the step is shown

    def to_sending(self) -> None:
        self.to_preview()
        self.press("Continue to sending")
        self.page.get_by_label("I know that this browser").check()

    def send(self) -> str:
        """Returns what became of it."""
        self.page.locator("#send").click()  # once it can be pressed
        self.page.locator("#receipt").wait_for()
        return self.page.locator("#receipt dd").last.inner_text()

    def sent_bytes(self) -> int:
        return int(self.page.locator("#sent b").inner_text().replace(",", ""))

    def stored(self) -> dict[str, Any]:
        path = f"/tasks/{self.kit.task.id}/counts"
        found: dict[str, Any] = self.address.ask("GET", path, role="analyst").json
        return found

    def answer(self, question: dict[str, str]) -> dict[str, Any]:
        path = f"/tasks/{self.kit.task.id}/collection_jobs"
        where = self.address.post(path, {"question": question}, "analyst").headers["location"]
        ask = partial(self.address.ask, "GET", where, role="analyst")
        until(self.page, lambda: ask().status != 202)
        found: dict[str, Any] = ask().json
        return found


@contextmanager
def visit(
    browser: "Browser",
    collector: Process,
    kit: Kit | None = None,
    maps: bool = False,
    **how: Any,
) -> Iterator[Visit]:
    task = kit or collector.add(salted())
    origin = f"http://127.0.0.1:{collector.address.port}"
    asked: list[Request] = []
    how = {"asked": asked, "script": "" if maps else NO_MAPS, **how}
    with seen(browser, f"{origin}/contribute/{task.task.id}", **how) as page:
        yield Visit(page, task, collector, asked)


NEAR = "01234567"
"""How a place is written after two digits: no random id has this in it by chance."""


def timeline(kit: Kit, folder: Path) -> Path:
    """Of two days, between locations of the task, in a file as a phone writes it."""
    lat, lng = kit.locations.lat, kit.locations.lng

    def segment(day: int, hour: int, places: tuple[int, ...]) -> dict[str, Any]:
        at = f"2024-05-{day:02d}T{hour:02d}"
        path = [
            {
                "point": f"{lat[k]:.2f}{NEAR}°, {lng[k]:.2f}{NEAR}°",
                "time": f"{at}:{10 + 7 * n}:00.000+02:00",
            }
            for n, k in enumerate(places)
        ]
        span = {"startTime": f"{at}:00:00.000+02:00", "endTime": f"{at}:59:00.000+02:00"}
        return {**span, "timelinePath": path}

    segments = [segment(6, 8, (1, 2, 3, 4)), segment(6, 17, (4, 1)), segment(7, 8, (5, 6, 7))]
    file = folder / "Timeline.json"
    file.write_text(json.dumps({"semanticSegments": segments}), encoding="utf-8")
    return file


def only_the_report(found: Visit) -> None:
    """Everything asked is public and the same for everybody, but for one report."""
    task = f"/tasks/{found.kit.task.id}"
    book = "zones" if found.kit.task.asks else "atlas"
    served = {f"{task}{each}" for each in ("", "/locations", f"/{book}", "/status")}
    public = {*served, f"/contribute/{found.kit.task.id}"}
    origin = f"http://127.0.0.1:{found.address.port}"
    for each in found.asked:
        path = each.url.removeprefix(origin)
        if each.method == "GET":
            assert path in public or re.fullmatch(r"/assets/[\w.-]+", path), path
            assert each.post_data is None
    (sent,) = found.posted
    assert sent.url == f"{origin}{task}/reports"
    assert sent.all_headers()["content-type"] == UPLOAD_TYPE
    body = json.loads(sent.post_data or "")
    (report,) = body.pop("reports")
    assert body == {}
    assert set(report) == {"report_id", "time", "value"}
    assert report["time"] in (found.day, today())  # midnight may be between
    assert found.kit.code.parse(report["value"])
    assert found.sent_bytes() == len(sent.post_data or "")


@pytest.mark.parametrize(
    ("theme", "screen"), [("light", DESK), ("dark", PHONE)], ids=["light desk", "dark phone"]
)
def test_a_drawn_journey_is_perturbed_uploaded_stored_and_decoded(
    chromium: "Browser", collector: Process, theme: str, screen: Any
) -> None:
    palette = look()[theme]
    with visit(chromium, collector, maps=True, viewport=screen, color_scheme=theme) as found:
        page = found.page
        found.draw_on_map()
        found.press("Use this journey")
        drawn(page)
        assert part(pixels(page), palette["accent"], near=40) == 0
        found.see_preview()
        found.step(4)
        drawn(page)
        image = pixels(page)
        assert part(image, palette["map"]) > 0.5
        assert part(image, INK[theme], near=40) > 0.001
        assert part(image, palette["accent"], near=40) > 0.0001  # one place is a dot
        assert found.posted == []
        found.press("Continue to sending")
        page.locator(".budget").wait_for()
        expect(page.locator("#send")).to_be_disabled()  # until agreed what may be forgotten
        page.get_by_label("I know that this browser").check()
        assert found.sent_bytes() == 0
        assert found.send().startswith("Accepted")
        only_the_report(found)
        stored, answer = found.stored(), found.answer({"ask": "hotspots"})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        body = json.loads(page.locator("#receipt pre").inner_text())
    (number,) = found.kit.code.parse(body["reports"][0]["value"])
    assert (stored["reports"], stored["cells"]) == (1, [[3, number, 1]])
    assert answer["status"] == "done"
    assert answer["answer"]["about"]["reports"] == 1


@pytest.mark.slow
def test_a_journey_of_a_timeline_is_asked_and_only_its_report_leaves(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    with visit(chromium, collector, collector.add(salted("trips"))) as found:
        page = found.page
        page.locator("#file").set_input_files(timeline(found.kit, tmp_path))
        found.step(2)
        days = ["Tuesday, May 7, 2024", "Monday, May 6, 2024"]
        expect(page.locator(".day legend")).to_have_text(days)
        expect(found.button("Continue with")).to_be_disabled()
        page.get_by_label(re.compile(r"08:10\s.\s08:31")).check()
        found.press("Continue with this journey")
        zones = [TRIPS.book.names[TRIPS.book.of[k]] for k in (1, 4)]  # type: ignore[union-attr]
        said = f"It begins in {zones[0]} and ends in {zones[1]}."
        page.get_by_text(said).wait_for()
        found.see_preview()
        found.press("Continue to sending")
        page.get_by_label("I know that this browser").check()
        assert found.send().startswith("Accepted")
        only_the_report(found)
        sent = "".join(f"{each.url} {each.post_data}" for each in found.asked)
        kept = page.evaluate(
            "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])"
        )
        private = rf"2024-05|{NEAR[:6]}|41\.\d|-87\.\d"
        assert not re.search(private, sent + kept)
        assert found.stored()["reports"] == 1
        assert found.answer({"ask": "flows"})["status"] == "done"


def test_the_key_names_only_what_is_on_the_map(chromium: "Browser", collector: Process) -> None:
    places, own = ["public locations"], ["your journey, which stays here"]
    told = ["what a report tells"]
    with visit(chromium, collector, TRIPS) as found:
        key = found.page.locator(".marks li:visible")
        expect(key).to_have_text(places)
        found.draw()
        expect(key).to_have_text([*places, *own, "what is read of it"])
        found.press("Use this journey")
        found.see_preview()
        expect(key).to_have_text([*places, *own, *told])


def test_previews_are_marked_and_none_is_sent(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector) as found:
        found.to_preview()
        values = set()
        for number in range(2, 42):
            found.press("Draw again")
            found.page.get_by_text(f"Of {number} drawn").wait_for()
            expect(found.page.locator(".not-sent")).to_have_text("Preview: not sent")
            body = json.loads(found.page.locator(".preview pre").inner_text())
            assert body["reports"][0]["report_id"] == "?" * 22
            values.add(body["reports"][0]["value"])
        explained = found.page.locator("#explained")
        explained.get_by_text(f"of {found.kit.code.size} public journeys").wait_for()
        assert len(values) > 1
        assert found.posted == []
        assert found.sent_bytes() == 0


@pytest.mark.slow
def test_a_reload_keeps_the_ledger_which_refuses_to_overspend(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, collector.add(dear())) as found:
        for made in (1, 2):
            found.to_sending()
            assert found.send().startswith("Accepted")
            found.page.reload()
            expect(found.page.locator("#receipts tbody tr")).to_have_count(made)
        for hurry in ("", SLOW_LOCKS, AGREES_AT_ONCE):
            found.page.add_init_script(hurry)
            found.page.reload()
            found.to_sending()
            refused = found.page.locator(".panel .trouble")
            refused.get_by_text("at most 20 in its life").wait_for()
            expect(found.page.locator("#send")).to_be_disabled()
            expect(found.page.locator(".budget")).to_contain_text("not enough of 20")
        assert len(found.posted) == 2
    assert collector.address.counters(found.kit, "accepted", 2) == 2


@pytest.mark.slow  # test_device.py looks at two tabs every time
def test_two_tabs_cannot_overspend_together(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector, collector.add(dear())) as found:
        found.to_sending()
        found.send()
        found.page.reload()
        second = Visit(found.page.context.new_page(), found.kit, collector, found.asked)
        second.page.goto(found.page.url)
        for each in (found, second):  # both see that one more can be paid for
            each.to_sending()
            expect(each.page.locator("#send")).to_be_enabled()
        for each in (found, second):
            each.page.evaluate("document.querySelector('#send').click()")
        words = []
        for each in (found, second):
            each.page.locator("#receipt, .panel .trouble:not(:empty)").first.wait_for()
            words.append(each.page.locator(".panel").inner_text())
    assert sum("Accepted" in each for each in words) == 1
    assert sum("at most 20 in its life" in each for each in words) == 1
    assert collector.address.counters(found.kit, "accepted", 2) == 2


@pytest.mark.slow
def test_a_collector_that_is_away_gets_the_same_bytes_again(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, expected=None) as found:
        found.to_sending()
        found.page.route("**/reports", lambda route: route.abort(), times=1)
        assert found.send().startswith("Accepted")
        first, second = (each.post_data for each in found.posted)
        assert first == second
        assert found.sent_bytes() == 2 * len(first or "")
    assert collector.address.counters(found.kit, "accepted") == 1


@pytest.mark.slow
def test_a_report_waits_for_a_collector_that_stays_away(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, expected=None) as found:
        found.to_sending()
        found.page.route("**/reports", lambda route: route.abort())
        assert found.send().startswith(
            "Waits, since the collector did not take it yet: it cannot be reached ("
        )
        found.page.reload()
        found.page.unroute("**/reports")
        found.press("Send the same bytes again")
        found.page.get_by_text("Accepted: the collector has it on disk").wait_for()
        assert len({each.post_data for each in found.posted}) == 1
    assert collector.address.counters(found.kit, "accepted") == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unknown.json", "must be GeoJSON, a Google Timeline"),
        ("activity.fit", "is a FIT file"),
        ("cut-short.json", "is cut short or damaged"),
        ("page.json", "is a web page"),
    ],
)
def test_a_file_that_is_no_export_is_refused_and_not_quoted(
    chromium: "Browser", collector: Process, name: str, words: str
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        found.page.locator("#file").set_input_files(IMPORTS / name)
        said = found.page.locator(".card .trouble")
        said.get_by_text(words).wait_for()
        assert not re.search(r"\d", said.inner_text())
        found.step(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kit", "words"), [(OVER, "This task ended on"), (LATER, "This task begins on")]
)
def test_outside_its_time_a_task_is_shown_and_nothing_can_be_sent(
    chromium: "Browser", collector: Process, kit: Kit, words: str
) -> None:
    with visit(chromium, collector, kit) as found:
        expect(found.page.locator("#trouble")).to_contain_text(words)
        found.to_sending()
        found.page.locator(".panel .trouble").get_by_text(words).wait_for()
        expect(found.page.locator("#send")).to_be_disabled()
        assert found.posted == []


def close(found: Visit) -> None:
    path = f"/operator/tasks/{found.kit.task.id}/close"
    assert found.address.ask("POST", path, role="operator").status == 200


def spent(found: Visit) -> str:
    """In all tasks, as the page of one that is open says it."""
    found.to_sending()
    return found.page.locator(".budget dd").nth(1).inner_text()


def test_of_a_closed_task_no_step_is_offered(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector) as found:
        found.to_sending()
        assert found.send().startswith("Accepted")
        close(found)
        found.page.reload()
        found.page.get_by_role("heading", name="This task is closed").wait_for()
        found.page.get_by_text("nothing can be contributed").wait_for()
        expect(found.page.locator("#receipts tbody tr")).to_have_count(1)
        assert found.page.locator(".steps, #send, #file").count() == 0
        assert len(found.posted) == 1
        found.page.goto(found.page.url.replace(found.kit.task.id, TRIPS.task.id))
        assert spent(found) == "ε = 4"


def test_a_task_that_closes_meanwhile_refuses_before_anything_is_spent(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector) as found:
        found.to_sending()
        expect(found.page.locator("#send")).to_be_enabled()
        close(found)
        found.page.locator("#send").click()
        said = found.page.locator(".panel .trouble")
        said.get_by_text("this one was closed").wait_for()
        expect(said).to_be_focused()
        expect(found.page.locator("#send")).to_be_disabled()
        assert found.posted == []
        found.page.goto(found.page.url.replace(found.kit.task.id, TRIPS.task.id))
        assert spent(found) == "ε = 0"


TOLD = "what a report tells"
AGAIN = "Send the same bytes again"


def test_a_report_is_shown_only_after_a_collector_accepted_it(
    chromium: "Browser", collector: Process
) -> None:
    """Its owner could withhold one that looks too accurate."""
    with visit(chromium, collector, collector.add(salted("trips")), expected=None) as found:
        found.page.route("**/reports", lambda route: route.fulfill(status=413))
        found.to_sending()
        assert found.send().startswith("The collector refused it")
        receipt, key = found.page.locator("#receipt"), found.page.locator(".marks li:visible")
        expect(receipt).to_contain_text("is shown here once the collector has it")
        with found.page.expect_download() as saved:
            found.press("Save the receipt")
        assert "value" not in Path(saved.value.path()).read_text()
        assert receipt.locator("pre").count() == 0
        assert TOLD not in key.all_inner_texts()
        found.page.unroute("**/reports")
        found.page.locator(".panel").get_by_role("button", name=AGAIN).click()
        sent = found.page.locator("#receipt pre")
        sent.wait_for()
        assert sent.inner_text() == found.posted[-1].post_data
        expect(key.last).to_have_text(TOLD)


def test_a_report_keeps_to_its_random_moment(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector, collector.add(salted(send_within=7 * 86_400))) as found:
        found.to_sending()
        assert found.send().startswith("Waits for its random moment")
        assert found.page.locator("#receipt pre").count() == 0
        for _ in range(2):
            expect(found.page.locator("#receipts tbody tr")).to_have_count(1)
            assert found.page.get_by_role("button", name=AGAIN).count() == 0
            found.page.reload()
        assert found.posted == []


def test_a_report_is_sent_at_its_random_moment_and_the_receipt_says_so(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, collector.add(salted(send_within=4))) as found:
        found.to_sending()
        found.send()
        expect(found.page.locator("#receipt dd").last).to_contain_text("Accepted")
        expect(found.page.locator("#receipts tbody tr")).to_contain_text("Accepted")
        found.page.locator("#receipt pre").wait_for()
        assert len(found.posted) == 1


def test_a_report_that_was_due_while_the_page_was_closed_is_sent_when_it_opens(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, collector.add(salted(send_within=4))) as found:
        address = found.page.url
        found.to_sending()
        found.send()
        found.page.goto("about:blank")
        found.page.wait_for_timeout(4000)
        found.page.goto(address)
        expect(found.page.locator("#receipts tbody tr")).to_contain_text("Accepted")
        assert len(found.posted) == 1


@pytest.mark.parametrize("mechanism", ["atlas", "trips"])
def test_the_preview_says_what_the_law_says(
    chromium: "Browser", collector: Process, mechanism: str
) -> None:
    kit = collector.add(salted(mechanism))
    path = f"/tasks/{kit.task.id}/promise"
    grown = collector.address.ask("GET", path).json["suspicions"]["1"]
    with visit(chromium, collector, kit) as found:
        found.to_preview()
        said = found.page.locator("p[role=status].soft", has_text="drawn").inner_text()
        likely = chance(kit)
        assert f"about {round(100 * likely)} in 100 reports like this" in said
        assert f"1 % sure of a guess about your journey can become at most {grown} %" in said
        assert ("nobody can tell" in said) == (mechanism == "trips" and likely <= 1 / 2)
        assert ("is right that often" in said) == ("nobody can tell" not in said)


def test_the_preview_of_what_is_nearly_sure_or_tells_nothing_says_so(
    chromium: "Browser", collector: Process
) -> None:
    nearly = salted("starts", epsilon=Fraction(10))
    places, end = scattered(40), date.today() + timedelta(days=9)
    alone = create_task(
        places, "starts", epsilon="4", zones="grid:1", end=end, purpose="One zone."
    )
    collector.add(alone)
    collector.add(nearly)
    assert 0.995 < chance(nearly) < chance(alone) == 1
    for kit, law, misleading in (
        (nearly, "more than 99 in 100 reports like this", "about"),
        (alone, "every report like this contains the true answer", "right that often"),
    ):
        with visit(chromium, collector, kit) as found:
            found.to_preview()
            said = found.page.locator("p[role=status].soft", has_text="drawn").inner_text()
            law_said = said.partition("By the law")[2].partition("Someone")[0]
            assert law in law_said
            assert misleading not in law_said


def chance(kit: Kit) -> float:
    """That a report is near to the truth, or has it."""
    if kit.task.asks:
        return float(kit.mechanism.channel.true_chance)  # type: ignore[attr-defined]
    law: Any = kit.mechanism.report_law(kit.report_length).channel  # type: ignore[union-attr]
    heavy = law.near_count * law.bound
    return float(heavy / (heavy + law.size - law.near_count))


def test_an_archive_that_unpacks_to_far_too_much_is_refused(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    (tmp_path / "own").write_bytes(gzip.compress(b"lat,lng\n" + b"41.8,-87.6\n" * 20_000_000))
    with visit(chromium, collector, TRIPS) as found:
        found.page.locator("#file").set_input_files(tmp_path / "own")
        found.page.locator(".card .trouble").get_by_text("unpacks to more than").wait_for()


def test_the_page_says_whose_budget_it_is(chromium: "Browser", collector: Process) -> None:
    """One browser has another one at every collector."""
    with visit(chromium, collector, TRIPS) as found:
        found.to_sending()
        said = found.page.locator("#main").inner_text()
        assert "for all tasks of this collector" in said
        assert "whole life" not in said


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_the_one_journey_of_a_file_is_chosen(
    chromium: "Browser", collector: Process, tmp_path: Path, packed: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "own").write_bytes(packed(b"lat,lng\n41.8,-87.6\n41.9,-87.7\n"))
    with visit(chromium, collector, TRIPS) as found:
        found.page.locator("#file").set_input_files(tmp_path / "own")
        expect(found.page.locator(".journey input")).to_be_checked()
        found.press("Continue with this journey")
        found.step(3)


def test_a_report_that_waits_for_a_random_moment_asks_nobody_when_it_is_made(
    chromium: "Browser", collector: Process
) -> None:
    """Whoever asked then would tell the collector when."""
    with visit(chromium, collector, collector.add(salted(send_within=3600))) as found:
        found.to_sending()
        expect(found.page.locator("#send")).to_be_enabled()
        before = len(found.asked)
        assert found.send().startswith("Waits for its random moment")
        found.page.wait_for_timeout(200)
        assert [one.url for one in found.asked[before:]] == []


@pytest.mark.parametrize("how", ["old", "away", "odd"])
def test_a_collector_that_cannot_say_whether_it_is_closed_gets_reports(
    chromium: "Browser", collector: Process, how: str
) -> None:
    def answer(route: "Route") -> None:
        if how == "away":
            route.abort()
        else:
            route.fulfill(status=404 if how == "old" else 200, body="[]")

    with visit(chromium, collector, expected=None) as found:
        found.page.route("**/status", answer)
        found.page.reload()
        found.to_sending()
        assert found.send().startswith("Accepted")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "This collector has no such task (404). Follow the link"),
        (503, "The collector is busy, or out of order for a while (503). Try again"),
        (403, "The collector did not take what this page asked (403). Load the page again"),
        (0, "The collector cannot be reached. Look whether you are online"),
    ],
)
def test_a_task_that_cannot_be_fetched_is_told_in_words(
    chromium: "Browser", collector: Process, status: int, words: str
) -> None:
    with visit(chromium, collector, TRIPS, expected=None) as found:
        found.page.route(
            f"**/tasks/{TRIPS.task.id}",
            lambda route: route.fulfill(status=status) if status else route.abort(),
        )
        found.page.reload()
        found.page.get_by_role("heading", name="The task could not be fetched").wait_for()
        expect(found.page.locator("#main")).to_contain_text(words)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ("unrecognized_task", "it no longer has this task"),
        ("teapot", "it does not take it as it is"),
    ],
)
def test_why_a_report_was_refused_is_told_in_words(
    chromium: "Browser", collector: Process, problem: str, words: str
) -> None:
    kind = f"urn:nomadp:error:{problem}"
    body = json.dumps({"type": kind})
    with visit(chromium, collector, expected=None) as found:
        found.to_sending()
        found.page.route("**/reports", lambda route: route.fulfill(status=404, body=body))
        said = f"The collector refused it: {words} ({kind}). It is paid all the same."
        assert found.send() == said


def test_without_a_durable_ledger_nothing_is_sent(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector) as found:
        found.page.add_init_script(NO_LOCKS)
        found.page.reload()
        found.to_sending()
        found.page.locator("#send").click()
        said = found.page.locator(".panel .trouble")
        said.get_by_text("needs IndexedDB and Web Locks").wait_for()
        assert found.posted == []


def test_another_task_under_its_address_is_refused(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        other = ATLAS.task.content
        found.page.route(f"**/tasks/{TRIPS.task.id}", lambda route: route.fulfill(body=other))
        found.page.reload()
        found.page.get_by_role("heading", name="Do not take part in this").wait_for()
        assert found.page.locator(".steps").count() == 0


@pytest.mark.parametrize("kit", [ATLAS, TRIPS, WEEKDAYS], ids=["atlas", "trips", "weekdays"])
def test_the_browser_derives_the_promise_that_the_collector_states(
    chromium: "Browser", collector: Process, kit: Kit
) -> None:
    said = collector.address.ask("GET", f"/tasks/{kit.task.id}/promise").json
    with visit(chromium, collector, kit) as found:
        shown = found.page.locator("#guarantee").inner_text()
    capital = [each[0].upper() + each[1:] for each in (said["guaranteed"], said["adds_up"])]
    seen_by = [each[0].upper() + each[1:] for each in (*said["not_covered"], *said["seen"])]
    grown = [f"{after} %" for after in said["suspicions"].values()]
    for words in (*capital, *seen_by, *grown, said["asks"], f"{said['times_at_most']} : 1"):
        assert words in shown
    assert not found.asked or all("/promise" not in each.url for each in found.asked)


def test_the_task_is_recomputed_and_can_be_checked_elsewhere(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        said = found.page.locator("#check").inner_text()
        task = found.kit.task
        for each in (task.id, task.locations_sha256, task.book_sha256):
            assert each in said
        address = f"http://127.0.0.1:{collector.address.port}/tasks/{task.id}"
        assert f"nomadp task verify {address}" in said


@pytest.mark.slow
def test_a_journey_is_drawn_and_sent_by_keys_alone(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, WEEKDAYS, maps=True) as found:
        page = found.page
        drawn(page)
        found.button("Draw a journey").press("Enter")
        expect(page.locator("#place")).to_be_focused()
        page.keyboard.type("p1")
        page.get_by_role("button", name="Add p1", exact=True).press("Enter")
        page.locator(".map canvas").press("ArrowRight")
        page.locator(".map canvas").press("Enter")
        expect(page.locator(".points li")).to_have_count(2)
        found.button("Use this journey").press("Enter")
        expect(page.get_by_role("heading", name=re.compile(r"^3\."))).to_be_focused()
        expect(found.button("See what")).to_be_disabled()
        page.get_by_label("Weekday").select_option("Tuesday")
        page.get_by_label("Hour").select_option(index=10)
        page.get_by_text("The task also asks when it began: Tue").wait_for()
        found.button("See what").press("Enter")
        found.button("Continue to sending").press("Enter")
        page.get_by_label("I know that this browser").press("Space")
        expect(page.locator("#send")).to_be_enabled()  # a key waits for nothing
        page.locator("#send").press("Enter")
        page.get_by_text("Accepted: the collector has it on disk").first.wait_for()


def test_keys_stay_where_a_list_changes(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector, TRIPS) as found:
        page = found.page
        found.draw()
        last = page.get_by_role("button", name="Add p3", exact=True)
        last.press("Enter")
        expect(page.locator(".points li")).to_have_count(4)
        expect(last).to_be_focused()
        found.button("Delete point 2").press("Enter")
        expect(page.locator(".points li")).to_have_count(3)
        expect(found.button("Delete point 2")).to_be_focused()
        found.button("Clear").press("Enter")
        expect(page.locator("#place")).to_be_focused()


def test_an_hour_is_chosen_by_keys_and_can_be_chosen_again(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, WEEKDAYS) as found:
        page = found.page
        found.draw()
        found.press("Use this journey")
        for name in ("Weekday", "Hour"):
            page.get_by_label(name).press("ArrowDown")
            page.get_by_label(name).press("ArrowDown")  # the second of them, not the first
        expect(page.locator("#hour")).to_be_focused()
        page.get_by_text("The task also asks when it began: Tue").wait_for()
        expect(page.get_by_label("Hour")).to_have_value(re.compile("^1:00 "))
        page.get_by_label("Weekday").press("ArrowDown")
        page.get_by_text("The task also asks when it began: Wed").wait_for()
        found.press("See what would be sent")
        found.press("3 What is read of it")
        expect(page.get_by_label("Weekday")).to_have_value("Wednesday")


def test_journeys_are_split_at_gaps_and_deleted(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        page = found.page
        page.locator("#file").set_input_files(timeline(TRIPS, tmp_path))
        expect(page.locator(".journey")).to_have_count(3)
        page.get_by_label("New journey after a gap of").fill("12")
        page.keyboard.press("Tab")
        page.get_by_text("2 journeys found").wait_for()
        expect(page.locator(".journey input").first).to_be_focused()  # made anew meanwhile
        found.press("Delete Tuesday, May 7, 2024")
        page.get_by_text("1 journey left").wait_for()
        expect(page.locator(".journey input")).to_be_focused()
        page.get_by_label("New journey after a gap of").fill("3")
        page.keyboard.press("Tab")
        page.get_by_text("2 journeys found").wait_for()  # what is deleted stays so
        expect(page.locator(".day legend")).to_have_text(["Monday, May 6, 2024"])


def test_the_map_stays_on_the_area_and_says_what_of_a_journey_is_outside(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    lat, lng = TRIPS.locations.lat, TRIPS.locations.lng
    here = [f"{lat[k]},{lng[k]}" for k in range(2)]
    away = [f"{lat[k] - 30},{lng[k]}" for k in range(2)]
    part_of = (
        "1 of the 3 points of your journey lies outside this map, far from the task's area."
    )
    all_of = "Your journey is outside this map: far from the task's area."
    with visit(chromium, collector, TRIPS, maps=True) as found:
        scale = found.page.locator(".maplibregl-ctrl-scale")
        drawn(found.page)
        whole = scale.inner_text()
        for rows, words in (([*here, away[0]], part_of), (away, all_of), (here, "")):
            (tmp_path / "own.csv").write_text("\n".join(["lat,lng", *rows]))
            found.page.locator("#file").set_input_files(tmp_path / "own.csv")
            found.page.locator(".journey input").check()
            expect(found.button("Continue with")).to_be_enabled()
            expect(found.page.locator(".outside")).to_have_text(words)
            expect(found.page.locator(".mark-track")).to_be_visible(visible=words != all_of)
            drawn(found.page)
            assert (scale.inner_text() == whole) == bool(words)
            found.press("1 Choose a journey")


def test_nobody_goes_on_with_the_journey_chosen_before(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    """Another one that was chosen is on its way: meanwhile there is none."""
    with visit(chromium, collector, TRIPS) as found:
        found.page.locator("#file").set_input_files(timeline(TRIPS, tmp_path))
        found.page.locator(".journey input").nth(1).check()
        expect(found.button("Continue with")).to_be_enabled()
        stopped = """(radio) => {
          radio.click();
          return document.querySelector(".panel button.main").disabled;
        }"""
        assert found.page.locator(".journey input").nth(2).evaluate(stopped)
        expect(found.button("Continue with")).to_be_enabled()


def test_a_preview_that_nobody_waits_for_is_on_no_map(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        found.draw()
        found.press("Use this journey")
        found.page.evaluate(
            """() => {
              const press = () => document.querySelector(".panel button.main").click();
              press();
              press(); // to sending, before anything is drawn
            }"""
        )
        found.page.locator(".budget").wait_for()
        own = ["public locations", "your journey, which stays here"]
        expect(found.page.locator(".marks li:visible")).to_have_text(own)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("theme", "screen"), [("light", DESK), ("dark", PHONE)], ids=["light desk", "dark phone"]
)
def test_every_step_can_be_used_by_everybody(
    chromium: "Browser", collector: Process, theme: str, screen: Any
) -> None:
    with visit(chromium, collector, maps=True, viewport=screen, color_scheme=theme) as found:
        page = found.page
        found.draw_on_map()

        def look_at(number: int) -> None:
            found.step(number)
            drawn(page)
            assert serious(page) == []
            assert too_small(page) == []
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

        look_at(1)
        found.press("Use this journey")
        look_at(3)
        found.press("2 Days and journeys")
        look_at(2)
        found.press("4 What would be sent")
        page.locator(".preview .says").wait_for()
        look_at(4)
        found.press("Continue to sending")
        page.get_by_label("I know that this browser").check()
        found.send()
        look_at(5)


def test_the_first_view_takes_less_than_two_seconds_of_a_core(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        session = measured(found.page)
        found.page.reload()
        found.step(1)
        assert 0 < main_thread_s(session) < on_this_machine(2)


@pytest.mark.slow
def test_a_timeline_of_45_megabytes_is_read_in_the_page(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    file, count = tmp_path / "Timeline.json", 53_000

    def segment(k: int) -> str:
        day, minute = divmod(k, 24 * 60)
        at = f"2024-{1 + day // 28:02d}-{1 + day % 28:02d}T{minute // 60:02d}:{minute % 60:02d}"
        path = [
            {"point": f"{41 + k % 50 / 100}°, {-87 - j / 100}°", "time": f"{at}:{j:02d}.000Z"}
            for j in range(4)
        ]
        span = {"startTime": f"{at}:00.000Z", "endTime": f"{at}:59.000Z"}
        return json.dumps({**span, "timelinePath": path, "padding": "x" * 500})

    with file.open("w", encoding="utf-8") as out:
        out.write('{"semanticSegments":[')
        out.writelines(f"{',' if k else ''}{segment(k)}" for k in range(count))
        out.write("]}")
    assert file.stat().st_size > 45e6
    with visit(chromium, collector, TRIPS) as found:
        page = found.page
        page.set_default_timeout(4 * PATIENCE_MS)
        page.locator("#file").set_input_files(file)
        found.step(2)
        expect(page.locator(".panel")).to_contain_text("found")
        page.locator(".journey input").first.check()
        found.press("Continue with this journey")
        found.step(3)
