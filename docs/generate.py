"""Put measured values into the documents, or (--check) see that they are the measured ones.

A value stands between two comments: <!-- measured: NAME -->value<!-- end -->. What NAME is
comes from docs/measured.json, which the scripts in benchmarks/ write.
"""

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
MARKED = re.compile(r"(<!-- measured: ([\w-]+) -->)(.*?)(<!-- end -->)", re.DOTALL)


def documents() -> list[Path]:
    return [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]


def filled(text: str, measured: dict[str, str]) -> str:
    return MARKED.sub(lambda found: found[1] + measured[found[2]] + found[4], text)


def main(args: list[str]) -> int:
    measured = json.loads((DOCS / "measured.json").read_text())
    stale = []
    for path in documents():
        text = path.read_text(encoding="utf-8")
        unmarked = text.count("<!-- measured:") - len(MARKED.findall(text))
        missing = {name for _, name, _, _ in MARKED.findall(text)} - measured.keys()
        if unmarked or missing:
            print(f"{path.name}: {unmarked} values without an end, unknown: {sorted(missing)}")
            return 1
        if filled(text, measured) != text:
            stale.append(path)
            if "--check" not in args:
                path.write_text(filled(text, measured), encoding="utf-8")
    if stale and "--check" in args:
        print(f"stale: {', '.join(path.name for path in stale)}; run python docs/generate.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
