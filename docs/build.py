"""Build the documentation site, or show it on this machine with --serve.

    python3 dev.py docs [--out FOLDER] [--serve [PORT]]

The documents link to each other as files of the repository. For the site, they are copied to
FOLDER/pages, together with some documents from the root, and their links are adapted. Linked
files that are not pages are copied, too. zensical then builds FOLDER/html, and fails at a link
or an anchor without a target.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from nomadp.theme import css_properties

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
CONFIG = DOCS / "zensical.toml"
STYLES = DOCS / "look"
ICON = ROOT / "web" / "pages" / "src" / "icon.svg"

ELSEWHERE = {
    "README.md": "index.md",
    "VISION.md": "project/vision.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "SUPPORT.md": "project/support.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "examples/README.md": "project/examples.md",
    "tests/vectors/README.md": "project/vectors.md",
    "tests/imports/README.md": "project/imports.md",
    "web/client/README.md": "project/typescript.md",
}
"""Pages from outside of docs/. On the site, docs/index.md takes the place of the README."""

FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
IMAGE = re.compile(r"!\[[^\]]*\]\([^)#\s]+\.png\)")
COMMENT = re.compile(r"<!-- .*? -->")
"""A comment for authors. Removing it leaves a blank line, which a table after it needs."""


def pages() -> dict[Path, PurePosixPath]:
    """The path of every document on the site."""
    inside = {
        path: PurePosixPath(path.relative_to(DOCS)) for path in sorted(DOCS.rglob("*.md"))
    }
    outside = {ROOT / path: PurePosixPath(place) for path, place in ELSEWHERE.items()}
    return {**outside, **inside}


def named_in(nav: object) -> Iterator[str]:
    """The pages in a part of the configuration's `nav`, in order."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for part in nav.values():
            yield from named_in(part)
    elif isinstance(nav, list):
        for part in nav:
            yield from named_in(part)


def not_in_nav() -> set[str]:
    """Documents that are missing from the navigation."""
    nav = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]
    return {str(place) for place in pages().values()} - set(named_in(nav))


def turned(text: str, source: Path, out: Path) -> str:
    """A document with its links adapted to the site; linked files are copied to ``out``."""
    places = pages()

    def adapt(match: re.Match[str]) -> str:
        if "://" in match[2]:
            return match[0]
        target = (source.parent / match[2]).resolve()
        place = places.get(target)
        if place is None:
            if not target.is_file() or not target.is_relative_to(ROOT):
                raise SystemExit(
                    f"{source.relative_to(ROOT)}: links to {match[2]}, which does not exist"
                )
            base = DOCS if target.is_relative_to(DOCS) else ROOT
            place = PurePosixPath("" if base is DOCS else "files", target.relative_to(base))
            (out / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, out / place)
        link = os.path.relpath(place, places[source].parent)
        return match[1] + PurePosixPath(link).as_posix() + (match[3] or "") + match[4]

    def themed(match: re.Match[str]) -> str:
        return by_theme(match[0], source.parent)

    parts = FENCE.split(COMMENT.sub("", text))
    return "".join(
        part if part.startswith("```") else LINK.sub(adapt, IMAGE.sub(themed, part))
        for part in parts
    )


def by_theme(image: str, folder: Path) -> str:
    """An image, and its variant for the dark theme (X-dark.png) if there is one."""
    light, dark = image[:-1], f"{image[:-5]}-dark.png"
    if not (folder / dark.rpartition("(")[2]).is_file():
        return image
    return f"{light}#only-light)\n{dark}#only-dark)"


def gather(out: Path) -> None:
    """Write the pages and the configuration for zensical, and delete everything else."""
    staged = out / "pages"
    shutil.rmtree(staged, ignore_errors=True)
    for source, place in pages().items():
        if source != ROOT / "README.md":
            (staged / place).parent.mkdir(parents=True, exist_ok=True)
            text = turned(source.read_text(encoding="utf-8"), source, staged)
            (staged / place).write_text(text, encoding="utf-8")
    if STYLES.is_dir():
        shutil.copytree(STYLES, staged / STYLES.name)
        shutil.copyfile(ICON, staged / STYLES.name / ICON.name)
        (staged / STYLES.name / "colours.css").write_text(colours(), encoding="utf-8")
    shutil.copyfile(CONFIG, out / CONFIG.name)


def colours() -> str:
    """The colours of our theme, under zensical's names for the colour schemes."""
    schemes = {"default": "light", "slate": "dark"}
    return "".join(
        f'[data-md-color-scheme="{scheme}"] {{ {css_properties(theme)} }}\n'
        for scheme, theme in schemes.items()
    )


def zensical(out: Path, *args: str) -> list[str]:
    return [sys.executable, "-m", "zensical", args[0], "-f", str(out / CONFIG.name), *args[1:]]


def build(out: Path) -> int:
    if missing := not_in_nav():
        print(f"docs: nav in {CONFIG.name} must contain every page; missing: {sorted(missing)}")
        return 1
    shutil.rmtree(out / "html", ignore_errors=True)
    gather(out)
    exit_code = subprocess.run(zensical(out, "build", "--strict"), check=False).returncode
    if exit_code == 0:
        print(f"docs: {out / 'html' / 'index.html'}")
    return exit_code


def serve(out: Path, port: int) -> int:
    """Serve the site on loopback and update it when documents change, until Ctrl-C."""
    gather(out)
    server = subprocess.Popen(zensical(out, "serve", "-a", f"127.0.0.1:{port}"))
    last_change = newest()
    try:
        while server.poll() is None:
            time.sleep(1)
            if newest() != last_change:
                last_change = newest()
                gather(out)
    finally:
        server.terminate()
    return server.wait()


def newest() -> float:
    return max(path.stat().st_mtime for path in [CONFIG, *pages()])


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="dev.py docs", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--serve", type=int, nargs="?", const=8080, metavar="PORT")
    options = parser.parse_args(args)
    options.out.mkdir(parents=True, exist_ok=True)
    return build(options.out) if options.serve is None else serve(options.out, options.serve)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
