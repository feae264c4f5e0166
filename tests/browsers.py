"""Shared by browser tests: start a browser, inspect a page, and serve the client."""

import io
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        CDPSession,
        Locator,
        LocatorAssertions,
        Page,
        Request,
        Route,
    )

__all__ = [
    "DESK",
    "FLAGS",
    "JOURNEY",
    "PATIENCE_MS",
    "PHONE",
    "Visit",
    "drawn",
    "expect",
    "fresh",
    "main_thread_s",
    "measured",
    "part",
    "pixels",
    "seen",
    "serious",
    "serve_client",
    "too_small",
    "until",
    "without_numbers",
]

FLAGS = [
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--use-angle=swiftshader",  # maps need WebGL, and a test machine has no graphics
    "--enable-unsafe-swiftshader",
]
PATIENCE_MS = 90_000
"""A page may take so long on a machine that is slow and busy; one that fails takes as long."""
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
JOURNEY = [{"lat": 41.80123456, "lng": -87.60654321}, {"lat": 41.9, "lng": -87.7}]
WEB = Path(__file__).resolve().parents[1] / "web"
DIST, AXE = WEB / "client" / "dist", WEB / "node_modules" / "axe-core" / "axe.min.js"
KINDS = {".js": "text/javascript", ".html": "text/html"}
TOO_SMALL = """[...document.querySelectorAll("button, select, input, summary, label.button")]
  .filter((each) => each.offsetParent && !each.classList.contains("unseen"))
  .map((each) => [each.outerHTML.slice(0, 120), each.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24).map(([text]) => text)"""
NEXT_FRAME = "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
FOUND = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact))
  .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`)"""


def expect(found: "Locator") -> "LocatorAssertions":
    """Playwright's assertions on a part of the page, retried until they hold.

    A page updates asynchronously, so a value that is read only once may be outdated.
    """
    from playwright.sync_api import expect as expected  # may not be installed

    expected.set_options(timeout=PATIENCE_MS)
    return expected(found)


def until(page: "Page", holds: Callable[[], object]) -> None:
    """Wait until a condition holds. (The page's policy forbids wait_for_function.)"""
    deadline_s = time.monotonic() + PATIENCE_MS / 1000
    while not holds():
        assert time.monotonic() < deadline_s, "what was waited for does not hold"
        page.wait_for_timeout(50)


def without_numbers(text: str) -> str:
    """The text with N for every number: draws and dates differ between runs."""
    return re.sub(r"\d[\d,.:-]*(?<=\d)", "N", text)


def drawn(page: "Page", state: str = "yes") -> None:
    """Wait until the map is complete and at rest; the state is "nothing" without an estimate.

    A change of the window or the theme takes effect in the next frame; until then, the map
    still reports its old state.
    """
    page.evaluate(NEXT_FRAME)
    page.wait_for_selector(f".map[data-drawn={state}]")


def fresh(browser: "Browser", **how: Any) -> "BrowserContext":
    """A new browser context, with the long timeout of these tests."""
    context = browser.new_context(**{"viewport": DESK, **how})
    context.set_default_timeout(PATIENCE_MS)
    return context


class Visit:
    """A tab that shows a file, with its requests and everything that went wrong."""

    def __init__(self, browser: "Browser", file: Path, **context: Any) -> None:
        self.context = fresh(browser, **{"reduced_motion": "reduce", **context})
        self.page: Page = self.context.new_page()
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: self.troubles.append("dialog"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())


def serve_client(route: "Route") -> None:
    """Answer requests to /client/ with the client's files; they never reach the collector."""
    path = DIST / route.request.url.rpartition("/client/")[2]
    body = b"<!doctype html>" if path.name == "index.html" else path.read_bytes()
    route.fulfill(body=body, content_type=KINDS[path.suffix])


@contextmanager
def seen(
    browser: "Browser",
    url: str,
    expected: int | None = 0,
    asked: "list[Request] | None" = None,
    script: str = "",
    **how: Any,
) -> Iterator["Page"]:
    """Open a page; it must have the expected number of errors (None: any) and one origin.

    ``asked`` collects its requests, and those of other pages of this context. ``script`` runs
    before the page's own scripts.
    """
    context = fresh(browser, **how)
    context.add_init_script(script)
    page = context.new_page()
    origin = "/".join(url.split("/")[:3])
    wrong: list[str] = []
    requests: list[Request] = [] if asked is None else asked
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    context.on("request", lambda request: requests.append(request))
    try:
        page.goto(url)
        yield page
        if expected:  # the console may hear of it later than the page
            until(page, lambda: len(wrong) >= expected)
        assert expected is None or len(wrong) == expected, wrong
        assert [each.url for each in requests if not each.url.startswith(origin)] == []
    finally:
        context.close()


def pixels(page: "Page") -> Any:
    """The pixels of the map, from a screenshot."""
    shot = page.locator(".map").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def part(image: Any, colour: str, near: int = 12) -> float:
    """The share of an image that has this colour."""
    wanted = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return float((np.abs(image - wanted).max(axis=-1) <= near).mean())


def measured(page: "Page") -> "CDPSession":
    """Start measuring a page, for `main_thread_s`."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


def main_thread_s(session: "CDPSession") -> float:
    """Processor time of the page's main thread since it was opened, in seconds."""
    found = session.send("Performance.getMetrics")["metrics"]
    return float({each["name"]: each["value"] for each in found}["TaskDuration"])


def too_small(page: "Page") -> list[str]:
    """Controls that are less than 24 pixels high or wide."""
    found: list[str] = page.evaluate(TOO_SMALL)
    return found


def serious(page: "Page") -> list[str]:
    """Serious accessibility problems that axe finds. (The policy forbids adding a script.)"""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(FOUND)
    return found
