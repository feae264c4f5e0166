"""The reference has everything: names, commands, options, addresses, settings, and no more."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

import nomadp
from nomadp.mechanisms import MECHANISMS

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """docs/generate.py, as `dev.py check` runs it."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        path = ROOT / "docs" / "generate.py"
        spec = importlib.util.spec_from_file_location("docs_generate", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "docs"))
    return module


def page(name: str) -> str:
    text = (REFERENCE / f"{name}.md").read_text(encoding="utf-8")
    # The pages of its topics, in their order, are read as one.
    topics = re.findall(rf"^- \[[^\]]+\]\({name}/(\w+)\.md\)", text, re.MULTILINE)
    return "\n".join([text, *(page(f"{name}/{topic}") for topic in topics)])


def headings(name: str) -> list[str]:
    return [found.strip("`") for found in re.findall(r"^##+ (.+)$", page(name), re.MULTILINE)]


def sections(name: str) -> dict[str, str]:
    parts = re.split(r"^##+ (.+)$", page(name), flags=re.MULTILINE)[1:]
    return {head.strip("`"): text for head, text in zip(parts[::2], parts[1::2], strict=True)}


@pytest.mark.slow
def test_pages_are_fresh_and_those_changed_by_hand_are_stale(
    generate: ModuleType, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs)
    shutil.copytree(ROOT / "paper", tmp_path / "paper")
    shutil.copyfile(ROOT / "README.md", tmp_path / "README.md")
    for name in ("CONTRIBUTING.md", "src", "tests", "web"):  # what pages are made from
        (tmp_path / name).symlink_to(ROOT / name)

    def run(*args: str) -> "subprocess.CompletedProcess[str]":
        # In a process of its own: other tests may have left something in this one.
        command = [sys.executable, str(docs / "generate.py"), *args]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    changed = [*generate.PAGES, "differences.md"]
    before = {name: (docs / name).read_text(encoding="utf-8") for name in changed}
    for name, text in before.items():
        written = text.replace("<!-- end -->", "0<!-- end -->", 1)
        (docs / name).write_text(written if written != text else text + "0", encoding="utf-8")
    checked = run("--check")
    assert checked.returncode == 1
    assert set(re.findall(r"docs/([\w./]+?)[,;]", checked.stdout)) == set(changed)
    assert run().returncode == 0
    assert {name: (docs / name).read_text(encoding="utf-8") for name in changed} == before


def test_every_public_name_is_there_in_order() -> None:
    public = [name for name in nomadp.__all__ if name != "__version__"]
    assert [name for name in headings("python") if name in public] == public


def test_every_difference_from_the_paper_is_listed_at_the_top() -> None:
    text = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    points = re.findall(r"^### (\d+)\. ", text, re.MULTILINE)
    assert points == [str(k + 1) for k in range(len(points))]
    assert re.findall(r"^\| \[(\d+)\]\(#\1-", text, re.MULTILINE) == points


def test_every_example_of_a_docstring_is_there() -> None:
    for name, text in sections("python").items():
        if name in nomadp.__all__:
            said = str(getattr(nomadp, name).__doc__)
            assert text.count(">>>") == said.count(">>>") > 0


def test_every_mechanism_and_its_options_are_there() -> None:
    told = sections("python")
    for name, kind in MECHANISMS.items():
        options = {field.name for field in fields(kind)} - {"epsilon", "locations"}
        assert {option for option in options if f"- `{option}:" not in told[name]} == set()


def test_every_command_and_option_is_there() -> None:
    import click

    from nomadp.cli import main

    told = sections("cli")
    seen = []

    def look(command: click.Command, path: str) -> None:
        seen.append(path)
        names = [
            name for option in command.params for name in (*option.opts, *option.secondary_opts)
        ]
        options = [name for name in names if name.startswith("-")]
        shown = set(re.findall(r"(?<![\w-])--?\w[\w-]*", told[path]))
        assert [name for name in options if name not in shown] == []
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                look(inner, f"{path} {name}")

    look(main, "nomadp")
    assert seen == headings("cli")


def test_every_address_of_the_collector_is_there() -> None:
    document = json.loads((ROOT / "src/nomadp/collector/openapi.json").read_text("utf-8"))
    told = sections("http")
    for path, operations in document["paths"].items():
        for method in operations.keys() & {"get", "put", "post", "delete", "patch", "head"}:
            text = told[f"{method.upper()} {path}"]
            assert all(f"| {code} |" in text for code in operations[method]["responses"])
    for name, schema in document["components"]["schemas"].items():
        members = schema.get("properties", {})
        assert all(f"`{member}`" in told[name] for member in members)


def test_every_variable_that_is_read_is_there() -> None:
    sources = [*(ROOT / "src").rglob("*.py")]
    read = set()
    for source in sources:
        read |= set(re.findall(r"\bNOMADP_[A-Z_]+[A-Z]\b", source.read_text("utf-8")))
    read -= {"NOMADP_WORKER_STORE"}  # from a collector to its own workers
    assert read == set(re.findall(r"^\| `(NOMADP_\w+)`", page("settings"), re.MULTILINE))


def test_every_exported_name_of_the_client_is_there() -> None:
    source = (ROOT / "web" / "client" / "src" / "index.ts").read_text(encoding="utf-8")
    listed = re.findall(r"\{([^}]*)\} from", re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL))
    names = {re.sub(r"^type ", "", part.strip()) for each in listed for part in each.split(",")}
    names |= set(re.findall(r"\* as (\w+) from", source))
    names.discard("")
    assert len(names) > 50
    assert names - set(headings("typescript")) == set()


def test_every_exported_name_is_one_of_the_types_that_were_built() -> None:
    types = ROOT / "web" / "client" / "dist" / "index.d.ts"
    if not types.is_file():
        pytest.skip("the client is not built here; python3 dev.py web builds it")
    told = sections("typescript")
    declared = (types.parent / "device" / "client.d.ts").read_text(encoding="utf-8")
    (client,) = re.findall(r"^export declare class Client \{.*?^\}", declared, re.DOTALL | re.M)
    methods = set(re.findall(r"^    (?:static )?(\w+)\(", client, re.MULTILINE))
    assert "report" in methods
    assert {name for name in methods if f"{name}(" not in told["Client"]} <= {"constructor"}


def test_no_help_names_a_range_without_ends() -> None:
    assert "None]" not in (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
