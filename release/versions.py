"""One version, in src/nomadp/__init__.py; every other place that names it follows.

`disagreements` finds those that do not, `rename` writes a new version everywhere and dates the
changelog. Nothing here needs a package.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = "src/nomadp/__init__.py"
CHANGELOG = "CHANGELOG.md"
FORM = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
"""What a release may be called: a part of PEP 440 that npm can be told of, too."""

_IN_HOME = r'^__version__ = "(.+)"$'
PLACES = {
    "CITATION.cff": r"^version: (.+)$",
    "recipe/recipe.yaml": r'^  version: "(.+)"$',
    "web/client/package.json": r'^  "version": "(.+)",$',
    "web/pages/package.json": r'^  "version": "(.+)",$',
}
"""Where else a version stands, each once, and how it is written there."""
NPM_LOCK = "web/package-lock.json"
WORKSPACES = ("client", "pages")


def current(root: Path = ROOT) -> str:
    """The version that is being worked on, or was just released."""
    return _named(root, HOME, _IN_HOME)


def disagreements(root: Path = ROOT) -> list[str]:
    """A sentence for every place that names another version."""
    version = current(root)
    found = {path: _named(root, path, pattern) for path, pattern in PLACES.items()}
    locked = json.loads((root / NPM_LOCK).read_text(encoding="utf-8"))["packages"]
    found |= {f"{NPM_LOCK} ({each})": locked[each]["version"] for each in WORKSPACES}
    newest = newest_released((root / CHANGELOG).read_text(encoding="utf-8"))
    if newest is not None:
        found[CHANGELOG] = newest
    return [
        f"{path} must name the version of {HOME}, {version}, and names {other}"
        for path, other in found.items()
        if other != version
    ]


def newest_released(changelog: str) -> str | None:
    """The version of the first dated section; None before there is one."""
    found = re.search(r"^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    return found.group(1) if found else None


def is_dated(version: str, changelog: str) -> bool:
    """Whether the changelog's topmost section is that of this version, with its day."""
    topmost = re.search(r"^## (.*)$", changelog, re.MULTILINE)
    dated = rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d"
    return topmost is not None and re.fullmatch(dated, topmost.group(1)) is not None


def dated(changelog: str, version: str, day: str) -> str:
    """The changelog in which what was unreleased is this version, of this day."""
    if changelog.count("\n## [Unreleased]\n") != 1:
        raise ValueError(f"{CHANGELOG} must have one section [Unreleased], to be dated")
    return changelog.replace("\n## [Unreleased]\n", f"\n## [{version}] - {day}\n")


def rename(version: str, day: str, root: Path = ROOT) -> None:
    """Write the version into every place, and the day beside it."""
    if not FORM.fullmatch(version):
        raise ValueError(f"a version must be like 1.2.3 or 1.2.3rc1, got {version}")
    changelog = root / CHANGELOG
    text = dated(changelog.read_text(encoding="utf-8"), version, day)
    for path, pattern in {HOME: _IN_HOME, **PLACES}.items():
        _write(root, path, pattern, version)
    _write_lock(root / NPM_LOCK, version)
    _write_day(root / "CITATION.cff", day)
    changelog.write_text(text, encoding="utf-8")


def _named(root: Path, path: str, pattern: str) -> str:
    found = re.findall(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE)
    if len(found) != 1:
        raise ValueError(f"{path} must name one version as {pattern}, got {len(found)}")
    return str(found[0])


def _write(root: Path, path: str, pattern: str, version: str) -> None:
    old = _named(root, path, pattern)
    text = (root / path).read_text(encoding="utf-8")
    line = re.search(pattern, text, re.MULTILINE)
    if line is not None:
        text = text.replace(line.group(), line.group().replace(old, version), 1)
    (root / path).write_text(text, encoding="utf-8")


def _write_lock(path: Path, version: str) -> None:
    locked = json.loads(path.read_text(encoding="utf-8"))
    for each in WORKSPACES:
        locked["packages"][each]["version"] = version
    path.write_text(json.dumps(locked, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_day(path: Path, day: str) -> None:
    text = re.sub(r"^date-released: .*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
    text = re.sub(r"^(version: .*\n)", rf"\1date-released: {day}\n", text, flags=re.M)
    path.write_text(text, encoding="utf-8")
