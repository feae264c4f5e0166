"""Put into the documents what the code says, or (--check) see that nothing there is stale.

A value that was measured stands between two comments: <!-- measured: NAME -->value<!-- end -->.
What NAME is comes from docs/measured.json, which the scripts in benchmarks/ write. A piece of
code stands between <!-- source: nomadp.module:name --> and <!-- end -->, and is what is written
there; what docs/writers/protocol.py states stands between <!-- stated: NAME --> and
<!-- end -->; one after <!-- shown: DOCUMENT LANGUAGE --> is the block that DOCUMENT has of it.
The pages of docs/reference are written whole, by docs/writers.
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
    beside = [DOCS.parent / "README.md", DOCS.parent / "paper" / "paper.md"]
    return [*beside, *sorted(DOCS.rglob("*.md"))]


def measured() -> dict[str, str]:
    values: dict[str, str] = json.loads((DOCS / "measured.json").read_text())
    return values


def filled(text: str, values: dict[str, str]) -> str:
    def fill(found: re.Match[str]) -> str:
        return found[1] + content(found[2], found[3], values) + found[5]

    text = SHOWN.sub(lambda found: found[1] + block(found[2], found[3]) + found[5], text)
    return MARKED.sub(fill, text)


def content(kind: str, name: str, values: dict[str, str]) -> str:
    """What stands between a mark and its end."""
    if kind == "measured":
        return values[name]
    return STATED[name]() if kind == "stated" else excerpt(name)


def block(document: str, language: str) -> str:
    """The only block of a language in a document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(found)


def fresh(values: dict[str, str]) -> Iterator[tuple[Path, str]]:
    """Every document as it should be."""
    whole = {DOCS / name: page for name, page in PAGES.items()}
    for path in documents():
        if path not in whole:
            text = path.read_text(encoding="utf-8")
            check_marks(path, text, values)
            yield path, filled(text, values)
    for path, page in whole.items():
        yield path, page()


def check_marks(path: Path, text: str, values: dict[str, str]) -> None:
    found = MARKED.findall(text)
    unmarked = len(OPENED.findall(text)) - len(found)
    named = {name for _, kind, name, _, _ in found if kind == "measured"}
    unknown = sorted(named - values.keys())
    unknown += [
        name for _, kind, name, _, _ in found if kind == "stated" and name not in STATED
    ]
    if unmarked or unknown:
        raise SystemExit(f"{path.name}: {unmarked} values without an end, unknown: {unknown}")


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
