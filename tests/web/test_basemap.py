"""The dashboard's map with a basemap beneath, in a real browser and under the real policy."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from basemaps import CREDIT, write_basemap, write_city_basemap
from browsers import drawn, expect, part, pixels, seen
from city import city_bundle
from collecting import TOKENS, Process, prepared

from nomadp.collector.connections import open_store
from nomadp.theme import theme

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

pytestmark = pytest.mark.browser

GREEN = "#30a050"
SATURATION, OPACITY = 0.6, 0.5
"""As basemap.ts paints pictures: greyer by this much, and through half of the ground."""


@pytest.fixture
def collecting(web: Callable[..., None], tmp_path: Path) -> Callable[..., Process]:
    """``nomadp serve`` with one task, no reports, and what else it is told."""
    web("build")
    store = str(tmp_path / "collector.sqlite")
    prepared(open_store(store), city_bundle("starts", "Where people set out"))
    return lambda *arguments: Process(store, tmp_path, [str(each) for each in arguments])


def url_of(process: Process, path: str = "/") -> str:
    return f"http://127.0.0.1:{process.address.port}{path}"


def sign_in(page: "Page") -> None:
    page.locator("#token").fill(TOKENS["analyst"])
    page.keyboard.press("Enter")
    drawn(page, "nothing")


def asked_tiles(asked: "list[Request]") -> list[str]:
    return [each.url for each in asked if "basemap" in each.url]


def painted(colour: str, ground: str) -> str:
    tile, below = (
        np.array([int(c[k : k + 2], 16) for k in (1, 3, 5)]) for c in (colour, ground)
    )
    grey = tile + (tile.mean() - tile) * SATURATION
    mixed = np.rint(below + (grey - below) * OPACITY).astype(int)
    return "#" + "".join(f"{each:02x}" for each in mixed)


@pytest.mark.slow
def test_a_picture_lies_beneath_the_map_and_its_maker_is_named(
    chromium: "Browser", collecting: Callable[..., Process], tmp_path: Path
) -> None:
    basemap = write_basemap(tmp_path / "city.pmtiles", GREEN)
    asked: list[Any] = []
    with (
        collecting("--basemap", basemap) as process,
        seen(chromium, url_of(process), asked=asked, color_scheme="light") as page,
    ):
        sign_in(page)
        image = pixels(page)
        expect(page.locator(".map .credit")).to_have_text(CREDIT)
    ground = theme()["light"]["map"]
    assert part(image, painted(GREEN, ground), near=4) > 0.6
    assert part(image, ground) < 0.2
    assert asked_tiles(asked)
    assert "failed" not in process.log.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_water_has_the_colour_of_the_palette(
    chromium: "Browser", collecting: Callable[..., Process], tmp_path: Path, mode: Any
) -> None:
    basemap = write_basemap(tmp_path / "city.pmtiles")
    with (
        collecting("--basemap", basemap) as process,
        seen(chromium, url_of(process), color_scheme=mode) as page,
    ):
        sign_in(page)
        image = pixels(page)
    assert part(image, theme()[mode]["water"], near=3) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_streets_of_a_whole_city_are_no_patches_and_come_nearer_by(
    chromium: "Browser", collecting: Callable[..., Process], tmp_path: Path, mode: Any
) -> None:
    basemap = write_city_basemap(tmp_path / "city.pmtiles")
    palette = theme()[mode]
    with (
        collecting("--basemap", basemap) as process,
        seen(chromium, url_of(process), color_scheme=mode) as page,
    ):
        sign_in(page)
        far = pixels(page)
        for _ in range(4):
            page.locator("[data-action=zoom-in]").click()
            drawn(page, "nothing")
        near = pixels(page)
    assert part(far, palette["water"], near=2) > 0.003
    assert part(far, palette["street"], near=2) < 0.002
    assert part(far, palette["map"], near=2) > 0.6
    assert part(near, palette["map"], near=2) < part(far, palette["map"], near=2)


@pytest.mark.slow
def test_without_one_nothing_is_asked_for(
    chromium: "Browser", collecting: Callable[..., Process]
) -> None:
    asked: list[Any] = []
    with collecting() as process, seen(chromium, url_of(process), asked=asked) as page:
        sign_in(page)
        assert part(pixels(page), theme()["light"]["map"]) > 0.6
        assert page.locator(".credit").count() == 0
    assert asked_tiles(asked) == []


def test_the_contributors_page_never_asks_for_tiles(
    chromium: "Browser", collecting: Callable[..., Process], tmp_path: Path
) -> None:
    basemap = write_basemap(tmp_path / "city.pmtiles", GREEN)
    path = f"/contribute/{city_bundle('starts', 'Where people set out').task.id}"
    asked: list[Any] = []
    with (
        collecting("--basemap", basemap) as process,
        seen(chromium, url_of(process, path), asked=asked) as page,
    ):
        page.locator("[data-action=draw]").click()
        drawn(page)
        page.locator("[data-action=zoom-in]").click()
        drawn(page)
    assert asked_tiles(asked) == []


@pytest.mark.slow
def test_a_file_that_breaks_later_leaves_the_answers_as_they_are(
    chromium: "Browser", collecting: Callable[..., Process], tmp_path: Path
) -> None:
    basemap = write_basemap(tmp_path / "city.pmtiles", GREEN)
    with collecting("--basemap", basemap) as process:
        basemap.write_bytes(b"no map any more")
        with seen(chromium, url_of(process)) as page:
            sign_in(page)
            assert part(pixels(page), theme()["light"]["map"]) > 0.6
