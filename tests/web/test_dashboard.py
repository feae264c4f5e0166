"""The dashboard in a real browser, of a collector that really runs, under its real policy."""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from browsers import (
    DESK,
    PHONE,
    drawn,
    expect,
    part,
    pixels,
    seen,
    serious,
    too_small,
    until,
    without_numbers,
)
from city import city_bundle, send_city
from collecting import Address, Process, prepared, report, today
from dashboards import open_tab, sign_in

from nomadp.collector.connections import open_store
from nomadp.pages import POLICY, built_pages
from nomadp.theme import theme

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.browser

REPORTS = 2_000
ATLAS, TRIPS = "Where buses are missing", "From where to where people commute"
FEW, CLOSED = "Where people set out", "Where the night bus should stop"
FILLED = """() => {
  const sizeOf = ({ clientWidth, clientHeight }) => `${clientWidth} ${clientHeight}`;
  const canvas = document.querySelector(".map canvas");
  return sizeOf(canvas) === sizeOf(canvas.closest(".map .canvas"));
}"""
"""The map has seen that its place was resized."""
WORDS = """(part) => [part, ...part.querySelectorAll("text")].map(
  ({ childNodes }) => [...childNodes].map(({ data = "" }) => data).join(""))"""
WEIGHT_BYTES = 700_000


class Collection(NamedTuple):
    address: Address
    atlas: Any
    trips: Any

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.address.port}"

    def trips_reported(self) -> int:
        """Some are sent by a test."""
        path = f"/tasks/{self.trips.task.id}/progress"
        return int(self.address.ask("GET", path, role="analyst").json["reports"])


@pytest.fixture(scope="module")
def collection(
    web: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Collection]:
    """``nomadp serve`` with two tasks, and two thousand reports to each sent over HTTP."""
    web("build")
    folder = tmp_path_factory.mktemp("collector")
    store = str(folder / "collector.sqlite")
    bundles = city_bundle("atlas", ATLAS), city_bundle("trips", TRIPS)
    few, closed = city_bundle("starts", FEW), city_bundle("starts", CLOSED)
    prepared(open_store(store), *bundles, few, closed)
    with Process(store, folder) as process:
        for bundle in bundles:
            send_city(process.address, bundle, REPORTS)
        for bundle in (few, closed):
            send_city(process.address, bundle, 40)
        process.address.ask("POST", f"/operator/tasks/{closed.task.id}/close", role="operator")
        process.address.send(bundles[0], report(bundles[0], time=today() + 9))
        yield Collection(process.address, *bundles)


LABELS_BEYOND = """[...document.querySelectorAll(".legend svg text")].filter((label) =>
    label.getBoundingClientRect().right >
    label.ownerSVGElement.getBoundingClientRect().right + 1
).map((label) => label.textContent)"""
"""The labels of the legend that stick out of it; on a phone they would leave the page."""


@pytest.mark.parametrize("mode", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_the_map_shows_what_was_collected(
    chromium: "Browser", collection: Collection, mode: str, screen: Any
) -> None:
    with seen(chromium, collection.url, viewport=screen, color_scheme=mode) as page:
        sign_in(page, TRIPS)
        open_tab(page, "ends")
        expect(page.locator("#reports")).to_have_text(f"{collection.trips_reported():,}")
        image, palette = pixels(page), theme()[mode]
        assert 0.1 < part(image, palette["map"]) < 0.9
        assert part(image, palette["certain-4"]) > 0.005
        assert part(image, palette["certain-1"]) > 0.02
        assert page.evaluate(LABELS_BEYOND) == []
        open_tab(page, "flows")
        image = pixels(page)
        assert page.evaluate(LABELS_BEYOND) == []
        assert part(image, palette["flow"], near=40) > 0.001
        assert part(image, palette["certain-4"]) < 0.001
        expect(page.locator("#picture figcaption [data-legend=width]")).to_be_visible()
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        assert too_small(page) == []
        assert serious(page) == []


@pytest.mark.slow
def test_every_picture_of_journeys_has_its_table(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, ATLAS)
        for key in ("density", "flows", "hotspots", "journeys"):
            open_tab(page, key)
            rows = page.locator(".rows tbody tr")
            assert rows.count() > 3  # it is there with the map
            expect(page.locator(".summary")).not_to_be_empty()
        expect(page.locator(".rows tbody tr.chosen")).to_have_count(1)
        with_radii = pixels(page)
        rows.nth(6).get_by_role("button").press("Enter")
        expect(rows.nth(6)).to_have_class("chosen")
        drawn(page)
        assert (pixels(page) != with_radii).any(axis=-1).mean() > 0.02


def telling(*apart: str) -> Callable[["Route"], None]:
    """Answers as they are, but for how many rows of which areas are told apart."""

    def changed(route: "Route") -> None:
        reply = route.fetch()
        if reply.status != 200:
            route.fulfill(response=reply)
            return
        said = reply.json()
        about = said.get("answer", {}).get("about", {})
        if "areas" in about:
            about["significance"] = {
                **about["significance"],
                "significant": int(about["areas"] in apart),
            }
        route.fulfill(response=reply, json=said)

    return changed


@pytest.mark.slow
def test_areas_become_smaller_as_the_map_is_zoomed_in(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", telling("grid:4", "grid:8"))
        sign_in(page, ATLAS)
        open_tab(page, "density")
        areas(page, 8, "finest")
        for screen in (PHONE, DESK):  # a larger screen is no zoom
            page.set_viewport_size(screen)
            until(page, lambda: page.evaluate(FILLED))
            drawn(page)
            areas(page, 8, "finest")
        page.locator("[data-action=zoom-in]").click()
        areas(page, 16, "nothing")
        page.locator("[data-action=show-all]").click()
        areas(page, 8, "finest")
        page.locator(".map canvas").press("-")
        areas(page, 4, "zoom")


def areas(page: "Page", side: int, why: str) -> None:
    """Which areas are shown, and why these."""
    page.locator(f".filter[data-areas='grid:{side}'][data-why={why}]").wait_for()


def test_a_picture_that_tells_nothing_points_to_those_that_do(
    chromium: "Browser", collection: Collection, wording: Callable[..., None]
) -> None:
    def only_flows(route: "Route") -> None:
        reply = route.fetch()
        said = reply.json() if reply.status == 200 else {}
        if flat := said.get("answer", {}).get("about", {}).get("significance"):
            flat["significant"] = int(said["answer"]["kind"] == "flows")
        route.fulfill(response=reply, json=said)

    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", only_flows)
        sign_in(page, ATLAS)
        open_tab(page, "density")
        pointer = page.locator(".elsewhere")
        expect(pointer.locator("button")).to_have_count(1)
        wording("pages", "dashboard: elsewhere", pointer.inner_text())
        pointer.locator("[data-view=flows]").click()
        expect(page.locator("#tab-flows")).to_be_focused()
        expect(pointer).to_be_empty()


@pytest.mark.slow
def test_density_opens_on_the_coarsest_areas_where_these_tell_nothing(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", telling("grid:8", "grid:32"))  # may be chance
        sign_in(page, ATLAS)
        open_tab(page, "density")
        areas(page, 4, "nothing")
        page.locator("[data-action=zoom-in]").click()
        areas(page, 8, "zoom")


@pytest.mark.slow
def test_without_intervals_nothing_is_called_certain(
    chromium: "Browser", collection: Collection, wording: Callable[..., None]
) -> None:
    reason = "the codebook has 8 codewords"

    def withheld(route: "Route") -> None:
        reply = route.fetch()
        said = reply.json() if reply.status == 200 else {}
        if "areas" in (about := said.get("answer", {}).get("about", {})):
            about.pop("significance", None)
            about["no_intervals"] = reason
            said["answer"]["drawn"]["has_intervals"] = False
        route.fulfill(response=reply, json=said)

    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", withheld)
        sign_in(page, ATLAS)
        open_tab(page, "density")
        areas(page, 4, "unknown")
        legend = page.locator(".legend")
        expect(legend.locator("[data-legend=shares-without-intervals]")).to_be_visible()
        assert legend.locator(".mark.certain-1").count() == 0
        said = explained(page, "shares-without-intervals")
        wording("pages", "dashboard: legend without intervals", said)
        open_tab(page, "flows")
        expect(legend.locator("[data-legend=width]")).to_be_visible()
        expect(legend.locator("[data-legend=certainty]")).to_have_count(0)


def explained(page: "Page", part: str) -> str:
    """The words of a part of the legend, a line each; limits of steps are numbers."""
    told = page.locator(f"[data-legend={part}]").evaluate(WORDS)
    return "\n".join(each for each in told if re.search("[a-z]", each))


@pytest.mark.slow
def test_the_words_around_an_answer(
    chromium: "Browser", collection: Collection, wording: Callable[..., None]
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, ATLAS)
        for key, parts in {
            "density": ("shares",),
            "flows": ("width", "certainty", "direction"),
        }.items():
            open_tab(page, key)
            legend = "\n".join(explained(page, part) for part in parts)
            wording("pages", f"dashboard: legend of {key}", legend)
        promised = page.locator("#guarantee .figure")
        promised.wait_for()
        task = collection.atlas.task.id
        head = without_numbers(page.locator(".head").inner_text().replace(task, "TASK"))
        wording("pages", "dashboard: head", head)
        for name in ("guarantee", "refused"):
            wording("pages", f"dashboard: {name}", page.locator(f"#{name}").inner_text())


@pytest.mark.slow
def test_it_says_what_fakes_could_do_what_was_refused_and_what_was_promised(
    chromium: "Browser", collection: Collection
) -> None:
    facts: list[list[str]] = []

    def noted(route: "Route") -> None:
        reply = route.fetch()
        said = reply.json() if reply.status == 200 else {}
        if said.get("answer", {}).get("about", {}).get("areas") == "grid:4":
            facts[:] = said["answer"]["drawn"]["facts"]
        route.fulfill(response=reply)

    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", noted)
        sign_in(page, ATLAS)
        open_tab(page, "density")
        expect(page.locator(".facts dt")).to_have_text([name for name, _ in facts])
        assert len(facts) > 1  # what fakes could do is one of them: tests/answers
        refused = page.locator("#refused tbody tr")
        expect(refused).to_have_count(1)
        expect(refused).to_have_attribute("data-reason", "report_too_early")
        promised = page.locator("#guarantee")
        expect(promised.locator(".figure")).to_contain_text("404")  # e^6, rounded up
        path = f"/tasks/{collection.atlas.task.id}/promise"
        told = collection.address.ask("GET", path).json
        points = len(told["seen"]) + len(told["not_covered"])
        expect(promised.locator("li")).to_have_count(points)


def test_of_too_few_reports_it_says_only_how_many_are_missing(
    chromium: "Browser", collection: Collection, wording: Callable[..., None]
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, FEW)
        page.locator(".summary[data-state=too_few]").wait_for()
        count = page.locator(".count")
        expect(count).to_have_attribute("data-reports", "40")
        expect(count).to_have_attribute("data-missing", "60")
        said = [page.locator(name).inner_text() for name in (".summary", ".count .soft")]
        wording("pages", "dashboard: too few reports", "\n".join(said))
        drawn(page, "nothing")
        assert page.locator(".rows").count() == 0
        assert part(pixels(page), theme()["light"]["certain-4"]) == 0


@pytest.mark.slow
def test_of_a_closed_task_nothing_more_is_awaited(
    chromium: "Browser", collection: Collection, wording: Callable[..., None]
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, CLOSED)
        page.locator(".summary[data-state=closed]").wait_for()
        count = page.locator(".count")
        expect(count).to_have_attribute("data-closed", "true")
        expect(count).to_have_attribute("data-reports", "40")
        expect(count).to_have_attribute("data-missing", "60")
        said = [page.locator(name).inner_text() for name in (".summary", ".count .soft")]
        wording("pages", "dashboard: closed with too few reports", "\n".join(said))
        expect(page.locator(".beside-map")).to_be_empty()


@pytest.mark.slow
def test_new_reports_are_counted_at_once_and_answered_when_asked_again(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        open_tab(page, "ends")
        before = collection.trips_reported()
        collection.address.send(collection.trips, *[report(collection.trips) for _ in range(7)])
        page.locator(".stale[data-reports='7']").wait_for()
        expect(page.locator("#reports")).to_have_text(f"{before + 7:,}")
        again = page.locator("[data-action=ask-again]")
        again.click()
        expect(page.locator("#tab-ends")).to_be_focused()
        expect(page.locator(".facts dd").first).to_have_text(f"{before + 7:,}")
        expect(again).to_have_count(0)


@pytest.mark.slow
def test_only_the_token_opens_it_and_it_is_kept_for_the_tab_alone(
    chromium: "Browser", collection: Collection, wording: Callable[..., None]
) -> None:
    with seen(chromium, collection.url, expected=1) as page:  # the console tells of the 401
        page.locator("#token").fill("of-somebody-else")
        page.keyboard.press("Enter")
        page.locator(".trouble[data-status='401']").wait_for()
        wording("pages", "dashboard: wrong token", page.locator("#main").inner_text())
        assert page.locator(".pictures").count() == 0
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        page.reload()
        page.wait_for_selector(".pictures")
        kept = page.evaluate("[JSON.stringify(localStorage), document.cookie]")
        assert kept == ["{}", ""]
        page.locator("#sign-out").click()
        page.locator("#token").wait_for()
        assert page.evaluate("JSON.stringify(sessionStorage)") == "{}"


@pytest.mark.slow
def test_the_map_follows_the_theme(chromium: "Browser", collection: Collection) -> None:
    with seen(chromium, collection.url, color_scheme="light") as page:
        sign_in(page, TRIPS)
        open_tab(page, "ends")
        page.emulate_media(color_scheme="dark")
        until(page, lambda: part(pixels(page), theme()["light"]["map"]) < 0.01)
        drawn(page)
        assert part(pixels(page), theme()["dark"]["certain-4"]) > 0.005


@pytest.mark.slow
def test_all_rows_are_saved_as_a_file(
    chromium: "Browser", collection: Collection, tmp_path: Path
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        open_tab(page, "flows")
        with page.expect_download() as download:
            page.locator("[data-action=save]").click()
        download.value.save_as(tmp_path / "flows.csv")
    head, *rows = (tmp_path / "flows.csv").read_text().splitlines()
    zones = len(collection.trips.domain)
    assert head.startswith("origin,destination,flow")
    assert len(rows) == zones**2


FORMULA = '=HYPERLINK("https://elsewhere.example")'


@pytest.mark.slow
def test_rows_are_saved_without_formulas_for_a_spreadsheet(
    chromium: "Browser", collection: Collection, tmp_path: Path
) -> None:
    """Names of zones are whatever the maker of a task wrote."""
    with seen(chromium, collection.url) as page:

        def renamed(route: "Route") -> None:
            reply = route.fetch()
            if reply.status != 200 or "answer" not in (said := reply.json()):
                route.fulfill(response=reply)
                return
            columns = said["answer"]["columns"]
            for name in {"origin", "zone"} & columns.keys():
                columns[name][0] = FORMULA
            route.fulfill(response=reply, json=said)

        page.route("**/collection_jobs/*", renamed)
        sign_in(page, TRIPS)
        open_tab(page, "flows")
        saved = {}
        for button in ("save", "save-spreadsheet"):
            with page.expect_download() as download:
                page.locator(f"[data-action={button}]").click()
            download.value.save_as(tmp_path / "flows.csv")
            with (tmp_path / "flows.csv").open(newline="", encoding="utf-8") as file:
                saved[button] = list(csv.reader(file))
    plain, safe = saved.values()
    assert (plain[1][0], safe[1][0]) == (FORMULA, f"'{FORMULA}")
    assert [row[1:] for row in plain] == [row[1:] for row in safe]


@pytest.mark.parametrize("status", [404, 507, 0])
def test_why_something_could_not_be_asked_is_told(
    chromium: "Browser", collection: Collection, wording: Callable[..., None], status: int
) -> None:
    with seen(chromium, collection.url, expected=None) as page:
        page.route(
            "**/progress",
            lambda route: route.fulfill(status=status) if status else route.abort(),
        )
        sign_in(page, FEW)
        trouble = page.locator(f".trouble[data-status='{status}']")
        trouble.wait_for()
        wording("pages", f"dashboard: not answered, {status}", trouble.inner_text())


def test_tabs_and_rows_are_reached_by_keys(chromium: "Browser", collection: Collection) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        expect(page.locator("#task")).to_be_focused()
        open_tab(page, "ends")
        page.locator("#tab-ends").press("ArrowRight")
        flows = page.locator("#tab-flows")
        expect(flows).to_have_attribute("aria-selected", "true")
        expect(flows).to_be_focused()


def test_the_policy_is_the_one_the_pages_were_looked_at_under(collection: Collection) -> None:
    page = collection.address.ask("GET", "/")
    assert page.headers["content-security-policy"] == POLICY
    assert b"<style" not in page.body
    assert not re.search(rb"<script(?![^>]*\bsrc=)", page.body)


def test_the_pages_weigh_little(collection: Collection) -> None:
    assert sum(len(each.gzipped) for each in built_pages().values()) < WEIGHT_BYTES


def test_the_pages_have_the_palette_of_every_map(collection: Collection) -> None:
    style = b"".join(
        each.content for each in built_pages().values() if each.name.endswith(".css")
    ).decode()
    for mode in ("light", "dark"):
        for name, value in theme()[mode].items():
            short = re.sub(r"^#(\w)\1(\w)\2(\w)\3$", r"#\1\2\3", value)  # as it is minified
            assert f"--{name}:{short}" in style.replace(": ", ":")
