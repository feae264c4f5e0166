"""Build the site of this folder, or (--serve) show it on this machine while it is written.

    python3 dev.py docs [--out FOLDER] [--serve [PORT]]

The documents read well where they are, so their links are those of the repository. For the
site they are gathered in FOLDER/pages, with the few documents of the root that belong to it,
and every link is turned to where its target is then; a file that is no page is copied.
zensical then makes FOLDER/html of them and stops at a link or anchor that leads nowhere.
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
LOOK = DOCS / "look"
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
"""Pages that are not in docs/. The README is for the forge; on the site it is docs/index.md."""

FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
IMAGE = re.compile(r"!\[[^\]]*\]\([^)#\s]+\.png\)")
COMMENT = re.compile(r"<!-- .*? -->")
"""For whoever writes. One on its own line leaves a blank one, which a table after it needs."""


def pages() -> dict[Path, PurePosixPath]:
    """Every document of the site, and its place there."""
    inside = {
        path: PurePosixPath(path.relative_to(DOCS)) for path in sorted(DOCS.rglob("*.md"))
    }
    outside = {ROOT / path: PurePosixPath(place) for path, place in ELSEWHERE.items()}
    return {**outside, **inside}


def named_in(nav: object) -> Iterator[str]:
    """The pages that a part of the configuration's `nav` names, in its order."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for part in nav.values():
            yield from named_in(part)
    elif isinstance(nav, list):
        for part in nav:
            yield from named_in(part)


def unnamed() -> set[str]:
    """Documents that no reader would find, because the navigation does not name them."""
    nav = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]
    return {str(place) for place in pages().values()} - set(named_in(nav))


def turned(text: str, source: Path, out: Path) -> str:
    """A document with the links it needs on the site; files they name are copied to ``out``."""
    places = pages()

    def turn(found: re.Match[str]) -> str:
        if "://" in found[2]:
            return found[0]
        target = (source.parent / found[2]).resolve()
        place = places.get(target)
        if place is None:
            if not target.is_file() or not target.is_relative_to(ROOT):
                raise SystemExit(f"{source.relative_to(ROOT)}: no file {found[2]} to link to")
            base = DOCS if target.is_relative_to(DOCS) else ROOT
            place = PurePosixPath("" if base is DOCS else "files", target.relative_to(base))
            (out / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, out / place)
        link = os.path.relpath(place, places[source].parent)
        return found[1] + PurePosixPath(link).as_posix() + (found[3] or "") + found[4]

    def both(found: re.Match[str]) -> str:
        return by_theme(found[0], source.parent)

    parts = FENCE.split(COMMENT.sub("", text))
    return "".join(
        part if part.startswith("```") else LINK.sub(turn, IMAGE.sub(both, part))
        for part in parts
    )


def by_theme(image: str, folder: Path) -> str:
    """A picture that was also taken by night (X-dark.png beside X.png), once for each theme."""
    light, dark = image[:-1], f"{image[:-5]}-dark.png"
    if not (folder / dark.rpartition("(")[2]).is_file():
        return image
    return f"{light}#only-light)\n{dark}#only-dark)"


def gather(out: Path) -> None:
    """Write the pages and the configuration as zensical wants them, and leave nothing else."""
    staged = out / "pages"
    shutil.rmtree(staged, ignore_errors=True)
    for source, place in pages().items():
        if source != ROOT / "README.md":
            (staged / place).parent.mkdir(parents=True, exist_ok=True)
            text = turned(source.read_text(encoding="utf-8"), source, staged)
            (staged / place).write_text(text, encoding="utf-8")
    if LOOK.is_dir():
        shutil.copytree(LOOK, staged / LOOK.name)
        shutil.copyfile(ICON, staged / LOOK.name / ICON.name)
        (staged / LOOK.name / "colours.css").write_text(colours(), encoding="utf-8")
    shutil.copyfile(CONFIG, out / CONFIG.name)


def colours() -> str:
    """Those of every other page of ours, under the names that zensical gives to the themes."""
    schemes = {"default": "light", "slate": "dark"}
    return "".join(
        f'[data-md-color-scheme="{scheme}"] {{ {css_properties(theme)} }}\n'
        for scheme, theme in schemes.items()
    )


def zensical(out: Path, *args: str) -> list[str]:
    return [sys.executable, "-m", "zensical", args[0], "-f", str(out / CONFIG.name), *args[1:]]


def build(out: Path) -> int:
    if missing := unnamed():
        print(f"docs: {CONFIG.name} must name every page in nav, not {sorted(missing)}")
        return 1
    shutil.rmtree(out / "html", ignore_errors=True)
    gather(out)
    done = subprocess.run(zensical(out, "build", "--strict"), check=False).returncode
    if done == 0:
        print(f"docs: {out / 'html' / 'index.html'}")
    return done


def serve(out: Path, port: int) -> int:
    """Show the site on loopback, and what changes in it, until Ctrl-C."""
    gather(out)
    shown = subprocess.Popen(zensical(out, "serve", "-a", f"127.0.0.1:{port}"))
    seen = newest()
    try:
        while shown.poll() is None:
            time.sleep(1)
            if newest() != seen:
                seen = newest()
                gather(out)
    finally:
        shown.terminate()
    return shown.wait()


def newest() -> float:
    return max(path.stat().st_mtime for path in [CONFIG, *pages()])


def main(args: list[str]) -> int:
    wanted = argparse.ArgumentParser(prog="dev.py docs", description=__doc__.splitlines()[0])
    wanted.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    wanted.add_argument("--serve", type=int, nargs="?", const=8080, metavar="PORT")
    given = wanted.parse_args(args)
    given.out.mkdir(parents=True, exist_ok=True)
    return build(given.out) if given.serve is None else serve(given.out, given.serve)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
