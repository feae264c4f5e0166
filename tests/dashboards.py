"""How a test comes to see the dashboard of a task."""

from typing import TYPE_CHECKING

from browsers import drawn
from collecting import TOKENS

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["open_tab", "sign_in"]


def sign_in(page: "Page", task: str, token: str = TOKENS["analyst"]) -> None:
    page.get_by_label("Analyst's token").fill(token)
    page.keyboard.press("Enter")
    page.get_by_label("Task", exact=True).select_option(label=task)


def open_tab(page: "Page", name: str) -> None:
    page.get_by_role("tab", name=name).click()
    drawn(page)
