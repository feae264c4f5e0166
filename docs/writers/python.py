"""docs/reference/python: signature, docstring, fields and methods of every public name."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import nomadp
from nomadp.analysis.guarantee import Explanation
from nomadp.analysis.metrics import Evaluation, Scores
from nomadp.analysis.utility import Utility
from nomadp.answers.facts import Terms
from nomadp.audit.loss import Measurement
from nomadp.budget import Split
from nomadp.client.ledger import Budget
from nomadp.client.outbox import Receipt
from nomadp.datasets.city import City
from nomadp.engine.local import PerturbOptions
from nomadp.formats.point_files import ReadSummary
from nomadp.formats.presets import Reading
from nomadp.mechanisms import MECHANISMS
from nomadp.protocol.bundle import TaskBundle
from nomadp.zones import Zones

ABOUT = """# Python

Every public name of `nomadp`, by topic. Names that are not listed may change without notice.
Names include units: kilometres (`_km`), degrees in WGS84 (`lat`, `lng`). ε is the budget of a
whole trajectory. It is exact, and may be a number, a string or a fraction. The tests run every
example.
"""

TOPICS = {
    "data": ("Data and locations", "read_locations"),
    "mechanisms": ("Mechanisms", "as_epsilon"),
    "utility": ("Guarantee, utility and audit", "explain"),
    "reports": ("Reports and randomness", "Report"),
    "devices": ("Devices and many trajectories", "Client"),
    "estimates": ("Estimates", "decode"),
    "scores": ("Scores", "evaluate"),
    "errors": ("Errors", "NomadpError"),
}
"""The pages of the reference: the heading of each, and its first public name."""
OTHERS = {"options": "Options of each mechanism", "types": "Arguments and results"}
"""Pages without public names."""

OBJECTS = (
    City, Reading, ReadSummary, Split, Zones, PerturbOptions, Explanation, Utility, Measurement,
    TaskBundle, Receipt, Budget, Terms, Evaluation, Scores,
)  # fmt: skip
"""Types that public functions return or accept, and that are rarely imported."""

OPTIONS = """Options of [`make_mechanism`](mechanisms.md#make_mechanism) besides `epsilon` and
`locations`. `nomadp perturb` takes them as `--option NAME=VALUE`.
"""

Definition = ast.FunctionDef | ast.ClassDef
EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


def public_names() -> list[str]:
    return [name for name in nomadp.__all__ if name != "__version__"]


@cache
def parsed(module: ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))


def definition(value: Any) -> Definition:
    """The syntax tree of a function or class, with its annotations as written."""
    module = importlib.import_module(value.__module__)
    for node in ast.walk(parsed(module)):
        if isinstance(node, Definition) and node.name == value.__name__:
            return node
    raise LookupError(f"no definition of {value.__name__} in {value.__module__}")


def signature(name: str, function: ast.FunctionDef) -> str:
    """The signature as written, on several lines if it is long."""
    arguments = function.args
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments = ast.parse(ast.unparse(function)).body[0].args  # type: ignore[attr-defined]
        arguments.args = arguments.args[1:]
    returned = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    text = f"{name}({ast.unparse(arguments)}){returned}"
    if len(text) <= 88:
        return text
    inner = ",\n    ".join(split_arguments(ast.unparse(arguments)))
    return f"{name}(\n    {inner},\n){returned}"


def split_arguments(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[begin:place].strip())
            begin = place + 1
    return [*parts, text[begin:].strip()]


@cache
def topic_of() -> dict[str, str]:
    """The page of each public name."""
    begins = {first: topic for topic, (_, first) in TOPICS.items()}
    topics, topic = {}, ""
    for name in public_names():
        topic = begins.get(name, topic)
        topics[name] = topic
    return topics


def linked(text: str) -> str:
    """Docstring text as Markdown: names become code, and public names become links."""
    text = text.replace("``", "`")

    def link(match: re.Match[str]) -> str:
        name = match[1]
        topic = topic_of().get(name)
        return f"[`{name}`]({topic}.md#{name.lower()})" if topic else match[0]

    return re.sub(r"(?<!\[)`(\w+)`", link, text)


SECTION = re.compile(r"^(Args|Returns|Raises):\n((?:    .*\n?|\n)+)", re.MULTILINE)
HEADS = {"Args": "Parameters", "Returns": "Returns", "Raises": "Raises"}


def sections(doc: str) -> str:
    """The sections of a docstring (Google's style) as lists."""

    def convert(match: re.Match[str]) -> str:
        body = inspect.cleandoc("\n" + match[2])
        if match[1] == "Returns":
            return f"**Returns**: {body}\n\n"
        entries = re.split(r"\n(?=\S)", body)
        lines = []
        for entry in entries:
            name, _, text = entry.partition(":")
            text = " ".join(text.split())
            label = f"`{name}`" if match[1] == "Raises" else f"**`{name}`**"
            lines.append(f"- {label}: {text}")
        return f"**{HEADS[match[1]]}**\n\n" + "\n".join(lines) + "\n\n"

    return SECTION.sub(convert, doc)


def prose(doc: str) -> str:
    """A docstring as Markdown, with its examples as code blocks."""
    parts, place, doc = [], 0, sections(doc)
    for example in EXAMPLE.finditer(doc):
        parts.append(linked(doc[place : example.start()]))
        parts.append(f"```pycon\n{example.group()}\n```")
        place = example.end()
    return "".join([*parts, linked(doc[place:])]).strip() + "\n"


def of_class(owner: type) -> str:
    """The public fields and methods of a class, including those of our base classes."""
    lines = []
    for base in reversed(owner.__mro__):
        if not base.__module__.startswith("nomadp"):
            continue
        body = definition(base).body
        for node in body:
            line = None
            if isinstance(node, ast.AnnAssign):
                line = field(node, docstring_after(node, body))
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                line = method(owner, node)
            if line and line not in lines:
                lines.append(line)
    return "\n\n".join(lines) + "\n" if lines else ""


def docstring_after(node: ast.AnnAssign, body: list[ast.stmt]) -> str:
    """The string below a field, which documents it."""
    following = body[body.index(node) + 1 :][:1]
    if following and isinstance(following[0], ast.Expr):
        text = getattr(following[0].value, "value", "")
        return inspect.cleandoc(text) if isinstance(text, str) else ""
    return ""


def field(node: ast.AnnAssign, doc: str) -> str | None:
    name = ast.unparse(node.target)
    kind = ast.unparse(node.annotation)
    if name.startswith("_") or kind.startswith("ClassVar"):
        return None
    default = f" = {ast.unparse(node.value)}" if node.value is not None else ""
    if "field(" in default:
        default = ""
    return item(f"{name}: {kind}{default}", doc)


def item(code: str, doc: str) -> str:
    """A list item. Its text is indented by four spaces, as every Markdown dialect requires."""
    text = "\n\n" + textwrap.indent(linked(doc.strip()), "    ") if doc.strip() else ""
    return f"- `{code}`{text}"


def method(owner: type, node: ast.FunctionDef) -> str | None:
    doc = inspect.getdoc(getattr(owner, node.name))
    if not doc and owner in OBJECTS:
        return None
    if not doc:
        raise LookupError(f"{owner.__name__}.{node.name} is public and has no docstring")
    decorated = {ast.unparse(decorator) for decorator in node.decorator_list}
    if decorated & {"property", "cached_property"}:
        returned = ast.unparse(node.returns) if node.returns else "Any"
        code = f"{node.name}: {returned}"
    else:
        code = re.sub(r"\s+", " ", signature(node.name, node))
        code = code.replace("( ", "(").replace(", )", ")")
    return item(code, EXAMPLE.sub("", doc))


def of_object(kind: type) -> str:
    doc = EXAMPLE.sub("", str(inspect.getdoc(kind))).strip()
    head = f"## {kind.__name__}\n\nFrom `{kind.__module__}`. "
    return f"{head}{linked(doc)}\n\n{of_class(kind)}"


def of_mechanism(kind: type[nomadp.Mechanism]) -> str:
    """The options of a mechanism, and their ranges."""
    text = [f"## `{kind.name}`", linked(str(inspect.getdoc(kind)))]
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("nomadp") and base is not nomadp.Mechanism:
            body = definition(base).body
            fields = [node for node in body if isinstance(node, ast.AnnAssign)]
            text += filter(None, (field(node, docstring_after(node, body)) for node in fields))
    return "\n\n".join(text) + "\n"


def of_name(name: str) -> str:
    value = getattr(nomadp, name)
    text = [f"## {name}\n"]
    if inspect.isfunction(value):
        code = signature(f"nomadp.{name}", definition(value))  # type: ignore[arg-type]
        text.append(f"```python\n{code}\n```\n")
    elif issubclass(value, Exception):
        bases = " and ".join(f"`{base.__name__}`" for base in value.__bases__)
        text.append(f"An exception, also {bases}; its `kind` is `{value.kind}`.\n")
    text.append(prose(str(inspect.getdoc(value))))
    if inspect.isclass(value) and not issubclass(value, Exception):
        text.append(of_class(value))
    return "\n".join(filter(None, text))


def index() -> str:
    """The list of topics, and of the names on each page."""
    parts = [ABOUT]
    for topic, (heading, _) in TOPICS.items():
        names = [name for name, page in topic_of().items() if page == topic]
        links = ", ".join(f"[`{name}`](python/{topic}.md#{name.lower()})" for name in names)
        parts.append(f"- [{heading}](python/{topic}.md): {links}")
    parts += [f"- [{heading}](python/{topic}.md)" for topic, heading in OTHERS.items()]
    return "\n".join(parts) + "\n"


def topic(name: str) -> str:
    """The page of one topic."""
    parts = [f"# {TOPICS[name][0]}\n"]
    parts += [of_name(public) for public, page in topic_of().items() if page == name]
    return "\n".join(parts).replace(f"]({name}.md#", "](#")


def options() -> str:
    kinds = [of_mechanism(kind) for kind in MECHANISMS.values()]
    return "\n".join([f"# {OTHERS['options']}\n", OPTIONS, *kinds])


def types() -> str:
    """The page of argument and result types."""
    about = f"# {OTHERS['types']}\n\nTypes that public functions return or accept.\n"
    return "\n".join([about, *(of_object(kind) for kind in OBJECTS)])


def pages() -> dict[str, Callable[[], str]]:
    writers: dict[str, Callable[[], str]] = {"reference/python.md": index}
    writers |= {f"reference/python/{name}.md": partial(topic, name) for name in TOPICS}
    writers |= {"reference/python/options.md": options, "reference/python/types.md": types}
    return writers
