"""All that can be set from outside: variables, options of the collector, extras, limits."""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import click

import nomadp
from nomadp.cli import exit_codes
from nomadp.extras import EXTRAS
from nomadp.protocol import ceilings
from writers.cli import commands

VARIABLES = {
    "NOMADP_HOME": (
        "devices",
        "The folder of the ledger. By default the platform's folder for a person's data: "
        "`$XDG_DATA_HOME/nomadp` or `~/.local/share/nomadp`, "
        "`~/Library/Application Support/nomadp`, `%LOCALAPPDATA%\\nomadp`.",
    ),
    "NOMADP_STORE": (
        "collector",
        "The store, as `--store` of `nomadp serve` and `nomadp collector`: a file, or "
        "`postgresql://USER@HOST/DATABASE`. An option given on the command line wins.",
    ),
    "NOMADP_ANALYST_TOKEN": (
        "collector, `nomadp query`",
        "The analyst's token: `nomadp serve` takes it instead of making one, and "
        "`nomadp query --collector` shows it.",
    ),
    "NOMADP_OPERATOR_TOKEN": (
        "collector, `nomadp task`, `nomadp collector status`",
        "The operator's token: the same, to publish and close tasks and see what arrived.",
    ),
    "NOMADP_KEEP_FREE_MIB": (
        "collector",
        "MiB that stay free on the disk: below, reports are turned away (507). 256 by default.",
    ),
    "NOMADP_DATA": (
        "experiments",
        "The folder with the paper's four data sets, for the tests and the benchmarks; "
        "`nomadp doctor` says whether they are there.",
    ),
    "NOMADP_DEBUG": (
        "every command",
        "`1` shows the traceback and message of an unexpected failure. They may quote a "
        "private location, so neither is shown otherwise.",
    ),
}
"""What is read, by whom, and what it means."""

INTERNAL = {"NOMADP_WORKER_STORE"}
"""Handed from a process to those it starts."""

ABOUT = """# Settings

There is no configuration file. A collection's parameters are its [task](../protocol.md), which
is public; the rest is here. Secrets are taken from variables, never from options, which other
users of a machine can see.
"""


def variables_read() -> set[str]:
    """Every variable of ours that the package names in its code."""
    sources = Path(nomadp.__file__).parent.rglob("*.py")
    texts = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    return set(re.findall(r"NOMADP_[A-Z]+(?:_[A-Z]+)*", texts)) - INTERNAL


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(row) + " |\n" for row in lines)


def serving() -> str:
    (context,) = (found for path, found in commands() if path == "nomadp serve")
    rows = []
    for option in context.command.params:
        if isinstance(option, click.Option):
            names, said = option.get_help_record(context) or ("", "")
            rows.append([f"`{names}`", re.sub(r"\s+", " ", said)])
    return table(["option", "what"], rows)


def constants(module: ModuleType) -> list[list[str]]:
    """The public numbers of a module, with what is written below them."""
    body = ast.parse(inspect.getsource(module)).body
    rows = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in module.__all__:
            name = ast.unparse(node.targets[0])
            said = after.value.value if is_text(after) else ""  # type: ignore[union-attr,attr-defined]
            rows.append([f"`{name}`", f"{getattr(module, name)}", " ".join(said.split())])
    return rows


def is_text(node: ast.stmt | None) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def page() -> str:
    if variables_read() != VARIABLES.keys():
        raise LookupError(
            f"variables that are not described: {variables_read() ^ VARIABLES.keys()}"
        )
    variables = [[f"`{name}`", *said] for name, said in VARIABLES.items()]
    codes = str(exit_codes.__doc__).split("\n\n")[1]
    extras = [
        [f"`{extra.name}`", f"`{extra.package}`", extra.gives, f"`{extra.remedy}`"]
        for extra in EXTRAS.values()
    ]
    return "\n".join(
        [
            ABOUT,
            "## Environment variables\n",
            table(["variable", "read by", "what"], variables),
            "## Options of `nomadp serve`\n",
            serving(),
            "[Running a collector](../operate.md) says when to touch them.\n",
            "## Exit codes\n",
            f"```text\n{codes}\n```\n",
            "## Extras\n",
            "The base install is what a device needs. `all` is everything for a desk.\n",
            table(["extra", "package", "gives", "how"], extras),
            "## Ceilings\n",
            "What no task may ask, whoever wrote it; a device refuses anything beyond. Names\n"
            "that end in `_S` are seconds.\n",
            table(["limit", "value", "what"], constants(ceilings)),
        ]
    )
