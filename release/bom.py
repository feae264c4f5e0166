#!/usr/bin/env python3
"""The bill of materials: third-party packages inside the wheel (CycloneDX, PEP 770).

    release/bom.py [--check]    write release/nomadp.cdx.json, or check that it is current

These are only the npm packages in the built pages, with the hashes of web/package-lock.json.
Python dependencies are in the wheel's metadata, not in the wheel. The file contains no date and
no serial number, so that the same sources give the same bytes.
"""

import base64
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import versions

ROOT = versions.ROOT
BOM = ROOT / "release" / "nomadp.cdx.json"
FORMAT = "1.6"
_FOLDER = "node_modules/"
_HASHES = {"sha1": "SHA-1", "sha256": "SHA-256", "sha512": "SHA-512"}


def bill(root: Path = ROOT) -> dict[str, Any]:
    """The bill of materials in the CycloneDX format."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = json.loads((root / versions.NPM_LOCK).read_text(encoding="utf-8"))["packages"]
    names = bundled(locked)
    name, version = project["name"], versions.current(root)
    itself = {
        "type": "application",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "description": project["description"],
        "licenses": [{"license": {"id": project["license"]}}],
        "purl": f"pkg:pypi/{name}@{version}",
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": FORMAT,
        "version": 1,
        "metadata": {"component": itself},
        "components": [component(each, locked[_FOLDER + each]) for each in names],
        "dependencies": [
            {"ref": itself["bom-ref"], "dependsOn": direct(locked, names)},
            *(needs(each, locked) for each in names),
        ],
    }


def bundled(locked: dict[str, Any]) -> list[str]:
    """The packages that the pages contain: neither our own, which are links, nor dev tools."""
    names = {
        path.removeprefix(_FOLDER)
        for path, package in locked.items()
        if path.startswith(_FOLDER) and not package.get("dev") and not package.get("link")
    }
    nested = sorted(name for name in names if _FOLDER in name)
    if nested:
        raise ValueError(f"one version of each package must be bundled, got two of {nested}")
    return sorted(names)


def component(name: str, package: dict[str, Any]) -> dict[str, Any]:
    algorithm, _, content = package["integrity"].partition("-")
    licence = package["license"]
    one_of = {"expression": licence} if " " in licence else {"license": {"id": licence}}
    return {
        "type": "library",
        "bom-ref": purl(name, package),
        "name": name,
        "version": package["version"],
        "hashes": [{"alg": _HASHES[algorithm], "content": base64.b64decode(content).hex()}],
        "licenses": [one_of],
        "purl": purl(name, package),
    }


def purl(name: str, package: dict[str, Any]) -> str:
    return f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"


def direct(locked: dict[str, Any], names: list[str]) -> list[str]:
    """The direct dependencies of our own pages."""
    required = set().union(
        *(locked[each].get("dependencies", {}) for each in versions.WORKSPACES)
    )
    return [purl(name, locked[_FOLDER + name]) for name in names if name in required]


def needs(name: str, locked: dict[str, Any]) -> dict[str, Any]:
    package = locked[_FOLDER + name]
    needed = sorted(package.get("dependencies", {}))
    return {
        "ref": purl(name, package),
        "dependsOn": [purl(each, locked[_FOLDER + each]) for each in needed],
    }


def text(root: Path = ROOT) -> str:
    return json.dumps(bill(root), indent=2, ensure_ascii=False) + "\n"


def is_stale() -> bool:
    return not BOM.exists() or BOM.read_text(encoding="utf-8") != text()


def main(args: list[str]) -> int:
    if "--check" not in args:
        BOM.write_text(text(), encoding="utf-8")
        return 0
    if is_stale():
        print(f"{BOM.name} must list what is bundled; run python3 release/bom.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
