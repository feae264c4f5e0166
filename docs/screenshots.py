"""Take the screenshots in the README and the documentation: python3 dev.py screenshots.

They show the running demo in Chromium: the dashboard, the contributor's page and the demo's own
page, in sizes of a desktop and a phone, in light and dark themes.
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
BYTES_MAX = 220_000
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
JOURNEY = ((0.44, 0.4), (0.52, 0.53), (0.6, 0.6))
"""The points of the drawn journey, as fractions of the map's width and height."""
PREVIEWS = 4


class Shot(NamedTuple):
    """One screenshot: its page, screen size and theme, and how to prepare the page."""

    name: str
    kind: str
    screen: dict[str, int]
    theme: str
    prepare: Callable[["Page", dict[str, Any]], None]


def dashboard(tab: str) -> Callable[["Page", dict[str, Any]], None]:
    def prepare(page: "Page", demo: dict[str, Any]) -> None:
        page.locator("#token").fill(demo["analyst_token"])
        page.keyboard.press("Enter")
        page.locator(f"#tab-{tab}").click()
        drawn(page)
        show(page, ".tabs", 24)  # the whole map and the table beside it
        drawn(page)

    return prepare


def contribute(page: "Page", demo: dict[str, Any]) -> None:
    """Draw a journey and look at previews of its report."""
    drawn(page)
    page.locator("[data-action=draw]").click()
    canvas = page.locator(".map canvas")
    width, height = canvas.evaluate("(node) => [node.clientWidth, node.clientHeight]")
    for x, y in JOURNEY:
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


def journey(page: "Page", demo: dict[str, Any]) -> None:
    """The page as it opens."""


def maps(page: "Page", demo: dict[str, Any]) -> None:
    show(page, "#compare", 0)


def gathered(page: "Page", demo: dict[str, Any]) -> None:
    page.check("input[name=view][value=flows]", force=True)
    show(page, "#views-title", 70)


def drawn(page: "Page") -> None:
    """Wait for the map. Its state is only up to date after the next frame."""
    page.evaluate(NEXT_FRAME)
    page.wait_for_selector(DRAWN)


def show(page: "Page", part: str, above_px: int) -> None:
    """Scroll until a part of the page is this far from the top."""
    scroll = f"(node) => scrollTo(0, node.getBoundingClientRect().top + scrollY - {above_px})"
    page.locator(part).evaluate(scroll)  # immediately, because motion is reduced


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
    """Run the demo, and yield its JSON output."""
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


def take(browser: "Browser", shot: Shot, demo: dict[str, Any]) -> Path:
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
    page.goto(demo[shot.kind])
    shot.prepare(page, demo)
    content = page.screenshot()
    context.close()
    return save(shot.name, content)


def save(name: str, content: bytes) -> Path:
    """Save with a reduced palette, which keeps the files small."""
    path = IMAGES / f"{name}.png"
    reduced = Image.open(io.BytesIO(content)).convert("RGB").quantize(COLOURS, dither=0)
    reduced.save(path, optimize=True)
    size = path.stat().st_size
    if size > BYTES_MAX:
        sys.exit(f"{path.name} must have at most {BYTES_MAX:,} bytes, got {size:,}")
    print(f"{path.relative_to(IMAGES.parent.parent)}: {size:,} bytes")
    return path


def contributors_page(demo: dict[str, Any]) -> str:
    """The address of the contributor's page of the ATLAS task."""
    headers = {"authorization": f"Bearer {demo['analyst_token']}"}
    with urlopen(Request(f"{demo['collector']}/tasks", headers=headers)) as reply:
        tasks = json.load(reply)["tasks"]
    task_id = next(task["task_id"] for task in tasks if task["mechanism"] == "atlas")
    return f"{demo['collector']}/contribute/{task_id}"


def main(names: list[str]) -> int:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("screenshots need Chromium; install it (Debian: apt-get install chromium)")
    shots = [shot for shot in SHOTS if not names or shot.name in names]
    with tempfile.TemporaryDirectory() as folder, demonstration(Path(folder)) as demo:
        if demo["dashboard"] is None:
            sys.exit("screenshots need the dashboard; build it with: python3 dev.py web")
        demo["page"] = Path(demo["page"]).as_uri()
        demo["contribute"] = contributors_page(demo)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
            for shot in shots:
                take(browser, shot, demo)
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
