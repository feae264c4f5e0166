#!/usr/bin/env python3
"""Build a release reproducibly, install it and test it. dev.py calls this.

    dev.py release --dry-run     build into dist/, check the contents, install and test
    dev.py release               the same for a tagged commit, which the workflow publishes
    dev.py release --name 1.2.3  only write the version everywhere and date the changelog

    --quick           install only the base and the collector, with the newest dependencies
    --extras A,B      install only these ("base" is the base install); clusters must be named
    --source-url URL  the address of the sdist, for the recipe in dist/

It never uploads anything: .github/workflows/publish.yml does, without any stored secret. Needs
git, and uv for the oldest dependencies.
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
    problems = (
        versions.disagreements() + stale() + ([] if options.dry_run else unready(version))
    )
    failed(problems)
    rebuild_pages(twice=not options.quick)
    builder = artifacts.Builder(Path(sys.executable), last_commit())
    built, problems = artifacts.build_all(builder, ROOT, DIST)
    failed(problems + artifacts.misplaced(built, ROOT, version))
    for path in (built.wheel, built.sdist):
        print(f"release: {path.name} {path.stat().st_size} bytes, reproducible")
    fill_recipe(built.sdist, options.source_url)
    try_all(built, chosen(options), quick=options.quick)
    shutil.copy(bom.BOM, DIST)
    print(f"release: {version} is ready in dist/ after {time.monotonic() - started:.0f} s")
    return 0


def parse(args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "dev.py release", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--name", metavar="VERSION")
    parser.add_argument("--extras", type=lambda text: text.split(","))
    parser.add_argument("--source-url", metavar="URL")
    return parser.parse_args(args)


def name(version: str) -> int:
    """Write the version and today's date to every place that contains them."""
    try:
        versions.rename(version, datetime.now(UTC).date().isoformat())
    except ValueError as error:
        failed([str(error)])
    bom.main([])
    print(
        f'release: wrote version {version}; commit it as "Release {version}", tag it v{version}'
    )
    return 0


def stale() -> list[str]:
    """Sentences about everything that must be updated before a release."""
    problems = [
        f"{requirement} must have a lower bound: >="
        for requirement in installs.unbounded(installs.read_project(ROOT))
    ]
    return problems + (
        ["nomadp.cdx.json is stale; run release/bom.py"] if bom.is_stale() else []
    )


def unready(version: str) -> list[str]:
    """Sentences about why this commit cannot be released."""
    problems = []
    if git("status", "--porcelain"):
        problems.append("the tree must have no uncommitted changes; commit them")
    if f"v{version}" not in git("tag", "--points-at", "HEAD").split():
        problems.append(f"the commit must have the tag v{version}")
    if not versions.is_dated(version, (ROOT / versions.CHANGELOG).read_text("utf-8")):
        problems.append(
            f"the changelog must begin with {version} and its date; run: "
            f"python3 dev.py release --name {version}"
        )
    return problems


def git(*args: str) -> str:
    result = subprocess.run(
        ["git", *args], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


def last_commit() -> int:
    """The time of the last commit in seconds, the only time in a build."""
    return int(git("log", "-1", "--format=%ct"))


def rebuild_pages(*, twice: bool) -> None:
    """Build the pages; with ``twice``, check that a second build gives the same bytes."""
    folder = ROOT / artifacts.PAGES
    command = [sys.executable, str(ROOT / "web" / "build.py"), "build"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    first = artifacts.folder_digest(folder)
    if twice:
        shutil.rmtree(folder)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if artifacts.folder_digest(folder) != first:
            failed(["a second build of the pages must give the same bytes, and does not"])


def fill_recipe(sdist: Path, url: str | None) -> None:
    """Write the conda-forge recipe with the hash of this sdist, and its address if known."""
    text = RECIPE.read_text(encoding="utf-8")
    text = re.sub(r"^  sha256: .*$", f"  sha256: {artifacts.digest(sdist)}", text, flags=re.M)
    if url is not None:
        text = re.sub(r"^  url: .*$", f"  url: {url}", text, flags=re.M)
    (DIST / "recipe.yaml").write_text(text, encoding="utf-8")


def chosen(options: argparse.Namespace) -> list[str]:
    """The extras to test; the base install is an empty string."""
    if options.extras:
        known = {"base", *installs.EXTRAS, *installs.CLUSTERS}
        failed([f"there is no extra {extra}" for extra in options.extras if extra not in known])
        return ["" if extra == "base" else extra for extra in options.extras]
    return installs.QUICK if options.quick else ["", *installs.EXTRAS]


def try_all(built: artifacts.Built, extras: list[str], *, quick: bool) -> None:
    """Install and test every case in a separate environment."""
    oldest = shutil.which("uv") is not None and not quick
    if not oldest:
        reason = "--quick" if quick else "uv is not installed"
        print(f"release: skipped the oldest dependencies ({reason})")
    project, problems = installs.read_project(ROOT), []
    for case in installs.cases(built.wheel, built.sdist, extras, oldest=oldest):
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                installs.make(Path(folder, "env"), case, project)
                output = installs.smoke(Path(folder, "env"), case, Path(folder, "work")).strip()
            except RuntimeError as error:
                problems.append(f"{case}: {error}")
                output = "failed"
        print(f"release: {case}: {output}, {time.monotonic() - started:.0f} s", flush=True)
    failed(problems)


def failed(problems: list[str]) -> None:
    """Print all problems and exit; return if there are none."""
    for sentence in problems:
        print(f"release: {sentence}", file=sys.stderr)
    if problems:
        sys.exit(1)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
