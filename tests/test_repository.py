"""What the tree promises as a whole: nothing of this machine, no pickles, small pieces."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import nomadp

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    ROOT / "dev.py",
    *sorted((ROOT / "release").glob("*.py")),
    *sorted((ROOT / "src").rglob("*.py")),
]

MODULE_LINES = 500
FUNCTION_LINES = 60
PARAMETERS = 5

KNOWN_HOSTS = {
    "127.0.0.1",
    "...",
    "[",  # of IPv6
    "HOST",
    "database",
    "doi.org",
    "keepachangelog.com",
    "localhost",
    "nowhere",
    "semver.org",
    "www.apache.org",
    "www.google.com",  # the namespaces of KML and GPX, in made files
    "www.opengis.net",
    "www.topografix.com",
    "www.w3.org",
}
"""Every other address is a mistake or a registry; a new one is added here on purpose."""


@cache
def tracked() -> dict[Path, str]:
    """The text files that are, or would be, in the repository."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode != 0:
        pytest.skip("this is not a git checkout")
    texts = {}
    for name in filter(None, listing.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            content = (ROOT / name).read_bytes()
            if b"\0" not in content:
                texts[Path(name)] = content.decode("utf-8")
    return texts


def matches(pattern: str) -> list[str]:
    return [
        f"{path}: {found.group()}"
        for path, text in tracked().items()
        for found in re.finditer(pattern, text)
    ]


def functions(source: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imports(source: Path) -> set[str]:
    """The top-level packages a module imports."""
    dotted: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            dotted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            dotted.add(str(node.module))
    return {name.split(".")[0] for name in dotted}


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    every = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return [arg.arg for arg in every if arg.arg not in ("self", "cls")]


def is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """click hands a command its options as parameters: there are as many as it needs."""
    return any("command" in ast.unparse(each) for each in function.decorator_list)


def is_compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A loop for numba takes its arrays one by one: a tuple of them would only hide them."""
    return any(ast.unparse(each) in ("kernel", "part") for each in function.decorator_list)


def by_name(source: Path) -> str:
    return str(source.relative_to(ROOT))


def test_every_address_is_one_we_chose() -> None:
    hosts = r"(?<=://)[^\s/:\"'`<>)\]{}]+"
    found = ((hit, hit.split(": ")[1].split("@")[-1]) for hit in matches(hosts))
    # Nobody can ever own a name below .example (RFC 2606).
    strangers = [
        hit for hit, host in found if host not in KNOWN_HOSTS and not host.endswith(".example")
    ]
    assert strangers == []


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    assert matches(r"(?<![\w.:])/(?:work|root|home|Users)/[\w.]+|[A-Z]:\\Users\\\w+") == []


def test_no_lock_of_another_tool_is_left_behind() -> None:
    assert {path.name for path in tracked()}.isdisjoint({"uv.lock", "pylock.toml"})


def test_no_file_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "common", "misc", "tmp", "data2"}
    named = [path for path in tracked() if empty & {part.split(".")[0] for part in path.parts}]
    assert named == []


def test_the_package_reads_and_writes_no_pickles() -> None:
    unsafe = {"pickle", "cPickle", "dill", "joblib", "cloudpickle", "shelve", "marshal"}
    assert [by_name(source) for source in SOURCES if unsafe & imports(source)] == []


def test_no_statement_numbers_its_parameters() -> None:
    # Python 3.12.0 to 3.12.3 warns of each in a sequence (cpython issue 117995).
    numbered = re.compile(r"[(\s=]\?\d")
    assert [by_name(each) for each in SOURCES if numbered.search(each.read_text("utf-8"))] == []


def test_modules_and_functions_stay_small() -> None:
    large = {by_name(source): what_is_large(source) for source in SOURCES}
    assert {source: names for source, names in large.items() if names} == {}


def what_is_large(source: Path) -> set[str]:
    """The names of what has too many lines or parameters in a file; its own, if it has."""
    whole = len(source.read_text(encoding="utf-8").splitlines()) > MODULE_LINES
    long = {
        function.name
        for function in functions(source)
        if (function.end_lineno or 0) - function.lineno + 1 > FUNCTION_LINES
    }
    wide = {
        function.name
        for function in functions(source)
        if len(parameters(function)) > PARAMETERS
        and not (is_command(function) or is_compiled(function))
    }
    return long | wide | ({source.name} if whole else set())


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [nomadp.__version__]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d[^\] ]*)", changelog, re.MULTILINE)
    assert newest is None or newest.group(1) == nomadp.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]


def test_a_visitor_is_told_in_little_what_it_is_and_whom_to_cite() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    parts = ["Install", "First result", "Where to start", "What is guaranteed"]
    parts += ["Compared with", "Cite", "Help"]
    assert re.findall(r"^## (.+)$", readme, re.MULTILINE) == parts
    assert readme.index("python3 dev.py demo") < readme.index("python3 dev.py test") < 1200
    (paper,) = re.findall(r"^    doi: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert paper in readme


def test_the_changelog_puts_privacy_first() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for release in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        assert re.findall(r"^### (\w+)", release, re.MULTILINE)[:1] == ["Privacy"]


def links() -> list[tuple[str, str]]:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return [
        (by_name(document), target)
        for document in documents
        for target in re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
        if "://" not in target
    ]


def test_every_link_between_documents_leads_somewhere() -> None:
    assert [
        (document, target)
        for document, target in links()
        if not ((ROOT / document).parent / target).exists()
    ] == []


def test_the_tree_that_contributors_see_is_the_tree() -> None:
    shown = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (picture,) = re.findall(r"```\nsrc/nomadp/\n(.*?)```", shown, re.DOTALL)
    drawn = set(re.findall(r"^  (\w+)(?:\.py|/)", picture, re.MULTILINE))
    package = ROOT / "src" / "nomadp"
    there = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    there |= {path.parent.name for path in package.glob("*/__init__.py")}
    assert drawn == there
