"""docs/reference/errors.md: every error code, from the calls in the sources."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nomadp
from nomadp import errors
from nomadp.formats.unreadable import REASONS

SOURCE = Path(nomadp.__file__).parent

CARRIERS = ("BadContent", "BadRows", "BadValue", "Unreadable", "check", "_parsed")
"""Calls whose code and message end up in a `SchemaError`."""

ABOUT = """# Errors

An error has a **code**, which is stable across versions, and facts as attributes, such as
`error.unknown`. Programs should read those. The message is for people and may change. It states
the requirement, the value it got and what to do, and never contains a private location.

A command prints the code in brackets after the message, and with `--json` as `error.code`:

```text
nomadp: epsilon must be a number above 0 and at most 20, got epsilon=100 [epsilon_out_of_range]
```

In a message below, `{...}` stands for a value. An error without a code of its own has the code
of its class.
"""


class Raised(NamedTuple):
    """One call that creates an error."""

    code: str
    kind: str
    message: str
    facts: tuple[str, ...]
    where: str


def made_in(path: Path) -> Iterator[Raised]:
    """Every call in a module with the argument ``code``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (code := _code(node)) is not None:
            where = f"{path.relative_to(SOURCE).as_posix()}:{node.lineno}"
            facts = (word.arg for word in node.keywords if word.arg not in ("code", None))
            name = ast.unparse(node.func).removeprefix("errors.").removeprefix("self.")
            kind = "SchemaError" if name in CARRIERS else name
            message = _message(node) or _unreadable_message(code)
            yield Raised(code, kind, message, tuple(map(str, facts)), where)


def _unreadable_message(code: str) -> str:
    """The message of `Unreadable`, which is created with only a code."""
    return f"{{...}} {REASONS[code]}" if code in REASONS else ""


def _code(node: ast.Call) -> str | None:
    for word in node.keywords:
        if word.arg == "code" and isinstance(word.value, ast.Constant):
            return str(word.value.value)
    return None


def _message(node: ast.Call) -> str:
    """The longest text among the arguments; values become ``{...}``."""
    texts = [_text(argument) for argument in node.args]
    return max(texts, key=len, default="")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = node.values
        return "".join(
            _text(part) if isinstance(part, ast.Constant) else "{...}" for part in parts
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return "{...}" if isinstance(node, ast.expr) else ""


@cache
def catalogue() -> tuple[Raised, ...]:
    """All errors, sorted by code."""
    errors = [error for path in sorted(SOURCE.rglob("*.py")) for error in made_in(path)]
    # Some calls pass a code that is not a literal, so add all codes of unreadable files.
    where = "formats/unreadable.py:0"
    errors += [
        Raised(code, "SchemaError", _unreadable_message(code), (), where) for code in REASONS
    ]
    return tuple(sorted(errors))


def classes() -> Iterator[tuple[str, str, str]]:
    for name in errors.__all__:
        kind = getattr(errors, name)
        meaning = " ".join(str(kind.__doc__).split("\n\n")[0].split())
        yield f"`{name}`", f"`{kind.kind}`", meaning


def page() -> str:
    rows = ["| class | code | meaning |\n| --- | --- | --- |\n"]
    rows += ["| " + " | ".join(row) + " |\n" for row in classes()]
    listed = ["| code | message |\n| --- | --- |\n"]
    seen = set()
    worded = {error.code for error in catalogue() if error.message != "{...}"}
    for error in catalogue():
        message = error.message.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
        if message == "{...}" and error.code in worded:
            continue  # a message from a variable: another row of the code has its words
        if (error.code, message) not in seen:
            seen.add((error.code, message))
            listed.append(f"| `{error.code}` | {message} |\n")
    return "\n".join([ABOUT, "## Classes\n", "".join(rows), "## Codes\n", "".join(listed)])
