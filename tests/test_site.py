"""The documentation site: it builds without warnings, and its navigation has every page."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from browsers import AXE, fresh, serious
from scripts import load_script

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.importorskip("zensical", reason="zensical, which builds the site, is not installed")

pytestmark = pytest.mark.slow  # CI runs it

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "docs" / "build.py"


def building() -> ModuleType:
    return load_script(BUILD)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, BUILD, "--out", out], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "No issues found" in built.stdout + built.stderr
    return out / "html"


def test_every_document_is_a_page_that_the_navigation_names(site: Path) -> None:
    assert building().not_in_nav() == set()
    for place in building().pages().values():
        assert (site / place.with_suffix(".html")).is_file()


def test_every_table_and_list_becomes_one(site: Path) -> None:
    """A forge needs no blank line before a table or a list; the site does."""
    for source, place in building().pages().items():
        if source.name == "README.md" and source.parent == ROOT:
            continue
        text = re.sub(r"^```.*?^```$", "", source.read_text("utf-8"), flags=re.DOTALL | re.M)
        page = (site / place.with_suffix(".html")).read_text("utf-8")
        tables = re.findall(r"^\|[ :|-]+\|$", text, re.MULTILINE)
        assert page.count("<table") == len(tables), place
        items = re.findall(r"^(?:- |\d+\. )", text, re.MULTILINE)
        article = page[page.index("<article") : page.index("</article")]
        assert article.count("<li") >= len(items), place


SEARCHED = {
    "channel-optimised vector quantisation": "guides/literature.html",
    "codebook": "guides/mechanisms.html",
    "false discovery rate": "guides/conclusions.html",
    "confidence interval": "guides/conclusions.html",
    "frequency oracle": "answers.html",
    "heavy hitters": "answers.html",
    "local differential privacy": "guides/privacy.html",
    "origin-destination": "tutorials/task-to-map.html",
    "poisoning": "guides/threats.html",
    "post-processing": "guides/conclusions.html",
    "randomized response": "guides/mechanisms.html",
    "subset selection": "guides/mechanisms.html",
}
"""A term of the field, and a page that a search for it must find."""


@pytest.mark.parametrize("term", SEARCHED)
def test_a_search_for_a_term_of_the_field_finds_its_page(term: str, site: Path) -> None:
    sections = json.loads((site / "search.json").read_text("utf-8"))["items"]
    found = {
        section["location"].partition("#")[0]
        for section in sections
        if term in (section["title"] + section["text"]).lower()
    }
    assert SEARCHED[term] in found


def test_a_page_asks_nobody_else_for_anything(site: Path) -> None:
    fetched = r"<(?:script|img|link|iframe)\b[^>]*(?:src|href)=\"?(https?:)?//[^\s>]+"
    for page in site.rglob("*.html"):
        assert re.search(fetched, page.read_text(encoding="utf-8")) is None, page.name
    for style in site.rglob("*.css"):
        assert re.search(r"url\(\W?(?:https?:)?//|@import", style.read_text()) is None


def one_page(tmp_path: Path, text: str) -> ModuleType:
    """What builds a site of a single page."""
    build = building()
    build.DOCS = build.ROOT = tmp_path / "docs"
    build.CONFIG = tmp_path / "docs" / "zensical.toml"
    build.ELSEWHERE = {}
    build.DOCS.mkdir()
    (build.DOCS / "index.md").write_text(text)
    folders = 'docs_dir = "pages"\nsite_dir = "html"\n'
    build.CONFIG.write_text(f'[project]\nsite_name = "x"\n{folders}nav = ["index.md"]\n')
    return build


@pytest.mark.parametrize("link", ["nowhere.md", "../nowhere.py"])
def test_a_link_to_no_file_is_refused(link: str, tmp_path: Path) -> None:
    build = one_page(tmp_path, f"# Home\n\n[There]({link})\n")
    with pytest.raises(SystemExit, match=re.escape(link)):
        build.build(tmp_path / "out")


@pytest.mark.parametrize(("anchor", "code"), [("home", 0), ("nowhere", 1)])
def test_a_link_to_no_anchor_is_refused(anchor: str, code: int, tmp_path: Path) -> None:
    build = one_page(tmp_path, f"# Home\n\n[There](index.md#{anchor}) [here](#{anchor})\n")
    assert build.build(tmp_path / "out") == code


def test_a_page_that_the_navigation_forgets_is_refused(tmp_path: Path) -> None:
    build = one_page(tmp_path, "# Home\n")
    (build.DOCS / "lost.md").write_text("# Lost\n")
    assert build.build(tmp_path / "out") == 1


def test_links_of_the_repository_become_links_of_the_site(tmp_path: Path) -> None:
    build = building()
    text = "[a](../examples/device.py) [b](operate.md#x)\n```\n[c](d)\n```\n[e](../SECURITY.md)"
    assert build.turned(text, ROOT / "docs" / "device.md", tmp_path) == (
        "[a](files/examples/device.py) [b](operate.md#x)\n```\n[c](d)\n```\n"
        "[e](project/security.md)"
    )
    copied = (tmp_path / "files" / "examples" / "device.py").read_bytes()
    assert copied == (ROOT / "examples" / "device.py").read_bytes()


def test_a_picture_of_the_night_is_shown_by_night(tmp_path: Path) -> None:
    """A forge shows the one picture; the site the one of its theme, whoever chose it."""
    build = one_page(tmp_path, "# Home\n")
    for name in ("a.png", "a-dark.png", "b.png"):
        (build.DOCS / name).write_bytes(b"")
    text = "![A](a.png)\n\n![B](b.png)\n"
    assert build.turned(text, build.DOCS / "index.md", tmp_path / "out") == (
        "![A](a.png#only-light)\n![A](a-dark.png#only-dark)\n\n![B](b.png)\n"
    )


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Tests print nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


LOOKED_AT = (
    "index",
    "guides/mechanisms",
    "reference/python",
    "reference/python/estimates",
    "reference/http",
    "atlas",
)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_ask_nobody_else_and_can_be_used_by_everybody(
    width: int, scheme: str, browser: "Browser", address: str
) -> None:
    context = fresh(
        browser,
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page, asked, troubles = context.new_page(), set[str](), list[str]()
    page.on("request", lambda request: asked.add(request.url))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    for name in LOOKED_AT:
        page.goto(f"{address}/{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        if AXE.is_file():
            assert serious(page) == [], name
    context.close()
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert troubles == []
