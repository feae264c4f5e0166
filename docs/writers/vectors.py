"""docs/reference/vectors.md: the files of test vectors."""

import json
from collections import Counter
from pathlib import Path

VECTORS = Path(__file__).resolve().parents[2] / "tests" / "vectors"

ABOUT = """# Test vectors

The inputs and outputs that every implementation must reproduce.
[Test vectors](../../tests/vectors/README.md) explains how to read them, and
[the protocol](../protocol.md) explains the steps.

| file | subject | cases |
| --- | --- | --- |
"""


def row(path: Path) -> str:
    content = json.loads(path.read_text(encoding="utf-8"))
    subject = "every mechanism"
    if "mechanism" in content:
        subject = f"`{content['mechanism']}`, version {content['version']}"
    elif "wire_version" in content:
        subject = f"wire version {content['wire_version']}"
    kinds = Counter(case["kind"] for case in content["cases"])
    cases = ", ".join(f"{count} `{kind}`" for kind, count in kinds.items())
    return f"| [{path.name}](../../tests/vectors/{path.name}) | {subject} | {cases} |\n"


def page() -> str:
    return ABOUT + "".join(row(path) for path in sorted(VECTORS.glob("*.json")))
