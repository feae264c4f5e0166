"""A package of somebody else that registers mechanisms, as pip installs it in a folder."""

import re
import tomllib
from pathlib import Path

CONTRIBUTING = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"


def install(folder: Path, package: str, source: str, mechanisms: dict[str, str]) -> None:
    """Write a module into ``folder``, with its entry points."""
    (folder / f"{package}.py").write_text(source, encoding="utf-8")
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [f"{name} = {package}:{kind}" for name, kind in mechanisms.items()]
    (info / "entry_points.txt").write_text(
        "\n".join(["[nomadp.mechanisms]", *lines]) + "\n", encoding="utf-8"
    )


def written_in_contributing() -> tuple[str, dict[str, str]]:
    """The example mechanism in CONTRIBUTING, and its entry points."""
    text = CONTRIBUTING.read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (settings,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    announced = tomllib.loads(settings)["project"]["entry-points"]["nomadp.mechanisms"]
    return source, {name: value.split(":")[1] for name, value in announced.items()}
