"""Run tutorials and guides as a reader would, and write their output into the pages.

    python tests/tutorials_maker.py [NAME ...]               update the pages
    python tests/tutorials_maker.py --wheel FILE [NAME ...]  compare, in new environments

A page is run from its top, in an empty folder. Blocks of bash are typed. Blocks of Python are
typed into one session, or saved to a file if they have a title. A text block that follows is
the output. As a reader must, a run replaces ports, dates in the past, and ID. With --wheel,
pip commands run as well, and install that file instead of nomadp.
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
"""Run in the same way; blocks that quote the source are only for reading."""

FENCE = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*) -->\n)?"
    r'^```(?P<kind>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)
PICTURE = re.compile(r"\]\((\.\./images/tutorials/([\w-]+\.png))\)")
"""An image that the run draws, under the same name."""
VARIES = "numbers vary"
FAILS = "is refused"

# What differs between runs: ids of tasks and reports, tokens, and days.
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
    """The start and the end of its text in the page."""


def blocks(page: str) -> Iterator[Block]:
    for found in FENCE.finditer(page):
        note, text = found["note"] or "", found["text"]
        yield Block(found["kind"], found["title"], note, text, found.span("text"))


def shown(text: str, note: str) -> str:
    """The output with placeholders for what differs between runs."""
    for pattern, name in UNLIKE:
        text = pattern.sub(name, text)
    if note == VARIES:
        text = re.sub(r"\b(?:yes|no)\b", "?", re.sub(r"-?[\d,]*\.?\d+", "#", text))
        text = re.sub(r"[ -]+", " ", text)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def looks_like(page: str, printed: str, note: str) -> bool:
    """Whether the output in a page is still right; a line "..." stands for any lines."""
    lines = shown(page, note).splitlines()
    if set(lines) <= {"..."}:
        return not printed
    wanted = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in lines
    )
    return re.fullmatch(wanted, shown(printed, note)) is not None


def walked(page: str, walk: Walk) -> str:
    """The page, updated wherever a run printed something else."""
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
