"""Makes the pictures of the README and of the pages here: python3 dev.py screenshots.

They are of the demonstration as it runs: its collector's dashboard and contributor's page, and
its own page, in a real Chromium, on a desk and on a phone, by day and by night.
"""

import io
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.request import Request, urlopen

from PIL import Image
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).resolve().parent / "images"
MOST_BYTES = 200_000
COLOURS = 96
DESK, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
FLAGS = [
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--use-angle=swiftshader",  # the dashboard's map needs WebGL
    "--enable-unsafe-swiftshader",
]
WAIT_MS = 90_000
DRAWN = ".map[data-drawn=yes]"
NEXT_FRAME = "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
ALONG = ((0.44, 0.4), (0.52, 0.53), (0.6, 0.6))
PREVIEWS = 4
"""A journey to be drawn, as shares of the map's width and height."""


class Shot(NamedTuple):
    """One picture: where, on which screen and in which theme, and how to get there."""

    name: str
    kind: str
    screen: dict[str, int]
    theme: str
    prepare: Callable[["Page", dict[str, Any]], None]


def dashboard(tab: str) -> Callable[["Page", dict[str, Any]], None]:
    def prepare(page: "Page", found: dict[str, Any]) -> None:
        page.locator("#token").fill(found["analyst_token"])
        page.keyboard.press("Enter")
        page.locator(f"#tab-{tab}").click()
        drawn(page)
        show(page, ".tabs", 24)  # the whole map, and what stands beside it
        drawn(page)

    return prepare


def contribute(page: "Page", found: dict[str, Any]) -> None:
    """A journey is drawn, and what would be sent of it is looked at."""
    drawn(page)
    page.locator("[data-action=draw]").click()
    canvas = page.locator(".map canvas")
    width, height = canvas.evaluate("(each) => [each.clientWidth, each.clientHeight]")
    for x, y in ALONG:
        canvas.click(position={"x": x * width, "y": y * height})
    page.locator("[data-action=use-drawn]").click()
    page.locator("[data-action=preview]").click()
    for number in range(1, PREVIEWS):
        page.locator(f"[data-drawn='{number}']").wait_for()
        page.locator("[data-action=draw-again]").click()
    page.locator(f"[data-drawn='{PREVIEWS}']").wait_for()
    page.locator("#explained .figure").wait_for()
    drawn(page)
    show(page, ".contribute .steps", 74)


def journey(page: "Page", found: dict[str, Any]) -> None:
    """As it opens."""


def maps(page: "Page", found: dict[str, Any]) -> None:
    show(page, "#compare", 0)


def gathered(page: "Page", found: dict[str, Any]) -> None:
    page.check("input[name=view][value=flows]", force=True)
    show(page, "#views-title", 70)


def drawn(page: "Page") -> None:
    """Waits for the map; what it says before the next frame is of before."""
    page.evaluate(NEXT_FRAME)
    page.wait_for_selector(DRAWN)


def show(page: "Page", part: str, above_px: int) -> None:
    """Scroll until a part of the page is so far from the top."""
    below = f"(node) => scrollTo(0, node.getBoundingClientRect().top + scrollY - {above_px})"
    page.locator(part).evaluate(below)  # at once, since motion is reduced


SHOTS = [
    Shot("dashboard", "dashboard", DESK, "light", dashboard("ends")),
    Shot("dashboard-dark", "dashboard", DESK, "dark", dashboard("ends")),
    Shot("dashboard-phone", "dashboard", PHONE, "dark", dashboard("ends")),
    Shot("contribute", "contribute", DESK, "light", contribute),
    Shot("contribute-dark", "contribute", DESK, "dark", contribute),
    Shot("demo", "page", DESK, "light", journey),
    Shot("demo-dark", "page", DESK, "dark", journey),
    Shot("demo-collector", "page", DESK, "light", gathered),
    Shot("demo-phone", "page", PHONE, "light", maps),
]


@contextmanager
def demonstration(folder: Path) -> Iterator[dict[str, Any]]:
    """The demo, until it is left: what it printed."""
    command = [sys.executable, "-m", "nomadp", "demo", "--json", "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        text = ""
        for line in process.stdout or ():
            text += line
            if line == "}\n":
                break
        yield json.loads(text)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def taken(browser: "Browser", shot: Shot, found: dict[str, Any]) -> Path:
    is_phone = shot.screen == PHONE
    context = browser.new_context(
        viewport=shot.screen,  # type: ignore[arg-type]
        color_scheme=shot.theme,  # type: ignore[arg-type]
        device_scale_factor=2 if is_phone else 1.5,
        is_mobile=is_phone,
        has_touch=is_phone,
        reduced_motion="reduce",
    )
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto(found[shot.kind])
    shot.prepare(page, found)
    content = page.screenshot()
    context.close()
    return kept(shot.name, content)


def kept(name: str, content: bytes) -> Path:
    """Few colours, since paper and ink have few: a picture stays small."""
    path = IMAGES / f"{name}.png"
    few = Image.open(io.BytesIO(content)).convert("RGB").quantize(COLOURS, dither=0)
    few.save(path, optimize=True)
    size = path.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{path.name} must have at most {MOST_BYTES:,} bytes, and has {size:,}")
    print(f"{path.relative_to(IMAGES.parent.parent)}: {size:,} bytes")
    return path


def contributors_page(found: dict[str, Any]) -> str:
    """Of the task that asks for whole journeys."""
    signed = {"authorization": f"Bearer {found['analyst_token']}"}
    with urlopen(Request(f"{found['collector']}/tasks", headers=signed)) as reply:
        tasks = json.load(reply)["tasks"]
    task = next(each["task_id"] for each in tasks if each["mechanism"] == "atlas")
    return f"{found['collector']}/contribute/{task}"


def main(names: list[str]) -> int:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("screenshots need a Chromium (Debian's package chromium), and there is none")
    wanted = [shot for shot in SHOTS if not names or shot.name in names]
    with tempfile.TemporaryDirectory() as folder, demonstration(Path(folder)) as found:
        if found["dashboard"] is None:
            sys.exit("screenshots need the dashboard; build it with: python3 dev.py web")
        found["page"] = Path(found["page"]).as_uri()
        found["contribute"] = contributors_page(found)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
            for shot in wanted:
                taken(browser, shot, found)
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
