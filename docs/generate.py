"""Update the generated parts of the documents, or check with --check that they are current.

Generated parts are between two comments, the second of which is <!-- end -->. The first is:

    <!-- measured: NAME -->                a value in docs/measured.json, from benchmarks/
    <!-- source: nomadp.module:name -->    the source code of a function, class or constant
    <!-- stated: NAME -->                  a table of docs/writers/protocol.py
    <!-- shown: DOCUMENT LANGUAGE -->      the only code block of a language in a document

The pages of docs/reference are generated as a whole, by docs/writers.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from writers import PAGES
from writers.protocol import STATED
from writers.sources import excerpt

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MARKED = re.compile(
    r"(<!-- (measured|source|stated): ([\w.:-]+) -->)(.*?)(<!-- end -->)", re.DOTALL
)
SHOWN = re.compile(
    r"(<!-- shown: (\S+) (\w+) -->\n```[^\n]*\n)(.*?)(```\n<!-- end -->)", re.DOTALL
)
OPENED = re.compile(r"<!-- (?:measured|source|stated):")


def documents() -> list[Path]:
    outside = [DOCS.parent / "README.md", DOCS.parent / "paper" / "paper.md"]
    return [*outside, *sorted(DOCS.rglob("*.md"))]


def measured() -> dict[str, str]:
    values: dict[str, str] = json.loads((DOCS / "measured.json").read_text())
    return values


def filled(text: str, values: dict[str, str]) -> str:
    def fill(match: re.Match[str]) -> str:
        return match[1] + content(match[2], match[3], values) + match[5]

    text = SHOWN.sub(lambda match: match[1] + block(match[2], match[3]) + match[5], text)
    return MARKED.sub(fill, text)


def content(kind: str, name: str, values: dict[str, str]) -> str:
    """The content of a generated part."""
    if kind == "measured":
        return values[name]
    return STATED[name]() if kind == "stated" else excerpt(name)


def block(document: str, language: str) -> str:
    """The only code block of a language in a document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(code)


def fresh(values: dict[str, str]) -> Iterator[tuple[Path, str]]:
    """The current text of every document."""
    generated = {DOCS / name: page for name, page in PAGES.items()}
    for path in documents():
        if path not in generated:
            text = path.read_text(encoding="utf-8")
            check_marks(path, text, values)
            yield path, filled(text, values)
    for path, page in generated.items():
        yield path, page()


def check_marks(path: Path, text: str, values: dict[str, str]) -> None:
    marked = MARKED.findall(text)
    unclosed = len(OPENED.findall(text)) - len(marked)
    names = {name for _, kind, name, _, _ in marked if kind == "measured"}
    unknown = sorted(names - values.keys())
    unknown += [
        name for _, kind, name, _, _ in marked if kind == "stated" and name not in STATED
    ]
    if unclosed or unknown:
        raise SystemExit(f"{path.name}: {unclosed} parts without an end, unknown: {unknown}")


def main(args: list[str]) -> int:
    stale = []
    for path, text in fresh(measured()):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.relative_to(DOCS.parent).as_posix())
            if "--check" not in args:
                path.write_text(text, encoding="utf-8")
    if stale and "--check" in args:
        print(f"stale: {', '.join(stale)}; run .venv/bin/python docs/generate.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
