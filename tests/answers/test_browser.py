"""The page of answers as a person meets it, in a real Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsers import Visit, expect

from nomadp.answers import Estimate
from nomadp.answers.picture import write_map
from nomadp.locations import LocationSet

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def file(
    hotspots: Estimate,
    density: Estimate,
    flows: Estimate,
    places: LocationSet,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    path = tmp_path_factory.mktemp("page") / "map.html"
    return write_map(path, [hotspots, density, flows], places)


@pytest.fixture
def visit(browser: "Browser", file: Path) -> Iterator[Visit]:
    visited = Visit(browser, file)
    yield visited
    visited.context.close()
    assert visited.troubles == []


def test_it_opens_offline_and_loads_nothing(visit: Visit, file: Path) -> None:
    expect(visit.page.locator("h1")).not_to_be_empty()
    assert visit.requests == [file.as_uri()]


def test_rows_and_marks_highlight_each_other(visit: Visit) -> None:
    band = visit.page.locator(".band").nth(1)
    row = band.locator("tbody tr").first
    row.hover()
    number = row.get_attribute("data-row")
    expect(band.locator(".mark.chosen")).to_have_attribute("data-row", number or "")
    band.locator(f".mark[data-row='{number}']").hover()
    expect(row).to_contain_class("chosen")
    expect(visit.page.locator("#tip")).to_contain_text(row.locator("th").inner_text())


def test_the_map_moves_by_keys_and_buttons_and_comes_back(visit: Visit) -> None:
    scene = visit.page.locator(".scene").first
    home = scene.get_attribute("viewBox")
    scene.focus()
    visit.page.keyboard.press("+")
    visit.page.keyboard.press("ArrowLeft")
    assert scene.get_attribute("viewBox") != home
    visit.page.keyboard.press("0")
    assert [float(k) for k in (scene.get_attribute("viewBox") or "").split()] == [
        float(k) for k in (home or "").split()
    ]
    visit.page.locator("[data-zoom=in]").first.click()
    assert scene.get_attribute("viewBox") != home


def test_every_control_can_be_touched_and_reached(visit: Visit) -> None:
    for button in visit.page.locator("button").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24
        assert button.get_attribute("aria-label")
    for scene in visit.page.locator(".scene").all():
        assert scene.get_attribute("role") == "img"
        assert len(scene.get_attribute("aria-label") or "") > 20
    stops = set()
    for _ in range(20):
        visit.page.keyboard.press("Tab")
        stops.add(visit.page.evaluate("document.activeElement.getAttribute('class') || 'none'"))
    assert {"skip", "scene", "scroll"} <= stops


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_small_screen_scrolls_in_one_direction_only(
    width: int, browser: "Browser", file: Path
) -> None:
    visited = Visit(browser, file, viewport={"width": width, "height": 800}, is_mobile=True)
    assert visited.page.evaluate("document.documentElement.scrollWidth") == width
    visited.context.close()
    assert visited.troubles == []


def test_dark_and_light_are_different(browser: "Browser", file: Path) -> None:
    looks = []
    for scheme in ("light", "dark"):
        visited = Visit(browser, file, color_scheme=scheme)
        fill = "getComputedStyle(document.querySelector('.certain-1')).fill"
        ground = "getComputedStyle(document.querySelector('.scene')).backgroundColor"
        looks.append((visited.page.evaluate(fill), visited.page.evaluate(ground)))
        visited.context.close()
    assert looks[0][0] != looks[1][0]
    assert looks[0][1] != looks[1][1]


def test_without_a_script_the_map_and_the_table_are_there(
    browser: "Browser", file: Path
) -> None:
    visited = Visit(browser, file, java_script_enabled=False)
    assert visited.page.locator(".scene").count() == 3
    assert visited.page.locator("tbody tr").count() > 40
    visited.context.close()
