"""The dashboard in a real browser, of a collector that really runs, under its real policy."""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from browsers import DESK, PHONE, drawn, expect, part, pixels, seen, serious, too_small, until
from city import city_kit, send_city
from collecting import Address, Process, prepared, report, today
from dashboards import open_tab, sign_in

from nomadp.collector.opened import opened
from nomadp.look import look
from nomadp.pages import POLICY, built_pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

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
    kits = city_kit("atlas", ATLAS), city_kit("trips", TRIPS)
    few, closed = city_kit("starts", FEW), city_kit("starts", CLOSED)
    prepared(opened(store), *kits, few, closed)
    with Process(store, folder) as process:
        for kit in kits:
            send_city(process.address, kit, REPORTS)
        for kit in (few, closed):
            send_city(process.address, kit, 40)
        process.address.ask("POST", f"/operator/tasks/{closed.task.id}/close", role="operator")
        process.address.send(kits[0], report(kits[0], time=today() + 9))
        yield Collection(process.address, *kits)


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_the_map_shows_what_was_collected(
    chromium: "Browser", collection: Collection, theme: str, screen: Any
) -> None:
    with seen(chromium, collection.url, viewport=screen, color_scheme=theme) as page:
        sign_in(page, TRIPS)
        open_tab(page, "Destinations")
        expect(page.locator("#reports")).to_have_text(f"{collection.trips_reported():,}")
        image, palette = pixels(page), look()[theme]
        assert 0.1 < part(image, palette["map"]) < 0.9
        assert part(image, palette["certain-4"]) > 0.005
        assert part(image, palette["certain-1"]) > 0.02
        open_tab(page, "Flows")
        image = pixels(page)
        assert part(image, palette["flow"], near=40) > 0.001
        assert part(image, palette["certain-4"]) < 0.001
        expect(page.locator("#picture figcaption")).to_contain_text("Drawn are")
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
        for name in ("Density", "Flows", "Hotspots", "Sample journeys"):
            open_tab(page, name)
            rows = page.locator(".rows tbody tr")
            assert rows.count() > 3  # it is there with the map
            expect(page.locator(".summary")).not_to_be_empty()
        expect(page.locator(".rows tbody tr.chosen")).to_have_text(re.compile("km$"))
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
            about["flat"] = {**about["flat"], "told_apart": int(about["areas"] in apart)}
        route.fulfill(response=reply, json=said)

    return changed


@pytest.mark.slow
def test_areas_become_smaller_as_the_map_is_zoomed_in(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", telling("grid:4", "grid:8"))
        sign_in(page, ATLAS)
        open_tab(page, "Density")
        page.get_by_text("Areas: 8 by 8, as fine as reports tell something").wait_for()
        for screen in (PHONE, DESK):  # a larger screen is no zoom
            page.set_viewport_size(screen)
            until(page, lambda: page.evaluate(FILLED))
            drawn(page)
            page.get_by_text("Areas: 8 by 8").wait_for()
        page.get_by_role("button", name="Zoom in").click()
        page.get_by_text("Areas: 16 by 16, of which reports tell nothing").wait_for()
        page.get_by_role("button", name="Show everything").click()
        page.get_by_text("Areas: 8 by 8").wait_for()
        page.locator(".map canvas").press("-")
        page.get_by_text("Areas: 4 by 4").wait_for()


def test_a_picture_that_tells_nothing_points_to_those_that_do(
    chromium: "Browser", collection: Collection
) -> None:
    def only_flows(route: "Route") -> None:
        reply = route.fetch()
        said = reply.json() if reply.status == 200 else {}
        if flat := said.get("answer", {}).get("about", {}).get("flat"):
            flat["told_apart"] = int(said["answer"]["kind"] == "flows")
        route.fulfill(response=reply, json=said)

    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", only_flows)
        sign_in(page, ATLAS)
        open_tab(page, "Density")
        pointer = page.locator(".elsewhere")
        expect(pointer).to_have_text("These reports do tell something of: Flows")
        pointer.get_by_role("button", name="Flows").click()
        expect(page.get_by_role("tab", name="Flows")).to_be_focused()
        expect(pointer).to_be_empty()


@pytest.mark.slow
def test_density_opens_on_the_coarsest_areas_where_these_tell_nothing(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", telling("grid:8", "grid:32"))  # may be chance
        sign_in(page, ATLAS)
        open_tab(page, "Density")
        said = page.get_by_text("Areas: 4 by 4, of which reports tell nothing.")
        said.wait_for()
        page.get_by_role("button", name="Zoom in").click()
        page.get_by_text("Areas: 8 by 8").wait_for()


@pytest.mark.slow
def test_without_intervals_nothing_is_called_certain(
    chromium: "Browser", collection: Collection
) -> None:
    reason = "the codebook has 8 codewords"

    def withheld(route: "Route") -> None:
        reply = route.fetch()
        said = reply.json() if reply.status == 200 else {}
        if "areas" in (about := said.get("answer", {}).get("about", {})):
            about.pop("flat", None)
            about["no_intervals"] = reason
            said["answer"]["drawn"]["has_intervals"] = False
        route.fulfill(response=reply, json=said)

    with seen(chromium, collection.url) as page:
        page.route("**/collection_jobs/*", withheld)
        sign_in(page, ATLAS)
        open_tab(page, "Density")
        page.get_by_text(
            "Areas: 4 by 4; how fine reports tell something is not known"
        ).wait_for()
        legend = page.locator(".legend")
        expect(legend).to_contain_text("no interval known")
        expect(legend).not_to_contain_text("less certain")
        open_tab(page, "Flows")
        expect(legend).to_contain_text("Wider is more trips")
        expect(legend).not_to_contain_text("Fainter")


@pytest.mark.slow
def test_it_says_what_fakes_could_do_what_was_refused_and_what_was_promised(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, ATLAS)
        open_tab(page, "Density")
        fakes = re.compile(r"if 1\s% of all were fakes, they could raise a share by")
        expect(page.locator(".facts")).to_contain_text(fakes)
        refused = page.locator("#refused tbody tr")
        expect(refused).to_have_count(1)
        expect(refused).to_contain_text("From the future")
        promised = page.locator("#guarantee")
        promised.get_by_text("404 : 1").wait_for()  # e^6, rounded up
        expect(promised).to_contain_text("Who sees what")


def test_of_too_few_reports_it_says_only_how_many_are_missing(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, FEW)
        page.get_by_text(
            "There are too few reports to say anything: 60 are missing."
        ).wait_for()
        drawn(page, "nothing")
        assert page.locator(".rows").count() == 0
        assert part(pixels(page), look()["light"]["certain-4"]) == 0


@pytest.mark.slow
def test_of_a_closed_task_nothing_more_is_awaited(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, CLOSED)
        expect(page.locator(".summary")).to_have_text(
            "This task was closed with too few reports to say anything: 60 are missing."
        )
        expect(page.locator(".count .odds")).to_have_text("40reports in all")
        expect(page.locator(".count .soft")).to_have_text(
            "Closed: nothing new is taken. At least 100 were needed to say anything."
        )
        expect(page.locator(".beside-map")).to_be_empty()


@pytest.mark.slow
def test_new_reports_are_counted_at_once_and_answered_when_asked_again(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        open_tab(page, "Destinations")
        before = collection.trips_reported()
        collection.address.send(collection.trips, *[report(collection.trips) for _ in range(7)])
        page.get_by_text("7 reports came in since").wait_for()
        expect(page.locator("#reports")).to_have_text(f"{before + 7:,}")
        again = page.get_by_role("button", name="Work it out again")
        again.click()
        expect(page.get_by_role("tab", name="Destinations")).to_be_focused()
        expect(page.locator(".facts dd").first).to_have_text(f"{before + 7:,}")
        expect(again).to_have_count(0)


@pytest.mark.slow
def test_only_the_token_opens_it_and_it_is_kept_for_the_tab_alone(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url, expected=1) as page:  # the console tells of the 401
        page.get_by_label("Analyst's token").fill("of-somebody-else")
        page.keyboard.press("Enter")
        page.get_by_text("This is not the analyst's token").wait_for()
        assert page.locator(".pictures").count() == 0
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        page.reload()
        page.wait_for_selector(".pictures")
        kept = page.evaluate("[JSON.stringify(localStorage), document.cookie]")
        assert kept == ["{}", ""]
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Analyst's token").wait_for()
        assert page.evaluate("JSON.stringify(sessionStorage)") == "{}"


@pytest.mark.slow
def test_the_map_follows_the_theme(chromium: "Browser", collection: Collection) -> None:
    with seen(chromium, collection.url, color_scheme="light") as page:
        sign_in(page, TRIPS)
        open_tab(page, "Destinations")
        page.emulate_media(color_scheme="dark")
        until(page, lambda: part(pixels(page), look()["light"]["map"]) < 0.01)
        drawn(page)
        assert part(pixels(page), look()["dark"]["certain-4"]) > 0.005


@pytest.mark.slow
def test_all_rows_are_saved_as_a_file(
    chromium: "Browser", collection: Collection, tmp_path: Path
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        open_tab(page, "Flows")
        with page.expect_download() as download:
            page.get_by_role("button", name="Save all rows as CSV").click()
        download.value.save_as(tmp_path / "flows.csv")
    head, *rows = (tmp_path / "flows.csv").read_text().splitlines()
    zones = len(collection.trips.book)
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
        open_tab(page, "Flows")
        saved = {}
        for button in ("Save all rows as CSV", "Save for a spreadsheet"):
            with page.expect_download() as download:
                page.get_by_role("button", name=button).click()
            download.value.save_as(tmp_path / "flows.csv")
            with (tmp_path / "flows.csv").open(newline="", encoding="utf-8") as file:
                saved[button] = list(csv.reader(file))
    plain, safe = saved.values()
    assert (plain[1][0], safe[1][0]) == (FORMULA, f"'{FORMULA}")
    assert [row[1:] for row in plain] == [row[1:] for row in safe]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "The collector no longer has this (404). Load the page again"),
        (507, "The collector is busy, or out of order for a while (507). Try again"),
        (0, "The collector cannot be reached. Look whether you are online"),
    ],
)
def test_what_cannot_be_asked_is_told_in_words(
    chromium: "Browser", collection: Collection, status: int, words: str
) -> None:
    with seen(chromium, collection.url, expected=None) as page:
        page.route(
            "**/progress",
            lambda route: route.fulfill(status=status) if status else route.abort(),
        )
        sign_in(page, FEW)
        expect(page.locator(".trouble")).to_contain_text(words)


def test_tabs_and_rows_are_reached_by_keys(chromium: "Browser", collection: Collection) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        expect(page.locator("#task")).to_be_focused()
        open_tab(page, "Destinations")
        page.get_by_role("tab", name="Destinations").press("ArrowRight")
        flows = page.get_by_role("tab", name="Flows")
        expect(flows).to_have_attribute("aria-selected", "true")
        expect(flows).to_be_focused()


def test_the_policy_is_the_one_the_pages_were_looked_at_under(collection: Collection) -> None:
    page = collection.address.ask("GET", "/")
    assert page.headers["content-security-policy"] == POLICY
    assert b"<style" not in page.body
    assert not re.search(rb"<script(?![^>]*\bsrc=)", page.body)


def test_the_pages_weigh_little(collection: Collection) -> None:
    assert sum(len(each.zipped) for each in built_pages().values()) < WEIGHT_BYTES


def test_the_pages_have_the_palette_of_every_map(collection: Collection) -> None:
    style = b"".join(
        each.content for each in built_pages().values() if each.name.endswith(".css")
    ).decode()
    for theme in ("light", "dark"):
        for name, value in look()[theme].items():
            short = re.sub(r"^#(\w)\1(\w)\2(\w)\3$", r"#\1\2\3", value)  # as it is minified
            assert f"--{name}:{short}" in style.replace(": ", ":")
