"""Snapshots of sentences that people read, one file per surface, for review as text.

A test passes a text to the fixture ``wording``, which compares it with the snapshot in
tests/wording/SURFACE.md. `python3 dev.py wording` updates the snapshots from the same tests.
Other tests check codes and facts, so a changed sentence breaks only its snapshot.
"""

import difflib
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "wording"
WRITING = os.environ.get("NOMADP_WORDING") == "write"
SECTION = re.compile(r"^## ([^\n]+)\n\n````text\n(.*?)^````\n", re.MULTILINE | re.DOTALL)
HEAD = "# {}\n\n`python3 dev.py wording` writes this file. Review it as text.\n"

_written: dict[str, dict[str, str]] = {}


def compare(
    surface: str, name: str, text: str, *, hide: Mapping[str, str] | None = None
) -> None:
    """Compare ``text`` with the snapshot ``name`` of ``surface``.

    ``hide`` replaces what differs from run to run, such as a path, by a word in capitals.
    """
    for what, word in (hide or {}).items():
        text = text.replace(what, word)
    got = "".join(line.rstrip() + "\n" for line in text.rstrip("\n").split("\n"))
    if WRITING:
        _written.setdefault(surface, {})[name] = got
        return
    kept = _kept(surface).get(name, "")
    if kept != got:
        lines = difflib.unified_diff(
            kept.splitlines(), got.splitlines(), "kept", "now", lineterm=""
        )
        raise AssertionError(
            f"the wording of {name!r} on {surface} changed; if that is meant, run "
            '"python3 dev.py wording" and review the difference:\n' + "\n".join(lines)
        )


@cache
def _kept(surface: str) -> dict[str, str]:
    path = FOLDER / f"{surface}.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return {found[1]: found[2] for found in SECTION.finditer(text)}


def write(*, all_ran: bool) -> None:
    """Write the snapshots of this run; if all tests ran, remove those that no test used."""
    FOLDER.mkdir(exist_ok=True)
    for surface, sections in _written.items():
        kept = {} if all_ran else _kept(surface)
        text = HEAD.format(surface)
        for name, said in sorted((kept | sections).items()):
            text += f"\n## {name}\n\n````text\n{said}````\n"
        (FOLDER / f"{surface}.md").write_text(text, encoding="utf-8")
