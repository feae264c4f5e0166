"""docs/reference/settings.md: environment variables, collector options, extras and limits."""

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
        "The folder of the ledger. The default is the platform's folder for user data: "
        "`$XDG_DATA_HOME/nomadp` or `~/.local/share/nomadp`, "
        "`~/Library/Application Support/nomadp`, `%LOCALAPPDATA%\\nomadp`.",
    ),
    "NOMADP_STORE": (
        "collector",
        "The store, like `--store` of `nomadp serve` and `nomadp collector`: a file, or "
        "`postgresql://USER@HOST/DATABASE`. `--store` takes precedence.",
    ),
    "NOMADP_ANALYST_TOKEN": (
        "collector, `nomadp query`",
        "The analyst token. `nomadp serve` uses it instead of creating one, and "
        "`nomadp query --collector` sends it.",
    ),
    "NOMADP_OPERATOR_TOKEN": (
        "collector, `nomadp task`, `nomadp collector status`",
        "The operator token, likewise: to publish and close tasks and to see their progress.",
    ),
    "NOMADP_KEEP_FREE_MIB": (
        "collector",
        "MiB of disk space to keep free (default: 256). With less, reports are refused (507).",
    ),
    "NOMADP_DATA": (
        "experiments",
        "The folder with the paper's four data sets, for tests and benchmarks. "
        "`nomadp doctor` checks whether they are there.",
    ),
    "NOMADP_DEBUG": (
        "every command",
        "`1` prints the traceback and message of an unexpected error. By default they are "
        "hidden, because they may contain a private location.",
    ),
}
"""Each variable: what reads it, and what it means."""

INTERNAL = {"NOMADP_WORKER_STORE"}
"""Variables that a process only sets for its child processes."""

ABOUT = """# Settings

There is no configuration file. The parameters of a collection are in its
[task](../protocol.md), which is public. Everything else is listed here. Secrets are read from
environment variables, never from options, which other users of a machine can see.
"""


def variables_read() -> set[str]:
    """Every environment variable that the sources of the package mention."""
    sources = Path(nomadp.__file__).parent.rglob("*.py")
    texts = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    return set(re.findall(r"NOMADP_[A-Z]+(?:_[A-Z]+)*", texts)) - INTERNAL


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(row) + " |\n" for row in lines)


def serving() -> str:
    (context,) = (context for path, context in commands() if path == "nomadp serve")
    rows = []
    for option in context.command.params:
        if isinstance(option, click.Option):
            names, text = option.get_help_record(context) or ("", "")
            rows.append([f"`{names}`", re.sub(r"\s+", " ", text)])
    return table(["option", "description"], rows)


def constants(module: ModuleType) -> list[list[str]]:
    """The public constants of a module, with their docstrings."""
    body = ast.parse(inspect.getsource(module)).body
    rows = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in module.__all__:
            name = ast.unparse(node.targets[0])
            doc = after.value.value if is_text(after) else ""  # type: ignore[union-attr,attr-defined]
            rows.append([f"`{name}`", f"{getattr(module, name)}", " ".join(doc.split())])
    return rows


def is_text(node: ast.stmt | None) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def page() -> str:
    if difference := variables_read() ^ VARIABLES.keys():
        raise LookupError(f"variables without a description, or not in use: {difference}")
    variables = [[f"`{name}`", *row] for name, row in VARIABLES.items()]
    codes = str(exit_codes.__doc__).split("\n\n")[1]
    extras = [
        [f"`{extra.name}`", f"`{extra.package}`", extra.gives, f"`{extra.remedy}`"]
        for extra in EXTRAS.values()
    ]
    return "\n".join(
        [
            ABOUT,
            "## Environment variables\n",
            table(["variable", "read by", "description"], variables),
            "## Options of `nomadp serve`\n",
            serving(),
            "[Running a collector](../operate.md) explains when to change them.\n",
            "## Exit codes\n",
            f"```text\n{codes}\n```\n",
            "## Extras\n",
            "A device needs only the base install. `all` installs everything for a desktop.\n",
            table(["extra", "package", "provides", "install"], extras),
            "## Ceilings\n",
            "A device refuses every task beyond these limits. Names that end in `_S` are in\n"
            "seconds.\n",
            table(["limit", "value", "description"], constants(ceilings)),
        ]
    )
