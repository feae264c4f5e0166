"""The page for those who do not see it, have no mouse, or have a thumb: in a real Chromium."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsers import AXE, DESK, PHONE, seen, serious, too_small

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.skipif(not AXE.is_file(), reason="axe is not here; python3 dev.py web brings it")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_nobody_is_kept_out(
    browser: "Browser", page_file: Path, theme: str, screen: Any
) -> None:
    with seen(browser, page_file.as_uri(), viewport=screen, color_scheme=theme) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        assert serious(page) == []
        assert too_small(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_verdicts_are_on_the_screen_of_a_phone(browser: "Browser", page_file: Path) -> None:
    with seen(browser, page_file.as_uri(), viewport=PHONE) as page:
        last = page.locator(".audit-table tbody td:last-child").first.bounding_box()
        assert last is not None
        assert last["x"] + last["width"] <= PHONE["width"]
