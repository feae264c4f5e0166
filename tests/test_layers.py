"""The tree tells the story: imports only point backwards.

The order has one home, the import-linter contract in pyproject.toml. This reads the same order
and checks it on its own, import by import.
"""

import ast
import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "nomadp"
# The public names of __init__ are lazy: see test_public_names.
MODULES = sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py"})


def layers() -> list[set[str]]:
    """Lowest first."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        c for c in config["tool"]["importlinter"]["contracts"] if c["type"] == "layers"
    )
    return [set(re.findall(r"\w+", line)) for line in reversed(contract["layers"])]


LAYER = {name: height for height, names in enumerate(layers()) for name in names}


def top_name(module: Path) -> str:
    return module.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_names(module: Path) -> set[str]:
    """The parts of nomadp that a module imports, also inside functions and for types."""
    dotted: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            dotted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            dotted |= {f"{node.module}.{alias.name}" for alias in node.names}
    inside = {name.split(".")[1] for name in dotted if name.startswith("nomadp.")}
    return inside - {"__version__"}


def test_imports_only_point_backwards() -> None:
    forward = {str(m.relative_to(PACKAGE)): forward_imports(m) for m in MODULES}
    assert {module: names for module, names in forward.items() if names} == {}


def forward_imports(module: Path) -> set[str]:
    here = top_name(module)
    return {name for name in imported_names(module) - {here} if LAYER[name] >= LAYER[here]}


def graph_inside(package: str) -> dict[str, set[str]]:
    """Which module of a package imports which other, also inside functions and for types."""
    modules = {
        ".".join(module.relative_to(PACKAGE.parent).with_suffix("").parts): module
        for module in (PACKAGE / package).rglob("*.py")
        if module.name != "__init__.py"
    }
    graph: dict[str, set[str]] = {}
    for name, module in modules.items():
        nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        found = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
        graph[name] = {other for other in found if other in modules}
    return graph


# A table shows itself, and a service has routes: both by functions that take it as an argument.
FOR_TYPES = {"answers", "collector"}


@pytest.mark.parametrize("package", sorted(LAYER.keys() - FOR_TYPES))
def test_no_module_needs_itself_not_even_for_types(package: str) -> None:
    TopologicalSorter(graph_inside(package)).prepare()


def test_every_module_has_its_place() -> None:
    assert {top_name(module) for module in MODULES} <= LAYER.keys()


def test_the_order_is_the_one_the_readers_are_told() -> None:
    order = ["errors", "budget", "locations", "trajectory", "drawing", "mechanisms", "formats"]
    order += ["analysis", "demo", "cli"]
    assert sorted(order, key=LAYER.__getitem__) == order
    assert len({LAYER[name] for name in order}) == len(order)


COLLECTING = [*PACKAGE.glob("reports/*.py"), *PACKAGE.glob("inference/*.py")]


@pytest.mark.parametrize("module", COLLECTING, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_whoever_collects_needs_no_private_type(module: Path) -> None:
    assert "trajectory" not in imported_names(module)


@pytest.mark.parametrize("module", PACKAGE.glob("client/*.py"), ids=lambda m: m.stem)
def test_a_device_knows_nothing_of_outlines(module: Path) -> None:
    assert "outlines" not in module.read_text(encoding="utf-8")  # they are for who draws maps
