"""Walk through tutorials and guides as a reader would; put what they print into their pages.

    python tests/tutorials_maker.py [NAME ...]               renew what is stale in pages
    python tests/tutorials_maker.py --wheel FILE [NAME ...]  compare, each in its environment

A page is walked from its top, in an empty folder. Blocks of bash are typed; blocks of Python
are typed into one session, or saved where they have a title; the block of text that follows is
what was printed. A walk changes what a reader has to: the ports, a day that is over, and ID.
With --wheel the lines of pip are run, too, and install that file where they say nomadp.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tutorial_walk import Walk

__all__ = ["GUIDES", "PAGES", "Block", "blocks", "looks_like", "shown", "walked"]

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "tutorials"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "index.md")
GUIDES = sorted((FOLDER.parent / "guides").glob("*.md"))
"""Walked alike; what stands there from the source is for reading."""

FENCE = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*) -->\n)?"
    r'^```(?P<kind>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)
PICTURE = re.compile(r"\]\((\.\./images/tutorials/([\w-]+\.png))\)")
"""One that the walk draws, under the same name."""
VARIES = "numbers vary"
FAILS = "is refused"

# What no two runs have in common: ids of tasks and reports, tokens, and days.
UNLIKE = [
    (re.compile(r"(?<![\w-])[\w-]{43}(?![\w-])"), "<task>"),
    (re.compile(r"(?<![\w-])[\w-]{22}(?![\w-])"), "<report>"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "<day>"),
]


@dataclass(frozen=True)
class Block:
    kind: str
    title: str | None
    note: str
    text: str
    where: tuple[int, int]
    """Where its text begins and ends in the page."""


def blocks(page: str) -> Iterator[Block]:
    for found in FENCE.finditer(page):
        note, text = found["note"] or "", found["text"]
        yield Block(found["kind"], found["title"], note, text, found.span("text"))


def shown(text: str, note: str) -> str:
    """What of an output is the same in every run."""
    for pattern, name in UNLIKE:
        text = pattern.sub(name, text)
    if note == VARIES:
        text = re.sub(r"\b(?:yes|no)\b", "?", re.sub(r"-?[\d,]*\.?\d+", "#", text))
        text = re.sub(r"[ -]+", " ", text)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def looks_like(page: str, printed: str, note: str) -> bool:
    """Whether a page may go on showing what it shows; a line "..." stands for any lines."""
    lines = shown(page, note).splitlines()
    if set(lines) <= {"..."}:
        return not printed
    wanted = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in lines
    )
    return re.fullmatch(wanted, shown(printed, note)) is not None


def walked(page: str, walk: Walk) -> str:
    """The page with everything that a walk printed differently."""
    edits: list[tuple[tuple[int, int], str]] = []
    printed: str | None = None
    for block in blocks(page):
        if block.note.startswith("source:"):
            continue
        if block.kind == "text":
            if printed is None:
                raise ValueError(f"nothing prints this: {block.text!r}")
            if not looks_like(block.text, printed, block.note):
                edits.append((block.where, printed))
            printed = None
        elif block.title is not None:
            walk.save(block.title, block.text)
        elif block.kind == "bash":
            printed = walk.typed(block.text, refused=block.note == FAILS)
        elif block.kind == "python":
            printed = walk.python(block.text)
        else:
            raise ValueError(f"a block must be bash, python, text or a file: {block.text!r}")
    for (begin, end), text in reversed(edits):
        page = page[:begin] + text + page[end:]
    return page


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args(args)
    stale = []
    for path in [*PAGES, *GUIDES]:
        if asked.names and path.stem not in asked.names:
            continue
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, Walk(Path(folder), asked.wheel) as walk:
            new = walked(text, walk)
            if new != text and asked.wheel is None:
                path.write_text(new, encoding="utf-8")
                for place, name in PICTURE.findall(text):
                    shutil.copyfile(walk.folder / name, FOLDER / place)
        if new != text:
            stale.append(path)
        sys.stdout.write(f"{path.name}: {'printed otherwise' if new != text else 'as shown'}\n")
    return 1 if stale and asked.wheel is not None else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
