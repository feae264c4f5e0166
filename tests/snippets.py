"""The code blocks of the documentation, and how each is tested."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DOCUMENTS", "ROOT", "Snippet", "block_of", "commands", "named", "snippets", "spans"]

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples" / "README.md",
    ROOT / "web" / "client" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]

FENCE = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*?) -->\n\n?)?^```(?P<kind>\w*)[^\n]*\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
COMMAND = re.compile(r" *(?:[A-Z_]+=\S+ )*nomadp ((?!version).+)")
SHOWN = {"text", "toml", "json"}
"""Kinds of blocks that are output or data, not input."""


@dataclass(frozen=True)
class Snippet:
    page: str
    line: int
    kind: str
    note: str
    text: str

    @property
    def is_typed(self) -> bool:
        """Whether a reader would run the block."""
        written = self.note.startswith(("source:", "shown:", "picture:"))
        return not (self.kind in SHOWN or written or self.page.endswith("/typescript.md"))

    @property
    def reason(self) -> str | None:
        """Why no test runs the block: <!-- not run: WHY --> is before it. None if it is run."""
        found = re.fullmatch(r"not run: (.{10,})", self.note)
        return found[1] if found else None

    @property
    def runner(self) -> Path | None:
        """The test that runs the block, if <!-- run by: tests/FILE --> is before it."""
        found = re.fullmatch(r"run by: (tests/[\w/]+\.py)", self.note)
        return ROOT / found[1] if found else None


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def snippets(page: Path) -> Iterator[Snippet]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start("text"))
        yield Snippet(named(page), line, found["kind"], found["note"] or "", found["text"])


def block_of(page: str, start: str) -> str:
    """The only block of a page that starts with this text."""
    (found,) = (each for each in snippets(ROOT / page) if each.text.startswith(start))
    return found.text


def commands(text: str) -> Iterator[list[str]]:
    """The words of each ``nomadp`` command in a block, without comments and variables."""
    for line in text.replace("\\\n", " ").splitlines():
        if found := COMMAND.match(line):
            yield shlex.split(found[1], comments=True)


def spans(page: Path) -> Iterator[str]:
    """Complete commands within sentences: those that have an option."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for found in re.findall(r"`(nomadp [^`]*?--[^`]*)`", text):
        yield " ".join(found.split())
