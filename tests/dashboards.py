"""Open the dashboard of a task in a browser."""

from typing import TYPE_CHECKING

from browsers import drawn
from collecting import TOKENS

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["choose", "open_tab", "sign_in"]


def sign_in(page: "Page", task: str, token: str = TOKENS["analyst"]) -> None:
    page.locator("#token").fill(token)
    page.keyboard.press("Enter")
    choose(page, task)


def choose(page: "Page", task: str) -> None:
    """Select a task by its purpose."""
    page.locator("#task").select_option(label=task)


def open_tab(page: "Page", key: str) -> None:
    """Open the tab of a view: ends, flows, starts, density, hotspots or journeys."""
    page.locator(f"#tab-{key}").click()
    drawn(page)
