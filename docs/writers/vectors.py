"""The files of known answers, and what each asks."""

import json
from collections import Counter
from pathlib import Path

VECTORS = Path(__file__).resolve().parents[2] / "tests" / "vectors"

ABOUT = """# Files of known answers

What another implementation is held to, as data.
[Known answers](../../tests/vectors/README.md) says how to read them,
[the protocol](../protocol.md) what the steps are.

| file | of | cases |
| --- | --- | --- |
"""


def row(path: Path) -> str:
    content = json.loads(path.read_text(encoding="utf-8"))
    of = "every mechanism"
    if "mechanism" in content:
        of = f"`{content['mechanism']}`, version {content['version']}"
    elif "wire_version" in content:
        of = f"wire version {content['wire_version']}"
    kinds = Counter(case["kind"] for case in content["cases"])
    asked = ", ".join(f"{count} `{kind}`" for kind, count in kinds.items())
    return f"| [{path.name}](../../tests/vectors/{path.name}) | {of} | {asked} |\n"


def page() -> str:
    return ABOUT + "".join(row(path) for path in sorted(VECTORS.glob("*.json")))
