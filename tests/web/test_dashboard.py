"""The dashboard in a real browser, of a collector that really runs, under its real policy."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from browsers import DESK, PHONE, part, pixels, seen, serious, too_small
from city import city_kit, send_city
from collecting import TOKENS, Address, Process, prepared, report, today

from nomadp.collector.opened import opened
from nomadp.look import look
from nomadp.pages import POLICY, built_pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

REPORTS = 2_000
ATLAS, TRIPS = "Where buses are missing", "From where to where people commute"
FEW = "Where people set out"
DRAWN = ".map[data-drawn=yes]"
WEIGHT_BYTES = 700_000


class Collection(NamedTuple):
    address: Address
    atlas: Any
    trips: Any

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.address.port}"


@pytest.fixture(scope="module")
def collection(
    web: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Collection]:
    """``nomadp serve`` with two tasks, and two thousand reports to each sent over HTTP."""
    web("build")
    folder = tmp_path_factory.mktemp("collector")
    store = str(folder / "collector.sqlite")
    kits = city_kit("atlas", ATLAS), city_kit("trips", TRIPS)
    few = city_kit("starts", FEW)
    prepared(opened(store), *kits, few)
    with Process(store, folder) as process:
        for kit in kits:
            send_city(process.address, kit, REPORTS)
        send_city(process.address, few, 40)
        process.address.send(kits[0], report(kits[0], time=today() + 9))
        yield Collection(process.address, *kits)


def sign_in(page: "Page", task: str, token: str = TOKENS["analyst"]) -> None:
    page.get_by_label("Analyst's token").fill(token)
    page.keyboard.press("Enter")
    page.get_by_label("Task", exact=True).select_option(label=task)


def open_tab(page: "Page", name: str) -> None:
    page.get_by_role("tab", name=name).click()
    page.wait_for_selector(DRAWN, timeout=90_000)


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_the_map_shows_what_was_collected(
    chromium: "Browser", collection: Collection, theme: str, screen: Any
) -> None:
    with seen(chromium, collection.url, viewport=screen, color_scheme=theme) as page:
        sign_in(page, TRIPS)
        open_tab(page, "Destinations")
        assert page.locator("#reports").inner_text() == f"{REPORTS:,}"
        image, palette = pixels(page), look()[theme]
        assert 0.1 < part(image, palette["map"]) < 0.9
        assert part(image, palette["certain-4"]) > 0.005
        assert part(image, palette["certain-1"]) > 0.02
        open_tab(page, "Flows")
        image = pixels(page)
        assert part(image, palette["flow"], near=40) > 0.001
        assert part(image, palette["certain-4"]) < 0.001
        assert "Drawn are" in page.locator("#picture figcaption").inner_text()
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
            assert rows.count() > 3
            assert page.locator(".summary").inner_text()
        chosen = page.locator(".rows tbody tr.chosen")
        assert chosen.count() == 1
        assert chosen.inner_text().endswith("km")
        with_radii = pixels(page)
        rows.nth(6).get_by_role("button").press("Enter")
        assert rows.nth(6).get_attribute("class") == "chosen"
        page.wait_for_timeout(1_500)
        assert (pixels(page) != with_radii).any(axis=-1).mean() > 0.02


@pytest.mark.slow
def test_areas_become_smaller_as_the_map_is_zoomed_in(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, ATLAS)
        open_tab(page, "Density")
        assert page.get_by_text("Areas: 8 by 8").is_visible()
        for screen in (PHONE, DESK):  # a larger screen is no zoom
            page.set_viewport_size(screen)
            page.wait_for_timeout(1_000)
            assert page.get_by_text("Areas: 8 by 8").is_visible()
        page.get_by_role("button", name="Zoom in").click()
        page.get_by_text("Areas: 16 by 16").wait_for(timeout=60_000)
        page.get_by_role("button", name="Show everything").click()
        page.get_by_text("Areas: 8 by 8").wait_for(timeout=60_000)
        page.locator(".map canvas").press("-")
        page.get_by_text("Areas: 4 by 4").wait_for(timeout=60_000)


@pytest.mark.slow
def test_it_says_what_fakes_could_do_what_was_refused_and_what_was_promised(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, ATLAS)
        open_tab(page, "Density")
        facts = page.locator(".facts").inner_text()
        assert re.search(r"if 1\s% of all were fakes, they could raise a share by", facts)
        refused = page.locator("#refused tbody tr")
        assert refused.count() == 1
        assert "From the future" in refused.first.inner_text()
        promised = page.locator("#guarantee")
        promised.get_by_text("403.43 : 1").wait_for()  # e^6, rounded up
        assert "Who sees what" in promised.inner_text()


def test_of_too_few_reports_it_says_only_how_many_are_missing(
    chromium: "Browser", collection: Collection
) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, FEW)
        page.get_by_text(
            "There are too few reports to say anything: 60 are missing."
        ).wait_for()
        assert page.locator(".rows").count() == 0
        assert part(pixels(page), look()["light"]["certain-4"]) == 0


@pytest.mark.slow
def test_new_reports_are_counted_at_once_and_answered_when_asked_again(
    chromium: "Browser", collection: Collection
) -> None:
    task = f"/tasks/{collection.trips.task.id}/progress"
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        open_tab(page, "Destinations")
        before = collection.address.ask("GET", task, role="analyst").json["reports"]
        collection.address.send(collection.trips, *[report(collection.trips) for _ in range(7)])
        page.get_by_text("7 reports came in since").wait_for(timeout=60_000)
        assert page.locator("#reports").inner_text() == f"{before + 7:,}"
        page.get_by_role("button", name="Work it out again").click()
        assert page.evaluate("document.activeElement.textContent") == "Destinations"
        told = page.locator(".facts dd").first
        told.get_by_text(f"{before + 7:,}", exact=True).wait_for(timeout=60_000)
        assert not page.get_by_role("button", name="Work it out again").is_visible()


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
        page.wait_for_timeout(1_000)
        image = pixels(page)
        assert part(image, look()["dark"]["certain-4"]) > 0.005
        assert part(image, look()["light"]["map"]) < 0.01


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


def test_tabs_and_rows_are_reached_by_keys(chromium: "Browser", collection: Collection) -> None:
    with seen(chromium, collection.url) as page:
        sign_in(page, TRIPS)
        assert page.evaluate("document.activeElement.id") == "task"
        open_tab(page, "Destinations")
        page.get_by_role("tab", name="Destinations").press("ArrowRight")
        flows = page.get_by_role("tab", name="Flows")
        assert flows.get_attribute("aria-selected") == "true"
        assert flows.evaluate("(each) => each === document.activeElement")


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
