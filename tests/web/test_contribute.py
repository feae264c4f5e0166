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
    without_numbers,
)
from collecting import Process, bundle_of, new_bundle, prepared, today
from limits import on_this_machine
from worlds import scattered

from nomadp.collector.connections import open_store
from nomadp.protocol import TaskBundle
from nomadp.protocol.create import create_task
from nomadp.protocol.upload import UPLOAD_TYPE
from nomadp.theme import theme

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
MARKS = "(shown) => shown.map(({ dataset }) => dataset.mark)"
AGREES_AT_ONCE = """new MutationObserver(() => {
  document.querySelector("#accept:not(:checked)")?.click();
}).observe(document, { childList: true, subtree: true })"""


def salted(mechanism: str = "atlas", **said: Any) -> TaskBundle:
    """A task of its own for each test."""
    number = next(NUMBERS).to_bytes(16, "big")
    salt = base64.urlsafe_b64encode(number).decode().rstrip("=")
    return bundle_of(mechanism, salt, reports_per_contributor=10, min_batch_size=1, **said)


def dear() -> TaskBundle:
    """One of which a browser can pay for two reports, and for no third."""
    return salted("trips", epsilon=Fraction(9))


ATLAS = bundle_of(min_batch_size=1)
TRIPS = bundle_of("trips", min_batch_size=1)
WEEKDAYS = new_bundle(today(), "visits", params={"zones": "grid:3", "when": "weekday"})
OVER = bundle_of(salt="AQEBAQEBAQEBAQEBAQEBAQ", start=today() - 9, end=today() - 1)
LATER = bundle_of(salt="AQEBAQEBAQEBAQEBAQEBAg", start=today() + 2, end=today() + 9)


@pytest.fixture(scope="module")
def collector(
    web: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Process]:
    web("build")
    folder = tmp_path_factory.mktemp("collector")
    store = str(folder / "collector.sqlite")
    prepared(open_store(store), ATLAS, TRIPS, WEEKDAYS, OVER, LATER)
    with Process(store, folder) as process:
        yield process


class Visit:
    """A browser with a fresh profile at the page of a task."""

    def __init__(
        self, page: "Page", bundle: TaskBundle, collector: Process, asked: list["Request"]
    ) -> None:
        self.page, self.bundle, self.asked, self.day = page, bundle, asked, today()
        self.address = collector.address

    @property
    def posted(self) -> list["Request"]:
        return [each for each in self.asked if each.method != "GET"]

    def step(self, number: int) -> None:
        self.page.locator(f"[data-step='{number}']").wait_for()

    def go(self, number: int) -> None:
        """To a step, by its number at the top."""
        self.page.locator(f"[data-go='{number}']").click()

    def button(self, action: str) -> "Locator":
        return self.page.locator(f"button[data-action={action}]")

    def press(self, action: str) -> None:
        self.button(action).click()

    def adding(self, name: str) -> "Locator":
        return self.page.locator(f"[data-action=add-point][data-location={name}]")

    def draw(self) -> None:
        """Three locations, from the list."""
        self.press("draw")
        for name in ("p1", "p2", "p3"):
            self.page.locator("#place").fill(name)
            self.adding(name).click()

    def draw_on_map(self) -> None:
        drawn(self.page)
        self.press("draw")
        canvas = self.page.locator(".map canvas")
        box = canvas.bounding_box()
        assert box is not None
        for x, y in ((0.3, 0.3), (0.45, 0.6), (0.6, 0.7)):
            canvas.click(position={"x": box["width"] * x, "y": box["height"] * y})
        expect(self.page.locator(".points li")).to_have_count(3)

    def to_preview(self) -> None:
        self.draw()
        self.press("use-drawn")
        self.see_preview()

    def see_preview(self) -> None:
        self.press("preview")
        self.page.locator(".preview .says").wait_for()  # it is drawn after the step is shown

    def to_sending(self) -> None:
        self.to_preview()
        self.press("to-sending")
        self.page.locator("#accept").check()

    def send(self) -> str:
        """Returns what became of it: its state, and why where there is a reason."""
        self.page.locator("#send").click()  # once it can be pressed
        receipt = self.page.locator("#receipt")
        receipt.wait_for()
        told = receipt.get_attribute("data-state"), receipt.get_attribute("data-reason")
        return ": ".join(each for each in told if each)

    def refused(self, code: str, where: str = ".panel .trouble") -> "Locator":
        """The alert that says why, once it does."""
        found = self.page.locator(where)
        expect(found).to_have_attribute("data-code", code)
        expect(found).not_to_be_empty()
        return found

    def receipts(self, *states: str) -> None:
        """The table of all that was reported has these, in this order."""
        rows = self.page.locator("#receipts tbody [data-state]")
        expect(rows).to_have_count(len(states))
        for k, state in enumerate(states):
            expect(rows.nth(k)).to_have_attribute("data-state", state)

    def fact(self, name: str) -> "Locator":
        """Of the budget."""
        return self.page.locator(f".budget [data-fact={name}]")

    def sent_bytes(self) -> int:
        return int(self.page.locator("#sent b").inner_text().replace(",", ""))

    def stored(self) -> dict[str, Any]:
        path = f"/tasks/{self.bundle.task.id}/counts"
        found: dict[str, Any] = self.address.ask("GET", path, role="analyst").json
        return found

    def answer(self, question: dict[str, str]) -> dict[str, Any]:
        path = f"/tasks/{self.bundle.task.id}/collection_jobs"
        where = self.address.post(path, {"query": question}, "analyst").headers["location"]
        ask = partial(self.address.ask, "GET", where, role="analyst")
        until(self.page, lambda: ask().status != 202)
        found: dict[str, Any] = ask().json
        return found


@contextmanager
def visit(
    browser: "Browser",
    collector: Process,
    bundle: TaskBundle | None = None,
    maps: bool = False,
    **how: Any,
) -> Iterator[Visit]:
    task = bundle or collector.add(salted())
    origin = f"http://127.0.0.1:{collector.address.port}"
    asked: list[Request] = []
    how = {"asked": asked, "script": "" if maps else NO_MAPS, **how}
    with seen(browser, f"{origin}/contribute/{task.task.id}", **how) as page:
        yield Visit(page, task, collector, asked)


NEAR = "01234567"
"""How a place is written after two digits: no random id has this in it by chance."""


def timeline(bundle: TaskBundle, folder: Path) -> Path:
    """Of two days, between locations of the task, in a file as a phone writes it."""
    lat, lng = bundle.locations.lat, bundle.locations.lng

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
    task = f"/tasks/{found.bundle.task.id}"
    book = "zones" if found.bundle.task.is_oracle else "atlas"
    served = {f"{task}{each}" for each in ("", "/locations", f"/{book}", "/status")}
    public = {*served, f"/contribute/{found.bundle.task.id}"}
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
    assert found.bundle.code.parse(report["value"])
    assert found.sent_bytes() == len(sent.post_data or "")


@pytest.mark.parametrize(
    ("mode", "screen"), [("light", DESK), ("dark", PHONE)], ids=["light desk", "dark phone"]
)
def test_a_drawn_journey_is_perturbed_uploaded_stored_and_decoded(
    chromium: "Browser", collector: Process, mode: str, screen: Any
) -> None:
    palette = theme()[mode]
    with visit(chromium, collector, maps=True, viewport=screen, color_scheme=mode) as found:
        page = found.page
        found.draw_on_map()
        found.press("use-drawn")
        drawn(page)
        assert part(pixels(page), palette["accent"], near=40) == 0
        found.see_preview()
        found.step(4)
        drawn(page)
        image = pixels(page)
        assert part(image, palette["map"]) > 0.5
        assert part(image, INK[mode], near=40) > 0.001
        assert part(image, palette["accent"], near=40) > 0.0001  # one place is a dot
        assert found.posted == []
        found.press("to-sending")
        page.locator(".budget").wait_for()
        expect(page.locator("#send")).to_be_disabled()  # until agreed what may be forgotten
        page.locator("#accept").check()
        assert found.sent_bytes() == 0
        assert found.send() == "accepted"
        only_the_report(found)
        stored, answer = found.stored(), found.answer({"kind": "hotspots"})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        body = json.loads(page.locator("#receipt pre").inner_text())
    (number,) = found.bundle.code.parse(body["reports"][0]["value"])
    assert (stored["reports"], stored["cells"]) == (1, [[3, number, 1]])
    assert answer["status"] == "done"
    assert answer["answer"]["about"]["reports"] == 1


@pytest.mark.slow
def test_a_journey_of_a_timeline_is_asked_and_only_its_report_leaves(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    with visit(chromium, collector, collector.add(salted("trips"))) as found:
        page = found.page
        page.locator("#file").set_input_files(timeline(found.bundle, tmp_path))
        found.step(2)
        days = page.locator(".day")
        expect(days).to_have_count(2)
        expect(days.first).to_have_attribute("data-day", "2024-05-07")  # the newest first
        expect(days.last).to_have_attribute("data-day", "2024-05-06")
        expect(found.button("use-journey")).to_be_disabled()
        page.locator("[data-day='2024-05-06'] [data-begins='08:10'] input").check()
        found.press("use-journey")
        zones = [TRIPS.domain.names[TRIPS.domain.of[k]] for k in (1, 4)]  # type: ignore[union-attr]
        for zone in zones:
            expect(page.locator(".panel .answer")).to_contain_text(zone)
        found.see_preview()
        found.press("to-sending")
        page.locator("#accept").check()
        assert found.send() == "accepted"
        only_the_report(found)
        sent = "".join(f"{each.url} {each.post_data}" for each in found.asked)
        kept = page.evaluate(
            "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])"
        )
        private = rf"2024-05|{NEAR[:6]}|41\.\d|-87\.\d"
        assert not re.search(private, sent + kept)
        assert found.stored()["reports"] == 1
        assert found.answer({"kind": "flows"})["status"] == "done"


def test_the_key_names_only_what_is_on_the_map(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector, TRIPS) as found:
        expect_marks(found, "place")
        found.draw()
        expect_marks(found, "place", "track", "snapped")
        found.press("use-drawn")
        found.see_preview()
        expect_marks(found, "place", "track", "report")


def expect_marks(found: Visit, *marks: str) -> None:
    """The key of the map explains these and no others."""
    shown = found.page.locator(".marks li:visible")
    until(found.page, lambda: shown.evaluate_all(MARKS) == list(marks))


def test_previews_are_marked_and_none_is_sent(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector) as found:
        found.to_preview()
        values = set()
        for number in range(2, 42):
            found.press("draw-again")
            found.page.locator(f"[data-drawn='{number}']").wait_for()
            expect(found.page.locator(".not-sent")).to_be_visible()
            body = json.loads(found.page.locator(".preview pre").inner_text())
            assert body["reports"][0]["report_id"] == "?" * 22
            values.add(body["reports"][0]["value"])
        explained = found.page.locator("#explained")
        expect(explained).to_have_attribute("data-of", str(found.bundle.code.size))
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
            assert found.send() == "accepted"
            found.page.reload()
            found.receipts(*["accepted"] * made)
        for hurry in ("", SLOW_LOCKS, AGREES_AT_ONCE):
            found.page.add_init_script(hurry)
            found.page.reload()
            found.to_sending()
            found.refused("budget_exhausted")
            expect(found.page.locator("#send")).to_be_disabled()
            expect(found.fact("used")).to_have_attribute("data-value", "18")
            expect(found.fact("remaining")).to_have_attribute("data-value", "-7")
        assert len(found.posted) == 2
    assert collector.address.counters(found.bundle, "accepted", 2) == 2


@pytest.mark.slow  # test_device.py looks at two tabs every time
def test_two_tabs_cannot_overspend_together(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector, collector.add(dear())) as found:
        found.to_sending()
        found.send()
        found.page.reload()
        second = Visit(found.page.context.new_page(), found.bundle, collector, found.asked)
        second.page.goto(found.page.url)
        for each in (found, second):  # both see that one more can be paid for
            each.to_sending()
            expect(each.page.locator("#send")).to_be_enabled()
        for each in (found, second):
            each.page.evaluate("document.querySelector('#send').click()")
        made, refused = (
            [each.page.locator(part).count() for each in (found, second) if settled(each)]
            for part in ("#receipt[data-state=accepted]", "[data-code=budget_exhausted]")
        )
    assert (sum(made), sum(refused)) == (1, 1)
    assert collector.address.counters(found.bundle, "accepted", 2) == 2


def settled(found: Visit) -> bool:
    found.page.locator("#receipt, .panel .trouble:not(:empty)").first.wait_for()
    return True


@pytest.mark.slow
def test_a_collector_that_is_away_gets_the_same_bytes_again(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, expected=None) as found:
        found.to_sending()
        found.page.route("**/reports", lambda route: route.abort(), times=1)
        assert found.send() == "accepted"
        first, second = (each.post_data for each in found.posted)
        assert first == second
        assert found.sent_bytes() == 2 * len(first or "")
    assert collector.address.counters(found.bundle, "accepted") == 1


@pytest.mark.slow
def test_a_report_waits_for_a_collector_that_stays_away(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, expected=None) as found:
        found.to_sending()
        found.page.route("**/reports", lambda route: route.abort())
        assert found.send() == "waiting: unreachable (TypeError)"
        found.page.reload()
        found.page.unroute("**/reports")
        found.press("send-again")
        found.receipts("accepted")
        assert len({each.post_data for each in found.posted}) == 1
    assert collector.address.counters(found.bundle, "accepted") == 1


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("unknown.json", "unknown_json"),
        ("activity.fit", "fit"),
        ("cut-short.json", "not_json"),
        ("page.json", "web_page"),
    ],
)
def test_a_file_that_is_no_export_is_refused_and_not_quoted(
    chromium: "Browser",
    collector: Process,
    wording: Callable[..., None],
    name: str,
    code: str,
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        found.page.locator("#file").set_input_files(IMPORTS / name)
        said = found.refused(code, ".card .trouble")
        assert not re.search(r"\d", said.inner_text())
        wording("contributors", f"file refused, {code}", said.inner_text())
        found.step(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bundle", "code"), [(OVER, "task_expired"), (LATER, "task_not_started")]
)
def test_outside_its_time_a_task_is_shown_and_nothing_can_be_sent(
    chromium: "Browser", collector: Process, bundle: TaskBundle, code: str
) -> None:
    with visit(chromium, collector, bundle) as found:
        found.refused(code, "#trouble")
        found.to_sending()
        found.refused(code)
        expect(found.page.locator("#send")).to_be_disabled()
        assert found.posted == []


def close(found: Visit) -> None:
    path = f"/operator/tasks/{found.bundle.task.id}/close"
    assert found.address.ask("POST", path, role="operator").status == 200


def spent(found: Visit) -> str | None:
    """In all tasks, as the page of one that is open says it."""
    found.to_sending()
    return found.fact("used").get_attribute("data-value")


def test_of_a_closed_task_no_step_is_offered(
    chromium: "Browser", collector: Process, wording: Callable[..., None]
) -> None:
    with visit(chromium, collector) as found:
        found.to_sending()
        assert found.send() == "accepted"
        close(found)
        found.page.reload()
        main = found.page.locator("#main[data-state=closed]")
        main.wait_for()
        found.receipts("accepted")
        said = main.locator(":scope > h1, :scope > p.lead").all_inner_texts()
        wording("contributors", "closed", "\n".join(said))
        assert found.page.locator(".steps, #send, #file").count() == 0
        assert len(found.posted) == 1
        found.page.goto(found.page.url.replace(found.bundle.task.id, TRIPS.task.id))
        assert spent(found) == "4"


def test_a_task_that_closes_meanwhile_refuses_before_anything_is_spent(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector) as found:
        found.to_sending()
        expect(found.page.locator("#send")).to_be_enabled()
        close(found)
        found.page.locator("#send").click()
        expect(found.refused("task_closed")).to_be_focused()
        expect(found.page.locator("#send")).to_be_disabled()
        assert found.posted == []
        found.page.goto(found.page.url.replace(found.bundle.task.id, TRIPS.task.id))
        assert spent(found) == "0"


def test_a_report_is_shown_only_after_a_collector_accepted_it(
    chromium: "Browser", collector: Process
) -> None:
    """Its owner could withhold one that looks too accurate."""
    with visit(chromium, collector, collector.add(salted("trips")), expected=None) as found:
        found.page.route("**/reports", lambda route: route.fulfill(status=413))
        found.to_sending()
        assert found.send() == "stopped: refused (413)"
        receipt = found.page.locator("#receipt")
        with found.page.expect_download() as saved:
            found.press("save")
        assert "value" not in Path(saved.value.path()).read_text()
        assert receipt.locator("pre").count() == 0
        expect_marks(found, "place", "track")
        found.page.unroute("**/reports")
        found.page.locator(".panel [data-action=send-again]").click()
        sent = found.page.locator("#receipt pre")
        sent.wait_for()
        assert sent.inner_text() == found.posted[-1].post_data
        expect_marks(found, "place", "track", "report")


def test_a_report_keeps_to_its_random_moment(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector, collector.add(salted(send_within=7 * 86_400))) as found:
        found.to_sending()
        assert found.send() == "scheduled"
        assert found.page.locator("#receipt pre").count() == 0
        for _ in range(2):
            found.receipts("scheduled")
            assert found.button("send-again").count() == 0
            found.page.reload()
        assert found.posted == []


def test_a_report_is_sent_at_its_random_moment_and_the_receipt_says_so(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, collector.add(salted(send_within=4))) as found:
        found.to_sending()
        found.send()
        expect(found.page.locator("#receipt")).to_have_attribute("data-state", "accepted")
        found.receipts("accepted")
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
        found.receipts("accepted")
        assert len(found.posted) == 1


@pytest.mark.parametrize("mechanism", ["atlas", "trips"])
def test_the_preview_says_what_the_law_says(
    chromium: "Browser", collector: Process, mechanism: str
) -> None:
    bundle = collector.add(salted(mechanism))
    path = f"/tasks/{bundle.task.id}/promise"
    grown = collector.address.ask("GET", path).json["posterior_bounds"]["1"]
    with visit(chromium, collector, bundle) as found:
        found.to_preview()
        law, likely = found.page.locator("[data-drawn='1']"), chance(bundle)
        expect(law).to_have_attribute("data-in-hundred", f"{100 * likely:.2f}")
        expect(law).to_have_attribute("data-posterior-bound", grown)
        guess = "unlikely" if mechanism == "trips" and likely <= 1 / 2 else "likely"
        expect(law).to_have_attribute("data-guess", guess)
        for number in (str(round(100 * likely)), grown):
            expect(law).to_contain_text(number)


def test_the_preview_of_what_is_nearly_sure_or_tells_nothing_says_so(
    chromium: "Browser", collector: Process, wording: Callable[..., None]
) -> None:
    nearly = salted("starts", epsilon=Fraction(10))
    places, end = scattered(40), date.today() + timedelta(days=9)
    alone = create_task(
        places, "starts", epsilon="4", zones="grid:1", end=end, purpose="One zone."
    )
    collector.add(alone)
    collector.add(nearly)
    assert 0.995 < chance(nearly) < chance(alone) == 1
    for bundle, guess in (nearly, "likely"), (alone, "certain"):
        with visit(chromium, collector, bundle) as found:
            found.to_preview()
            law = found.page.locator("[data-drawn='1']")
            expect(law).to_have_attribute("data-guess", guess)
            said = re.sub(r"(?<=answer: )\d", "N", law.inner_text())
            wording("contributors", f"preview, guess is {guess}", said)


def chance(bundle: TaskBundle) -> float:
    """That a report is near to the truth, or has it."""
    if bundle.task.is_oracle:
        return float(bundle.mechanism.channel.true_chance)  # type: ignore[attr-defined]
    law: Any = bundle.mechanism.report_law(bundle.report_length).channel  # type: ignore[union-attr]
    heavy = law.near_count * law.bound
    return float(heavy / (heavy + law.size - law.near_count))


def test_an_archive_that_unpacks_to_far_too_much_is_refused(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    (tmp_path / "own").write_bytes(gzip.compress(b"lat,lng\n" + b"41.8,-87.6\n" * 20_000_000))
    with visit(chromium, collector, TRIPS) as found:
        found.page.locator("#file").set_input_files(tmp_path / "own")
        found.refused("bomb", ".card .trouble")


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_the_one_journey_of_a_file_is_chosen(
    chromium: "Browser", collector: Process, tmp_path: Path, packed: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "own").write_bytes(packed(b"lat,lng\n41.8,-87.6\n41.9,-87.7\n"))
    with visit(chromium, collector, TRIPS) as found:
        found.page.locator("#file").set_input_files(tmp_path / "own")
        expect(found.page.locator(".journey input")).to_be_checked()
        found.press("use-journey")
        found.step(3)


def test_a_report_that_waits_for_a_random_moment_asks_nobody_when_it_is_made(
    chromium: "Browser", collector: Process
) -> None:
    """Whoever asked then would tell the collector when."""
    with visit(chromium, collector, collector.add(salted(send_within=3600))) as found:
        found.to_sending()
        expect(found.page.locator("#send")).to_be_enabled()
        before = len(found.asked)
        assert found.send() == "scheduled"
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
        assert found.send() == "accepted"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (404, "unexpected_status"),
        (503, "unexpected_status"),
        (403, "unexpected_status"),
        (0, "collector_unreachable"),
    ],
)
def test_why_a_task_could_not_be_fetched_is_told(
    chromium: "Browser",
    collector: Process,
    wording: Callable[..., None],
    status: int,
    code: str,
) -> None:
    with visit(chromium, collector, TRIPS, expected=None) as found:
        found.page.route(
            f"**/tasks/{TRIPS.task.id}",
            lambda route: route.fulfill(status=status) if status else route.abort(),
        )
        found.page.reload()
        main = found.page.locator(f"#main[data-state=refused][data-code={code}]")
        expect(main).to_have_attribute("data-status", str(status))
        wording("contributors", f"task not fetched, {status}", main.inner_text())


def test_why_a_report_was_refused_is_told(
    chromium: "Browser", collector: Process, wording: Callable[..., None]
) -> None:
    told = []
    kinds = [f"urn:nomadp:error:{problem}" for problem in ("unrecognized_task", "teapot")]
    replies = [json.dumps({"type": kind}) for kind in kinds]
    with visit(chromium, collector, expected=None) as found:
        found.page.route(
            "**/reports", lambda route: route.fulfill(status=404, body=replies.pop(0))
        )
        for kind in kinds:
            found.to_sending()
            assert found.send() == f"stopped: refused ({kind})"
            told.append(found.page.locator("#receipt dd").last.inner_text())
            found.page.reload()
    wording("contributors", "refused reports", "\n".join(told))


def test_without_a_durable_ledger_nothing_is_sent(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector) as found:
        found.page.add_init_script(NO_LOCKS)
        found.page.reload()
        found.to_sending()
        found.page.locator("#send").click()
        found.refused("ledger_not_durable")
        assert found.posted == []


def test_another_task_under_its_address_is_refused(
    chromium: "Browser", collector: Process, wording: Callable[..., None]
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        other = ATLAS.task.content
        found.page.route(f"**/tasks/{TRIPS.task.id}", lambda route: route.fulfill(body=other))
        found.page.reload()
        main = found.page.locator("#main[data-state=refused][data-code=task_id_mismatch]")
        main.wait_for()
        assert found.page.locator(".steps").count() == 0
        ids = {TRIPS.task.id: "EXPECTED", ATLAS.task.id: "GOT"}
        wording("contributors", "another task", main.inner_text(), hide=ids)


@pytest.mark.parametrize("bundle", [ATLAS, TRIPS, WEEKDAYS], ids=["atlas", "trips", "weekdays"])
def test_the_browser_derives_the_promise_that_the_collector_states(
    chromium: "Browser", collector: Process, bundle: TaskBundle
) -> None:
    said = collector.address.ask("GET", f"/tasks/{bundle.task.id}/promise").json
    with visit(chromium, collector, bundle) as found:
        shown = found.page.locator("#guarantee").inner_text()
    capital = [each[0].upper() + each[1:] for each in (said["guaranteed"], said["adds_up"])]
    seen_by = [each[0].upper() + each[1:] for each in (*said["not_covered"], *said["seen"])]
    grown = [f"{after} %" for after in said["posterior_bounds"].values()]
    for words in (*capital, *seen_by, *grown, said["asks"], f"{said['times_at_most']} : 1"):
        assert words in shown
    assert not found.asked or all("/promise" not in each.url for each in found.asked)


def test_the_task_is_recomputed_and_can_be_checked_elsewhere(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        said = found.page.locator("#check").inner_text()
        task = found.bundle.task
        for each in (task.id, task.locations_sha256, task.domain_sha256):
            assert each in said
        address = f"http://127.0.0.1:{collector.address.port}/tasks/{task.id}"
        assert f"nomadp task verify {address}" in said


def test_the_words_of_every_step(
    chromium: "Browser", collector: Process, wording: Callable[..., None], tmp_path: Path
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        words = partial(words_of_step, found, wording)
        found.step(1)
        words("choosing")
        found.press("draw")
        words("drawing")
        found.page.locator("#file").set_input_files(timeline(TRIPS, tmp_path))
        found.page.locator(".journey input").first.check()
        expect(found.button("use-journey")).to_be_enabled()
        words("days and journeys")
        found.press("use-journey")
        words("what is read of a trip")
    with visit(chromium, collector) as found:
        found.draw()
        found.press("use-drawn")
        words_of_step(found, wording, "what is read of a journey")
        found.see_preview()
        for number in itertools.count(2):  # one and several are said in other words
            law, explained = found.page.locator("[data-near]"), found.page.locator("#explained")
            expect(explained).to_have_attribute("data-best", re.compile("."))
            near, best = law.get_attribute("data-near"), explained.get_attribute("data-best")
            if near not in ("0", "1") and best != "1":
                break
            found.press("draw-again")
            found.page.locator(f"[data-drawn='{number}']").wait_for()
        body = found.page.locator(".preview pre").inner_text()
        words_of_step(found, wording, "preview", {body: "BYTES"})
        found.press("to-sending")
        found.page.locator("#accept").check()
        words_of_step(found, wording, "use and send", {})
        assert found.send() == "accepted"
        body = found.page.locator("#receipt pre").inner_text()
        report = json.loads(body)["reports"][0]["report_id"]
        hidden = {body: "BYTES", report: "REPORT"}
        words_of_step(found, wording, "receipt", hidden)
        table = found.page.locator("#receipts").inner_text()
        wording("contributors", "receipts", without_numbers(table.replace(report, "REPORT")))


def words_of_step(
    found: Visit,
    wording: Callable[..., None],
    name: str,
    hidden: dict[str, str] | None = None,
) -> None:
    """All but the map; numbers stay if nothing else is random."""
    text = "\n\n".join(found.page.locator(".step-head, .panel").all_inner_texts())
    for value, word in {**(hidden or {}), found.bundle.task.id: "TASK"}.items():
        text = text.replace(value, word)
    wording("contributors", f"{name}", text if hidden is None else without_numbers(text))


def test_the_words_around_the_steps(
    chromium: "Browser", collector: Process, wording: Callable[..., None]
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        task, port = found.bundle.task, str(collector.address.port)
        hidden = {task.id: "TASK", task.locations_sha256: "HASH", task.domain_sha256: "HASH"}
        for name in (".head", "#guarantee", "#check"):
            text = found.page.locator(name).inner_text()
            name = name.strip(".#")
            wording("contributors", name, text, hide={**hidden, port: "PORT"})


@pytest.mark.slow
def test_a_journey_is_drawn_and_sent_by_keys_alone(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, WEEKDAYS, maps=True) as found:
        page = found.page
        drawn(page)
        found.button("draw").press("Enter")
        expect(page.locator("#place")).to_be_focused()
        page.keyboard.type("p1")
        found.adding("p1").press("Enter")
        page.locator(".map canvas").press("ArrowRight")
        page.locator(".map canvas").press("Enter")
        expect(page.locator(".points li")).to_have_count(2)
        found.button("use-drawn").press("Enter")
        expect(page.locator("[data-step='3'] .step-head h2")).to_be_focused()
        expect(found.button("preview")).to_be_disabled()
        page.locator("#weekday").select_option("1")
        page.locator("#hour").select_option("9")
        page.locator("[data-slot=Tue]").wait_for()
        found.button("preview").press("Enter")
        found.button("to-sending").press("Enter")
        page.locator("#accept").press("Space")
        expect(page.locator("#send")).to_be_enabled()  # a key waits for nothing
        page.locator("#send").press("Enter")
        page.locator("#receipt[data-state=accepted]").wait_for()


def test_keys_stay_where_a_list_changes(chromium: "Browser", collector: Process) -> None:
    with visit(chromium, collector, TRIPS) as found:
        page = found.page
        found.draw()
        last = found.adding("p3")
        last.press("Enter")
        expect(page.locator(".points li")).to_have_count(4)
        expect(last).to_be_focused()
        found.button("delete-point").nth(1).press("Enter")
        expect(page.locator(".points li")).to_have_count(3)
        expect(found.button("delete-point").nth(1)).to_be_focused()
        found.button("clear").press("Enter")
        expect(page.locator("#place")).to_be_focused()


def test_an_hour_is_chosen_by_keys_and_can_be_chosen_again(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, WEEKDAYS) as found:
        page = found.page
        found.draw()
        found.press("use-drawn")
        for name in ("#weekday", "#hour"):
            page.locator(name).press("ArrowDown")
            page.locator(name).press("ArrowDown")  # the second of them, not the first
        expect(page.locator("#hour")).to_be_focused()
        page.locator("[data-slot=Tue]").wait_for()
        expect(page.locator("#hour")).to_have_value("1")
        page.locator("#weekday").press("ArrowDown")
        page.locator("[data-slot=Wed]").wait_for()
        found.press("preview")
        found.go(3)
        expect(page.locator("#weekday")).to_have_value("2")


def test_journeys_are_split_at_gaps_and_deleted(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        page = found.page
        page.locator("#file").set_input_files(timeline(TRIPS, tmp_path))
        expect(page.locator(".journey")).to_have_count(3)
        page.locator("#hours").fill("12")
        page.keyboard.press("Tab")
        expect(page.locator(".journey")).to_have_count(2)
        expect(page.locator(".journey input").first).to_be_focused()  # made anew meanwhile
        page.locator("[data-day='2024-05-07'] [data-action=delete-day]").click()
        expect(page.locator(".journey")).to_have_count(1)
        expect(page.locator(".journey input")).to_be_focused()
        page.locator("#hours").fill("3")
        page.keyboard.press("Tab")
        expect(page.locator(".journey")).to_have_count(2)  # what is deleted stays so
        expect(page.locator(".day")).to_have_count(1)
        expect(page.locator(".day")).to_have_attribute("data-day", "2024-05-06")


def test_the_map_stays_on_the_area_and_says_what_of_a_journey_is_outside(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    lat, lng = TRIPS.locations.lat, TRIPS.locations.lng
    here = [f"{lat[k]},{lng[k]}" for k in range(2)]
    away = [f"{lat[k] - 30},{lng[k]}" for k in range(2)]
    with visit(chromium, collector, TRIPS, maps=True) as found:
        scale = found.page.locator(".maplibregl-ctrl-scale")
        drawn(found.page)
        whole = scale.inner_text()
        for rows, outside in (([*here, away[0]], 1), (away, 2), (here, 0)):
            (tmp_path / "own.csv").write_text("\n".join(["lat,lng", *rows]))
            found.page.locator("#file").set_input_files(tmp_path / "own.csv")
            found.page.locator(".journey input").check()
            expect(found.button("use-journey")).to_be_enabled()
            said = found.page.locator(".outside")
            expect(said).to_have_attribute("data-points", str(outside))
            assert bool(said.inner_text()) == bool(outside)
            expect(found.page.locator(".mark-track")).to_be_visible(visible=rows != away)
            drawn(found.page)
            assert (scale.inner_text() == whole) == bool(outside)
            found.go(1)


def test_nobody_goes_on_with_the_journey_chosen_before(
    chromium: "Browser", collector: Process, tmp_path: Path
) -> None:
    """Another one that was chosen is on its way: meanwhile there is none."""
    with visit(chromium, collector, TRIPS) as found:
        found.page.locator("#file").set_input_files(timeline(TRIPS, tmp_path))
        found.page.locator(".journey input").nth(1).check()
        expect(found.button("use-journey")).to_be_enabled()
        stopped = """(radio) => {
          radio.click();
          return document.querySelector(".panel button.main").disabled;
        }"""
        assert found.page.locator(".journey input").nth(2).evaluate(stopped)
        expect(found.button("use-journey")).to_be_enabled()


def test_a_preview_that_nobody_waits_for_is_on_no_map(
    chromium: "Browser", collector: Process
) -> None:
    with visit(chromium, collector, TRIPS) as found:
        found.draw()
        found.press("use-drawn")
        found.page.evaluate(
            """() => {
              const press = () => document.querySelector(".panel button.main").click();
              press();
              press(); // to sending, before anything is drawn
            }"""
        )
        found.page.locator(".budget").wait_for()
        expect_marks(found, "place", "track")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "screen"), [("light", DESK), ("dark", PHONE)], ids=["light desk", "dark phone"]
)
def test_every_step_can_be_used_by_everybody(
    chromium: "Browser", collector: Process, mode: str, screen: Any
) -> None:
    with visit(chromium, collector, maps=True, viewport=screen, color_scheme=mode) as found:
        page = found.page
        found.draw_on_map()

        def look_at(number: int) -> None:
            found.step(number)
            drawn(page)
            assert serious(page) == []
            assert too_small(page) == []
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

        look_at(1)
        found.press("use-drawn")
        look_at(3)
        found.go(2)
        look_at(2)
        found.go(4)
        page.locator(".preview .says").wait_for()
        look_at(4)
        found.press("to-sending")
        page.locator("#accept").check()
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
        page.locator(".journey input").first.check()
        found.press("use-journey")
        found.step(3)
