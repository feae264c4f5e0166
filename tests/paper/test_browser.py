"""The report as a person meets it, in a real Chromium."""

from pathlib import Path
from typing import TYPE_CHECKING

import browsers
import pytest
from browsers import expect, until

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Visit(browsers.Visit):
    def paint(self, selector: str, name: str) -> str:
        return str(
            self.page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{name}")
        )


@pytest.fixture
def report(written: dict[str, Path]) -> Path:
    return written["report.html"]


def test_opens_from_a_file_without_a_word_on_the_console(
    browser: "Browser", report: Path
) -> None:
    visit = Visit(browser, report)
    expect(visit.page.locator("h1")).to_be_visible()
    assert visit.requests == [report.as_uri()]
    expect(visit.page.locator("figure svg")).to_have_count(13)
    visit.context.close()
    assert visit.troubles == []


def test_figures_are_drawn_in_their_colours_and_follow_the_dark(
    browser: "Browser", report: Path
) -> None:
    background, line = {}, {}
    for scheme in ("light", "dark"):
        visit = Visit(browser, report, color_scheme=scheme)
        background[scheme] = visit.paint("#ne figure svg path", "fill")
        line[scheme] = visit.paint('#ne figure [stroke="#0072b2"]', "stroke")
        visit.context.close()
        assert visit.troubles == []
    assert background == {"light": "rgb(250, 248, 243)", "dark": "rgb(18, 22, 27)"}
    assert line == {"light": "rgb(0, 114, 178)", "dark": "rgb(86, 180, 233)"}


def test_no_figure_runs_out_of_its_place(browser: "Browser", report: Path) -> None:
    visit = Visit(browser, report)
    wide = visit.page.evaluate(
        "[...document.querySelectorAll('figure')].filter(f => f.scrollWidth > f.clientWidth)"
        ".length"
    )
    assert wide == 0
    visit.context.close()


def test_words_of_a_figure_stay_inside_it(browser: "Browser", report: Path) -> None:
    """Text is drawn with the page's font, which is not the one it was measured with."""
    visit = Visit(browser, report)
    outside = visit.page.evaluate(
        """() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
          const box = svg.getBoundingClientRect();
          return [...svg.querySelectorAll("text")].filter((text) => {
            const own = text.getBoundingClientRect();
            return own.left < box.left - 1 || own.right > box.right + 1;
          }).map((text) => text.textContent);
        })"""
    )
    assert outside == []
    visit.context.close()


def test_a_phone_scrolls_the_page_in_one_direction_only(
    browser: "Browser", report: Path
) -> None:
    visit = Visit(browser, report, viewport={"width": 390, "height": 844}, is_mobile=True)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    visit.context.close()


def test_numbers_open_below_their_figure(browser: "Browser", report: Path) -> None:
    visit = Visit(browser, report)
    table = visit.page.locator("#ne details table").first
    expect(table).to_be_hidden()
    visit.page.locator("#ne summary").click()
    expect(table).to_be_visible()
    visit.context.close()


def test_contents_lead_to_their_sections(browser: "Browser", report: Path) -> None:
    visit = Visit(browser, report)
    visit.page.locator("nav a[href='#table2']").click()
    until(visit.page, lambda: visit.page.evaluate("location.hash") == "#table2")
    heading, top = visit.page.locator("#table2"), "e => e.getBoundingClientRect().top"
    until(visit.page, lambda: -1 <= heading.evaluate(top) < 100)  # it scrolls there
    visit.context.close()


def test_a_phone_shows_verdicts_and_whole_hashes(browser: "Browser", report: Path) -> None:
    visit = Visit(browser, report, viewport={"width": 390, "height": 844}, is_mobile=True)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    for cells in (".claims td:nth-child(3)", ".datasets td.hash"):
        found = visit.page.locator(cells)
        assert found.count() > 0
        for k in range(found.count()):
            box = found.nth(k).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
    hashes = visit.page.locator(".datasets td.hash").all_inner_texts()
    assert {len(each) for each in hashes} == {64}
    visit.context.close()
    assert visit.troubles == []
