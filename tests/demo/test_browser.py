"""The page as a person meets it, in a real Chromium."""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import browsers
import numpy as np
import pytest
from browsers import DESK, PHONE, expect
from PIL import Image

from nomadp.datasets.city import City
from nomadp.demo import render
from nomadp.demo.experiment import Findings
from nomadp.demo.payload import LABELS
from nomadp.locations import LocationSet
from nomadp.theme import theme

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Visit(browsers.Visit):
    def map(self, name: str) -> str:
        return str(
            self.page.evaluate(f"document.getElementById('map-{name}').toDataURL('image/png')")
        )

    def whole_city(self) -> None:
        self.page.focus("#map-true")
        self.page.keyboard.press("0")

    def choose(self, group: str, value: str) -> None:
        self.page.check(f"input[name={group}][value='{value}']", force=True)


@pytest.fixture
def visit(browser: "Browser", page_file: Path) -> Iterator[Visit]:
    visited = Visit(browser, page_file)
    yield visited
    visited.context.close()
    assert visited.troubles == []


def test_opens_from_a_file_without_a_word_on_the_console(visit: Visit, page_file: Path) -> None:
    assert visit.page.title().startswith("NomaDP")
    expect(visit.page.locator("h1")).to_be_visible()
    assert visit.requests == [page_file.as_uri()]


def test_another_journey_changes_both_maps_and_the_table(visit: Visit) -> None:
    before = visit.map("true"), visit.map("reported")
    visit.choose("journey", "1")
    after = visit.map("true"), visit.map("reported")
    assert before[0] != after[0]
    assert before[1] != after[1]
    expect(visit.page.locator("#journey-name")).to_have_text(re.compile(r"\b2\b.*\b6\b"))
    points = visit.page.evaluate("data.journeys[1].places.length")
    expect(visit.page.locator("#point-errors tr")).to_have_count(points)


def test_next_and_previous_lead_back(visit: Visit) -> None:
    start = visit.map("true")
    visit.page.click("#next")
    assert visit.map("true") != start
    visit.page.click("#previous")
    assert visit.map("true") == start


@pytest.mark.parametrize(("group", "value"), [("mechanism", "exp"), ("epsilon", "1")])
def test_another_mechanism_or_epsilon_changes_the_report_only(
    visit: Visit, group: str, value: str
) -> None:
    visit.whole_city()
    before = visit.map("true"), visit.map("reported")
    visit.choose(group, value)
    assert visit.map("true") == before[0]
    assert visit.map("reported") != before[1]


def test_drawing_again_changes_the_report_only(visit: Visit) -> None:
    visit.choose("mechanism", "exp")  # of a few journeys, ATLAS may report the same again
    visit.whole_city()
    before = visit.map("true"), visit.map("reported")
    visit.page.click("#redraw")
    assert visit.map("true") == before[0]
    assert visit.map("reported") != before[1]


def test_a_click_on_the_true_map_picks_the_journey_there(visit: Visit) -> None:
    visit.whole_city()
    spot = visit.page.evaluate(
        """() => {
          const canvas = document.getElementById("map-true");
          const own = new Set(data.journeys[0].places);
          const place = data.journeys[3].places.find((p) => !own.has(p));
          return new CityMap(canvas, () => {}).place(place);
        }"""
    )
    visit.page.locator("#map-true").click(position={"x": spot[0], "y": spot[1]})
    assert visit.page.evaluate("store.state.journey") != 0


def test_maps_move_together_from_the_keyboard(visit: Visit) -> None:
    visit.whole_city()
    before = visit.map("true"), visit.map("reported")
    visit.page.focus("#map-true")
    visit.page.keyboard.press("+")
    visit.page.keyboard.press("ArrowLeft")
    assert visit.map("true") != before[0]
    assert visit.map("reported") != before[1]
    visit.page.keyboard.press("0")
    assert (visit.map("true"), visit.map("reported")) == before


def test_arrow_keys_choose_among_mechanisms(visit: Visit) -> None:
    visit.page.focus("input[name=mechanism][value=atp]")
    visit.page.keyboard.press("ArrowLeft")
    assert visit.page.evaluate("store.state.mechanism") == "tp"


@pytest.mark.parametrize("chart", ["error", "range"])
def test_charts_draw_every_mechanism_and_both_floors(visit: Visit, chart: str) -> None:
    drawn = visit.page.locator(f"#chart-{chart} [data-series]")
    expect(drawn).to_have_count(6)
    names = drawn.evaluate_all("(all) => all.map(({ dataset }) => dataset.series)")
    assert set(names) == {"exp", "tp", "atp", "atlas", "constant", "uniform"}
    figure = visit.page.locator(f"#chart-{chart} svg")
    words = figure.get_attribute("aria-label") or ""
    assert all(LABELS[name] in words for name in ("exp", "tp", "atp", "atlas"))


def test_budget_bars_follow_the_length(visit: Visit) -> None:
    visit.page.locator("#length").fill("2")
    expect(visit.page.locator("#budget .bar-row")).to_have_count(4)
    words = re.compile(r"^TP\b.*\b3/8 ε = 1\.5\b")
    first = visit.page.locator(".segment-direction").first
    expect(first).to_have_attribute("aria-label", words)
    expect(visit.page.locator("#shares-caption")).to_contain_text(re.compile(r"\b2\b"))


def test_the_promise_follows_epsilon_and_is_rounded_up(visit: Visit) -> None:
    expect(visit.page.locator("#odds")).to_have_text("54.6")
    visit.choose("epsilon", "1")
    expect(visit.page.locator("#odds")).to_have_text("2.72")


def test_a_phone_scrolls_in_one_direction_only(browser: "Browser", page_file: Path) -> None:
    visited = Visit(browser, page_file, viewport={"width": 390, "height": 844}, is_mobile=True)
    assert visited.page.evaluate("document.documentElement.scrollWidth") == 390
    visited.context.close()
    assert visited.troubles == []


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_maps_open_on_the_journey_and_its_report(
    browser: "Browser", page_file: Path, screen: dict[str, int]
) -> None:
    visited = Visit(browser, page_file, viewport=screen)
    for journey in range(4):
        visited.choose("journey", str(journey))
        seen, zoom = visited.page.evaluate(
            """() => {
              const map = new CityMap(byId("map-true"), () => {});
              const { x, y } = data.places;
              const own = [...data.journeys[store.state.journey].places,
                ...reportOf(store.state).places];
              return [own.every((p) => inSight(map, [x[p], y[p]])), view.zoom];
            }"""
        )
        assert seen
        assert zoom >= 1
    visited.context.close()
    assert visited.troubles == []


def test_a_map_that_was_moved_stays_until_another_journey_is_chosen(visit: Visit) -> None:
    visit.whole_city()
    visit.choose("mechanism", "exp")
    assert visit.page.evaluate("view.zoom") == 1
    visit.choose("journey", "2")
    assert visit.page.evaluate("view.zoom") > 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_river_and_streets_are_drawn_beneath(
    browser: "Browser", page_file: Path, scheme: str
) -> None:
    visited = Visit(browser, page_file, color_scheme=scheme)
    visited.whole_city()
    shot = visited.page.locator("#map-true").screenshot()
    image = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)
    for name in ("water", "street"):
        hue = theme()[scheme][name]
        wanted = [int(hue[k : k + 2], 16) for k in (1, 3, 5)]
        assert (np.abs(image - wanted).max(axis=-1) <= 2).mean() > 0.001
    visited.context.close()


def test_the_collectors_view_shows_one_question_at_a_time(visit: Visit) -> None:
    names = ["density", "flows", "hotspots", "trajectories"]
    for name in names:
        visit.choose("view", name)
        for each in names:
            view = visit.page.locator(f"#view-{each}")
            expect(view).to_be_visible(visible=each == name)
        expect(visit.page.locator(f"#view-{name} svg.scene")).to_have_count(2)
    marks = visit.page.locator("#view-density .areas .mark").first
    fill = marks.evaluate("(node) => getComputedStyle(node).fill")
    assert fill != "rgb(0, 0, 0)"


def test_on_a_phone_the_controls_stay_in_reach(browser: "Browser", page_file: Path) -> None:
    visited = Visit(browser, page_file, viewport=PHONE, is_mobile=True, has_touch=True)
    for part in ("#compare", "#utility-title", "footer"):
        visited.page.locator(part).scroll_into_view_if_needed()
        for control in ("#choose-mechanism", "#choose-epsilon", "#next", "#redraw"):
            box = visited.page.locator(control).bounding_box()
            assert box is not None
            assert PHONE["height"] / 2 < box["y"] < PHONE["height"] - 24
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"]
    visited.context.close()


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_everything_to_touch_is_large_enough(
    browser: "Browser", page_file: Path, screen: dict[str, int]
) -> None:
    visited = Visit(browser, page_file, viewport=screen)
    small = visited.page.evaluate(
        """() => [...document.querySelectorAll(
            "button, summary, label.option, .toggles label, input[type=range]")]
          .map((node) => [node.textContent || node.id, node.getBoundingClientRect()])
          .filter(([, box]) => box.width && (box.width < 24 || box.height < 24))
          .map(([name, box]) => `${name.trim()}: ${box.width} x ${box.height}`)"""
    )
    assert small == []
    visited.context.close()


def test_dark_and_light_are_different_and_maps_are_crisp(
    browser: "Browser", page_file: Path
) -> None:
    looks = {}
    for scheme in ("light", "dark"):
        visited = Visit(browser, page_file, color_scheme=scheme, device_scale_factor=2)
        looks[scheme] = visited.page.evaluate("getComputedStyle(document.body).backgroundColor")
        pixels, points = visited.page.evaluate(
            "(({ width, clientWidth }) => [width, clientWidth])(byId('map-true'))"
        )
        assert pixels == 2 * points
        visited.context.close()
    assert looks["light"] != looks["dark"]


def test_names_of_places_are_shown_and_never_run(
    browser: "Browser", findings: Findings, tmp_path: Path
) -> None:
    city = findings.study.city
    names = [f"</script><img src=x onerror=alert({k})>" for k in range(len(city.locations))]
    hostile = City(
        LocationSet.from_columns(names, city.locations.lat, city.locations.lng),
        city.trajectories,
    )
    file = tmp_path / "hostile.html"
    study = replace(findings.study, city=hostile)
    file.write_text(render(replace(findings, study=study)), encoding="utf-8")
    visited = Visit(browser, file)
    expect(visited.page.locator("#point-errors")).to_contain_text("<img src=x onerror=alert(")
    assert visited.page.locator("img").count() == 0
    visited.context.close()
    assert visited.troubles == []
