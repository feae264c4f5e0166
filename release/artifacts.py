"""Wheel and sdist: built so that anybody gets the same bytes, and holding what they should."""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

PAGES = "src/nomadp/pages/static"
"""Where web/build.py puts the pages; git knows nothing of them, the wheel needs them."""
METADATA = [
    "METADATA",
    "RECORD",
    "WHEEL",
    "entry_points.txt",
    "licenses/LICENSE",
    "sboms/nomadp.cdx.json",
]


@dataclass(frozen=True)
class Built:
    wheel: Path
    sdist: Path


@dataclass(frozen=True)
class Builder:
    """The locked hatchling: without isolation, so that no other version builds what we test."""

    python: Path
    epoch: int
    """The time of the last commit: the only one that a build may write down."""

    def build(self, root: Path, out: Path, *kinds: str) -> list[Path]:
        """Build these kinds from the tree at ``root``, where no Node can be found."""
        targets = [arg for kind in kinds for arg in ("-t", kind)]
        command = [self.python, "-m", "hatchling", "build", *targets, "-d", out]
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in ("HOME", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USERPROFILE")
        }
        environment |= {"SOURCE_DATE_EPOCH": str(self.epoch), "PATH": str(self.python.parent)}
        out.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"hatchling could not build {root.name}: {done.stderr}")
        return [next(out.glob({"wheel": "*.whl", "sdist": "*.tar.gz"}[k])) for k in kinds]


def build_all(builder: Builder, root: Path, out: Path) -> tuple[Built, list[str]]:
    """Both, into ``out``; and a sentence for each way in which a second build differs."""
    shutil.rmtree(out, ignore_errors=True)
    wheel, sdist = builder.build(root, out, "wheel", "sdist")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        again = builder.build(root, Path(folder, "again"), "wheel", "sdist")
        wrong += [
            f"a second build of {first.name} must give the same bytes, and does not"
            for first, second in zip((wheel, sdist), again, strict=True)
            if digest(first) != digest(second)
        ]
        unpacked = unpack(sdist, Path(folder, "unpacked"))
        (from_sdist,) = builder.build(unpacked, Path(folder, "from"), "wheel")
        if digest(from_sdist) != digest(wheel):
            wrong.append("the sdist must build the same wheel, without Node, and does not")
    return Built(wheel, sdist), wrong


def unpack(sdist: Path, folder: Path) -> Path:
    """The tree that the sdist holds."""
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def folder_digest(folder: Path) -> str:
    """Of every file under it, by name."""
    every = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            every.update(f"{path.relative_to(folder).as_posix()} {digest(path)}\n".encode())
    return every.hexdigest()


def tracked(root: Path) -> set[str]:
    """What is, or would be, in the repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    names = filter(None, listed.decode().split("\0"))
    return {name for name in names if (root / name).is_file()}


def pages(root: Path) -> set[str]:
    """What was built for browsers."""
    found = {path for path in (root / PAGES).rglob("*") if path.is_file()}
    return {path.relative_to(root).as_posix() for path in found}


def wheel_names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def sdist_names(sdist: Path) -> set[str]:
    """Below its one folder."""
    with tarfile.open(sdist) as packed:
        return {each.name.partition("/")[2] for each in packed if each.isfile()}


def expected_of_wheel(root: Path, version: str) -> set[str]:
    """The package as git has it, the pages, and the metadata: nothing else belongs."""
    package = {name for name in tracked(root) if name.startswith("src/nomadp/")} | pages(root)
    about = {f"nomadp-{version}.dist-info/{name}" for name in METADATA}
    return {name.removeprefix("src/") for name in package} | about


def expected_of_sdist(root: Path) -> set[str]:
    return tracked(root) | pages(root) | {"PKG-INFO"}


def differences(what: str, found: set[str], expected: set[str]) -> list[str]:
    """A sentence for what is missing, and one for what does not belong."""
    told = []
    if missing := sorted(expected - found):
        told.append(f"the {what} must hold {', '.join(missing)}")
    if strangers := sorted(found - expected):
        told.append(f"the {what} must not hold {', '.join(strangers)}")
    return told


def misplaced(built: Built, root: Path, version: str) -> list[str]:
    """What is wrong with the contents of both; the pages must be among them."""
    if f"{PAGES}/index.html" not in pages(root):
        return ["the pages must be built; run: python3 dev.py web"]
    return [
        *differences("wheel", wheel_names(built.wheel), expected_of_wheel(root, version)),
        *differences("sdist", sdist_names(built.sdist), expected_of_sdist(root)),
    ]
