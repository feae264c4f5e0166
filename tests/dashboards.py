"""How a test comes to see the dashboard of a task."""

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
    """Another task, by its purpose."""
    page.locator("#task").select_option(label=task)


def open_tab(page: "Page", key: str) -> None:
    """By the key of its view: ends, flows, starts, density, hotspots or journeys."""
    page.locator(f"#tab-{key}").click()
    drawn(page)
