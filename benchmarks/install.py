"""The install size of the base package and of each extra.

python benchmarks/install.py        print the table and write docs/measured.json

pip installs the wheel into empty environments, from the index it is configured for. Sizes are
those of the installed files without bytecode, on this platform.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from nomadp.extras import EXTRAS

__all__ = ["built_wheel", "installed_mib"]

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "docs" / "measured.json"
NOT_OURS = ("pip", "setuptools")
SIZES = """
import json
from importlib.metadata import distributions
def size(path):
    there = path.locate().exists() and path.suffix != ".pyc"
    return path.locate().stat().st_size if there else 0
print(json.dumps({one.name: sum(map(size, one.files or [])) for one in distributions()}))
"""


def built_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed_mib(wheel: Path, extra: str | None = None) -> dict[str, float]:
    """The sizes of all distributions in an environment with the package and one extra."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / ("Scripts/python" if os.name == "nt" else "bin/python")
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        requirement = str(wheel) if extra is None else f"{wheel}[{extra}]"
        subprocess.run([*pip, "install", "--no-compile", requirement], check=True)
        sizes = subprocess.run(
            [str(python), "-c", SIZES], check=True, capture_output=True, text=True
        )
        by_name = json.loads(sizes.stdout)
        return {name: size / 2**20 for name, size in by_name.items() if name not in NOT_OURS}


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        wheel = built_wheel(Path(folder))
        base = sum(installed_mib(wheel).values())
        rows.append(f"| `nomadp` | a device; perturbing, auditing, CSV | {base:.0f} MiB |")
        for extra in EXTRAS.values():
            added = sum(installed_mib(wheel, extra.name).values()) - base
            rows.append(f"| `nomadp[{extra.name}]` | {extra.gives} | {added:.0f} MiB more |")
            print(rows[-1], flush=True)
        added = sum(installed_mib(wheel, "all").values()) - base
        rows.append(f"| `nomadp[all]` | all but clusters | {added:.0f} MiB more |")
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    head = ["", f"| install | for | size ({where}) |", "| --- | --- | ---: |"]
    table = "\n".join([*head, *rows, ""])
    print(table)
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    measured["install-sizes"] = table
    MEASURED.write_text(json.dumps(measured, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
