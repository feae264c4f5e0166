"""Every error by its code, read from the calls that raise it."""

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
"""What becomes a `SchemaError` with the same code, or is one."""

ABOUT = """# Errors

An error has a **code**, which is stable across versions, and facts as attributes, such as
`error.unknown`. Programs read those. The message is for people and may change. It says what
must hold, what came and what to do, and never holds a private location.

A command prints the code in brackets behind the message, and with `--json` as `error.code`:

```text
nomadp: epsilon must be a number above 0 and at most 20, got 100 [epsilon_out_of_range]
```

In a message below, `{...}` stands for a value. An error without a code of its own has the code
of its class.
"""


class Raised(NamedTuple):
    """One call that makes an error."""

    code: str
    kind: str
    message: str
    facts: tuple[str, ...]
    where: str


def made_in(path: Path) -> Iterator[Raised]:
    """Every call in a module that states a ``code``, in the order of the lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (code := _code(node)) is not None:
            where = f"{path.relative_to(SOURCE).as_posix()}:{node.lineno}"
            facts = (each.arg for each in node.keywords if each.arg not in ("code", None))
            name = ast.unparse(node.func).removeprefix("errors.").removeprefix("self.")
            kind = "SchemaError" if name in CARRIERS else name
            message = _message(node) or _unreadable(code)
            yield Raised(code, kind, message, tuple(map(str, facts)), where)


def _unreadable(code: str) -> str:
    """What `Unreadable` says, which states its code alone."""
    return f"{{...}} {REASONS[code]}" if code in REASONS else ""


def _code(node: ast.Call) -> str | None:
    for each in node.keywords:
        if each.arg == "code" and isinstance(each.value, ast.Constant):
            return str(each.value.value)
    return None


def _message(node: ast.Call) -> str:
    """The words of the longest text among the arguments; values become ``{...}``."""
    texts = [_text(each) for each in node.args]
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
    """All of them, by code."""
    found = [each for path in sorted(SOURCE.rglob("*.py")) for each in made_in(path)]
    # Some of these are raised by a code that is not written out.
    where = "formats/unreadable.py:0"
    found += [Raised(code, "SchemaError", _unreadable(code), (), where) for code in REASONS]
    return tuple(sorted(found))


def classes() -> Iterator[tuple[str, str, str]]:
    for name in errors.__all__:
        kind = getattr(errors, name)
        said = " ".join(str(kind.__doc__).split("\n\n")[0].split())
        yield f"`{name}`", f"`{kind.kind}`", said


def page() -> str:
    rows = ["| class | its code | means |\n| --- | --- | --- |\n"]
    rows += ["| " + " | ".join(each) + " |\n" for each in classes()]
    listed = ["| code | message |\n| --- | --- |\n"]
    seen = set()
    for each in catalogue():
        message = each.message.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
        if (each.code, message) not in seen:
            seen.add((each.code, message))
            listed.append(f"| `{each.code}` | {message} |\n")
    return "\n".join([ABOUT, "## Classes\n", "".join(rows), "## Codes\n", "".join(listed)])
