"""Build the wheel and the sdist reproducibly, and check their contents."""

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
"""The output folder of web/build.py. git ignores the pages, but the wheel contains them."""
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
    """Builds with the locked hatchling, without isolation, which could use another version."""

    python: Path
    epoch: int
    """The time of the last commit: the only time in the build, so that it is reproducible."""

    def build(self, root: Path, out: Path, *kinds: str) -> list[Path]:
        """Build these kinds from the tree at ``root``, with a PATH that contains no Node."""
        targets = [arg for kind in kinds for arg in ("-t", kind)]
        command = [self.python, "-m", "hatchling", "build", *targets, "-d", out]
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in ("HOME", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USERPROFILE")
        }
        environment |= {"SOURCE_DATE_EPOCH": str(self.epoch), "PATH": str(self.python.parent)}
        out.mkdir(parents=True, exist_ok=True)
        result = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            raise RuntimeError(f"hatchling could not build {root.name}: {result.stderr}")
        return [next(out.glob({"wheel": "*.whl", "sdist": "*.tar.gz"}[k])) for k in kinds]


def build_all(builder: Builder, root: Path, out: Path) -> tuple[Built, list[str]]:
    """Build both into ``out``; also return a sentence for each difference of a second build."""
    shutil.rmtree(out, ignore_errors=True)
    wheel, sdist = builder.build(root, out, "wheel", "sdist")
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        again = builder.build(root, Path(folder, "again"), "wheel", "sdist")
        problems += [
            f"a second build of {first.name} must give the same bytes, and does not"
            for first, second in zip((wheel, sdist), again, strict=True)
            if digest(first) != digest(second)
        ]
        unpacked = unpack(sdist, Path(folder, "unpacked"))
        (from_sdist,) = builder.build(unpacked, Path(folder, "from"), "wheel")
        if digest(from_sdist) != digest(wheel):
            problems.append("the sdist must build the same wheel, without Node, and does not")
    return Built(wheel, sdist), problems


def unpack(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist, and return the root of its tree."""
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def folder_digest(folder: Path) -> str:
    """A digest of the names and contents of all files in a folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(f"{path.relative_to(folder).as_posix()} {digest(path)}\n".encode())
    return total.hexdigest()


def tracked(root: Path) -> set[str]:
    """Files that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    names = filter(None, output.decode().split("\0"))
    return {name for name in names if (root / name).is_file()}


def pages(root: Path) -> set[str]:
    """The built files of the pages."""
    files = {path for path in (root / PAGES).rglob("*") if path.is_file()}
    return {path.relative_to(root).as_posix() for path in files}


def wheel_names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def sdist_names(sdist: Path) -> set[str]:
    """The names in an sdist, below its root folder."""
    with tarfile.open(sdist) as packed:
        return {member.name.partition("/")[2] for member in packed if member.isfile()}


def expected_of_wheel(root: Path, version: str) -> set[str]:
    """The tracked files of the package, the pages and the metadata, and nothing else."""
    package = {name for name in tracked(root) if name.startswith("src/nomadp/")} | pages(root)
    about = {f"nomadp-{version}.dist-info/{name}" for name in METADATA}
    return {name.removeprefix("src/") for name in package} | about


def expected_of_sdist(root: Path) -> set[str]:
    return tracked(root) | pages(root) | {"PKG-INFO"}


def differences(kind: str, names: set[str], expected: set[str]) -> list[str]:
    """Sentences about missing and unexpected files."""
    problems = []
    if missing := sorted(expected - names):
        problems.append(f"the {kind} must contain {', '.join(missing)}")
    if unexpected := sorted(names - expected):
        problems.append(f"the {kind} must not contain {', '.join(unexpected)}")
    return problems


def misplaced(built: Built, root: Path, version: str) -> list[str]:
    """Sentences about wrong contents of the wheel and the sdist."""
    if f"{PAGES}/index.html" not in pages(root):
        return ["the pages must be built; run: python3 dev.py web"]
    return [
        *differences("wheel", wheel_names(built.wheel), expected_of_wheel(root, version)),
        *differences("sdist", sdist_names(built.sdist), expected_of_sdist(root)),
    ]
