"""The map fills its frame, in whatever order frame, answers and theme change."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from browsers import DESK, PHONE, drawn, expect, part, pixels, seen
from city import city_bundle, send_city
from collecting import Process, prepared
from dashboards import choose, open_tab, sign_in

from nomadp.collector.connections import open_store
from nomadp.theme import theme

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

TRIPS, ATLAS = "From where to where people commute", "Where buses are missing"
WATCHED = """(() => {
  const sizeOf = ({ clientWidth, clientHeight }) => `${clientWidth} by ${clientHeight}`;
  const known = new WeakSet();
  globalThis.looks = { painted: 0, drawn: 0, wrong: [] };
  const look = (place, when) => {
    if (!place.isConnected) return; // of a task that was left
    const [canvas, frame] = [sizeOf(place.querySelector("canvas")), sizeOf(place)];
    looks[when] += 1;
    if (canvas !== frame) looks.wrong.push(`${when}: ${canvas} in ${frame}`);
  };
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const place = target.querySelector(".canvas");
      if (!known.has(place)) new ResizeObserver(() => look(place, "painted")).observe(place);
      known.add(place);
      if (target.dataset.drawn !== "no") look(place, "drawn");
    }
  }).observe(document, { subtree: true, attributeFilter: ["data-drawn"] });
})()"""
"""Looks whenever the map says that it is drawn, and before a frame of another size is painted:

observers are told in the order in which they were made, and this one is made after the map's.
"""
SHAKEN = """async () => {
  const { style } = document.querySelector(".map");
  for (let k = 0; k < 30; k += 1) {
    style.height = k % 2 ? "" : "340px";
    await new Promise(requestAnimationFrame);
  }
}"""
"""Another size with every frame, as when somebody drags the edge of a window."""


@pytest.fixture(scope="module")
def url(web: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a collector with two tasks that can be answered."""
    web("build")
    folder = tmp_path_factory.mktemp("collector")
    store = str(folder / "collector.sqlite")
    bundles = city_bundle("trips", TRIPS), city_bundle("atlas", ATLAS)
    prepared(open_store(store), *bundles)
    with Process(store, folder) as process:
        for bundle in bundles:
            send_city(process.address, bundle, 200)
        yield f"http://127.0.0.1:{process.address.port}"


def wrong(page: "Page") -> list[str]:
    """Where the map was of another size than its frame; it must have been looked at."""
    looks = page.evaluate("looks")
    assert looks["painted"] > 1
    assert looks["drawn"] > 1
    found: list[str] = looks["wrong"]
    return found


def test_the_map_fills_its_frame_after_every_change(chromium: "Browser", url: str) -> None:
    with seen(chromium, url, script=WATCHED) as page:
        sign_in(page, TRIPS)
        for name in ("flows", "starts", "ends"):
            open_tab(page, name)
        for task in (ATLAS, TRIPS):
            choose(page, task)
            drawn(page)
        for screen, theme in ((PHONE, "dark"), (DESK, "light"), (PHONE, "light")):
            page.set_viewport_size(screen)  # type: ignore[arg-type]
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            drawn(page)
        assert wrong(page) == []


def test_the_map_never_lags_behind_a_frame_that_is_dragged(
    chromium: "Browser", url: str
) -> None:
    with seen(chromium, url, script=WATCHED) as page:
        sign_in(page, TRIPS)
        open_tab(page, "flows")
        page.evaluate(SHAKEN)
        drawn(page)
        assert page.evaluate("looks.painted") > 20
        assert wrong(page) == []


def test_maps_of_tasks_that_were_left_are_let_go(chromium: "Browser", url: str) -> None:
    with seen(chromium, url) as page:
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        sign_in(page, TRIPS)
        drawn(page)
        for task in (ATLAS, TRIPS) * 10:
            left = page.locator(".map").element_handle()
            assert left is not None
            choose(page, task)
            left.wait_for_element_state("hidden")
            page.locator(".map canvas").wait_for()
        drawn(page)
        page.emulate_media(color_scheme="dark")  # one that still listened would fail
        drawn(page)
        assert part(pixels(page), theme()["dark"]["map"]) > 0.1
        assert [each for each in said if "context" in each.lower()] == []


@pytest.mark.slow
@pytest.mark.parametrize(("task", "tab"), [(TRIPS, "flows"), (ATLAS, "journeys")])
def test_a_map_that_was_resized_is_the_one_that_was_opened_so(
    chromium: "Browser", url: str, task: str, tab: str
) -> None:
    found = []
    for screens in ([PHONE], [DESK, PHONE]):
        with seen(chromium, url, viewport=screens[0]) as page:
            sign_in(page, task)
            open_tab(page, tab)
            expect(page.locator(".rows")).to_be_visible()
            page.set_viewport_size(screens[-1])  # type: ignore[arg-type]
            drawn(page)
            found.append(pixels(page))
    assert (abs(found[0] - found[1]).max(axis=-1) > 40).mean() < 0.001
