"""The version is defined in src/nomadp/__init__.py, and repeated in other files.

`disagreements` finds files with another version. `rename` writes a new version everywhere and
dates the changelog. This needs no package.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = "src/nomadp/__init__.py"
CHANGELOG = "CHANGELOG.md"
FORM = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
"""The form of a version: the part of PEP 440 that npm supports, too."""

_IN_HOME = r'^__version__ = "(.+)"$'
PLACES = {
    "CITATION.cff": r"^version: (.+)$",
    "recipe/recipe.yaml": r'^  version: "(.+)"$',
    "web/client/package.json": r'^  "version": "(.+)",$',
    "web/pages/package.json": r'^  "version": "(.+)",$',
}
"""The other files with the version, and the pattern of the one line that contains it."""
NPM_LOCK = "web/package-lock.json"
WORKSPACES = ("client", "pages")


def current(root: Path = ROOT) -> str:
    """The version in the sources."""
    return _named(root, HOME, _IN_HOME)


def disagreements(root: Path = ROOT) -> list[str]:
    """A sentence for every file with another version."""
    version = current(root)
    named = {path: _named(root, path, pattern) for path, pattern in PLACES.items()}
    locked = json.loads((root / NPM_LOCK).read_text(encoding="utf-8"))["packages"]
    named |= {
        f"{NPM_LOCK} ({workspace})": locked[workspace]["version"] for workspace in WORKSPACES
    }
    newest = newest_released((root / CHANGELOG).read_text(encoding="utf-8"))
    if newest is not None:
        named[CHANGELOG] = newest
    return [
        f"{path} must have the version of {HOME}, {version}, got {other}"
        for path, other in named.items()
        if other != version
    ]


def newest_released(changelog: str) -> str | None:
    """The version of the first dated section; None if there is none."""
    match = re.search(r"^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    return match.group(1) if match else None


def is_dated(version: str, changelog: str) -> bool:
    """Whether the topmost section of the changelog is this version, with a date."""
    topmost = re.search(r"^## (.*)$", changelog, re.MULTILINE)
    dated = rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d"
    return topmost is not None and re.fullmatch(dated, topmost.group(1)) is not None


def dated(changelog: str, version: str, day: str) -> str:
    """The changelog with its section [Unreleased] renamed to this version and date."""
    if changelog.count("\n## [Unreleased]\n") != 1:
        raise ValueError(f"{CHANGELOG} must have one section [Unreleased], to be dated")
    return changelog.replace("\n## [Unreleased]\n", f"\n## [{version}] - {day}\n")


def rename(version: str, day: str, root: Path = ROOT) -> None:
    """Write the version and the date to every file that contains them."""
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
    versions = re.findall(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE)
    if len(versions) != 1:
        raise ValueError(f"{path} must contain one version as {pattern}, got {len(versions)}")
    return str(versions[0])


def _write(root: Path, path: str, pattern: str, version: str) -> None:
    old = _named(root, path, pattern)
    text = (root / path).read_text(encoding="utf-8")
    line = re.search(pattern, text, re.MULTILINE)
    if line is not None:
        text = text.replace(line.group(), line.group().replace(old, version), 1)
    (root / path).write_text(text, encoding="utf-8")


def _write_lock(path: Path, version: str) -> None:
    locked = json.loads(path.read_text(encoding="utf-8"))
    for workspace in WORKSPACES:
        locked["packages"][workspace]["version"] = version
    path.write_text(json.dumps(locked, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_day(path: Path, day: str) -> None:
    text = re.sub(r"^date-released: .*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
    text = re.sub(r"^(version: .*\n)", rf"\1date-released: {day}\n", text, flags=re.M)
    path.write_text(text, encoding="utf-8")
