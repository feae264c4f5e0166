#!/usr/bin/env python3
"""A release: built so that anybody gets the same bytes, installed, and tried. dev.py calls it.

    dev.py release --dry-run     build into dist/, check the contents, install and try them all
    dev.py release               the same for a tagged commit: what the workflow publishes
    dev.py release --name 1.2.3  write a version everywhere and date the changelog; no more

    --quick           install only the base and the collector, with the newest dependencies
    --extras A,B      only these ("base" is the base install); clusters are tried by name only
    --source-url URL  where the sdist will be, for the recipe in dist/

It never uploads anything: .github/workflows/publish.yml does, without any stored secret. Needs
git, and for the oldest dependencies uv.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import artifacts
import bom
import installs
import versions

ROOT = versions.ROOT
DIST = ROOT / "dist"
RECIPE = ROOT / "recipe" / "recipe.yaml"


def main(args: list[str]) -> int:
    options = parse(args)
    if options.name:
        return name(options.name)
    started = time.monotonic()
    version = versions.current()
    wrong = versions.disagreements() + stale() + ([] if options.dry_run else unready(version))
    failed(wrong)
    rebuild_pages(twice=not options.quick)
    builder = artifacts.Builder(Path(sys.executable), last_commit())
    built, wrong = artifacts.build_all(builder, ROOT, DIST)
    failed(wrong + artifacts.misplaced(built, ROOT, version))
    for path in (built.wheel, built.sdist):
        print(f"release: {path.name} {path.stat().st_size} bytes, the same again")
    fill_recipe(built.sdist, options.source_url)
    try_all(built, chosen(options), quick=options.quick)
    shutil.copy(bom.BOM, DIST)
    print(f"release: {version} is ready in dist/, after {time.monotonic() - started:.0f} s")
    return 0


def parse(args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "dev.py release", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--name", metavar="VERSION")
    parser.add_argument("--extras", type=lambda told: told.split(","))
    parser.add_argument("--source-url", metavar="URL")
    return parser.parse_args(args)


def name(version: str) -> int:
    """Write the version and today's date wherever they stand."""
    try:
        versions.rename(version, datetime.now(UTC).date().isoformat())
    except ValueError as error:
        failed([str(error)])
    bom.main([])
    print(f'release: named {version}; commit it as "Release {version}", tag it v{version}')
    return 0


def stale() -> list[str]:
    """What must be written anew before a release."""
    told = [
        f"{each} must say from which version on it works: >="
        for each in installs.unbounded(installs.read_project(ROOT))
    ]
    return told + (["nomadp.cdx.json is stale; run release/bom.py"] if bom.is_stale() else [])


def unready(version: str) -> list[str]:
    """What keeps a commit from being a release rather than a rehearsal."""
    told = []
    if git("status", "--porcelain"):
        told.append("the tree must have no changes; commit them")
    if f"v{version}" not in git("tag", "--points-at", "HEAD").split():
        told.append(f"the commit must have the tag v{version}")
    if not versions.is_dated(version, (ROOT / versions.CHANGELOG).read_text("utf-8")):
        told.append(
            f"the changelog must begin with {version} and its day; run: "
            f"python3 dev.py release --name {version}"
        )
    return told


def git(*args: str) -> str:
    done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def last_commit() -> int:
    """When the sources were last changed, in seconds: the only time a build may tell."""
    return int(git("log", "-1", "--format=%ct"))


def rebuild_pages(*, twice: bool) -> None:
    """Build the pages; twice, to see that they are the same again."""
    folder = ROOT / artifacts.PAGES
    command = [sys.executable, str(ROOT / "web" / "build.py"), "build"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    first = artifacts.folder_digest(folder)
    if twice:
        shutil.rmtree(folder)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if artifacts.folder_digest(folder) != first:
            failed(["the pages must be built to the same bytes again, and are not"])


def fill_recipe(sdist: Path, url: str | None) -> None:
    """The recipe for conda-forge with the hash of this sdist, and its address if known."""
    text = RECIPE.read_text(encoding="utf-8")
    text = re.sub(r"^  sha256: .*$", f"  sha256: {artifacts.digest(sdist)}", text, flags=re.M)
    if url is not None:
        text = re.sub(r"^  url: .*$", f"  url: {url}", text, flags=re.M)
    (DIST / "recipe.yaml").write_text(text, encoding="utf-8")


def chosen(options: argparse.Namespace) -> list[str]:
    """The extras to try; the base has the empty name."""
    if options.extras:
        known = {"base", *installs.EXTRAS, *installs.CLUSTERS}
        failed([f"there is no extra {each}" for each in options.extras if each not in known])
        return ["" if each == "base" else each for each in options.extras]
    return installs.QUICK if options.quick else ["", *installs.EXTRAS]


def try_all(built: artifacts.Built, extras: list[str], *, quick: bool) -> None:
    """Every case in an environment of its own, one after the other."""
    oldest = shutil.which("uv") is not None and not quick
    if not oldest:
        reason = "asked to be quick" if quick else "there is no uv to find them"
        print(f"release: oldest dependencies skipped, {reason}")
    project, wrong = installs.read_project(ROOT), []
    for case in installs.cases(built.wheel, built.sdist, extras, oldest=oldest):
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                installs.make(Path(folder, "env"), case, project)
                told = installs.smoke(Path(folder, "env"), case, Path(folder, "work")).strip()
            except RuntimeError as error:
                wrong.append(f"{case}: {error}")
                told = "failed"
        print(f"release: {case}: {told}, {time.monotonic() - started:.0f} s", flush=True)
    failed(wrong)


def failed(wrong: list[str]) -> None:
    """Say everything that is wrong, and end; go on if nothing is."""
    for sentence in wrong:
        print(f"release: {sentence}", file=sys.stderr)
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
