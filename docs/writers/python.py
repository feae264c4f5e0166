"""The public names of the package: signature, docstring, fields, methods, and the example."""

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

Every public name of `nomadp`, by topic and in the order the data flows. A name that is not
listed may change without notice. Units are part of names: kilometres (`_km`), degrees in WGS84
(`lat`, `lng`). ε is the budget of a whole trajectory and exact: a number, its text or a
fraction. The tests run every example.
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
"""The pages of the reference: a heading, and the public name that each begins with."""
OTHERS = {"options": "Options of each mechanism", "types": "Arguments and results"}
"""Pages that list no public name."""

OBJECTS = (
    City, Reading, ReadSummary, Split, Zones, PerturbOptions, Explanation, Utility, Measurement,
    TaskBundle, Receipt, Budget, Terms, Evaluation, Scores,
)  # fmt: skip
"""What public names return or accept; they are not imported by name, as a rule."""

OPTIONS = """What [`make_mechanism`](mechanisms.md#make_mechanism) takes beside `epsilon` and
`locations`, and `nomadp perturb` as `--option NAME=VALUE`.
"""

Definition = ast.FunctionDef | ast.ClassDef
EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


def public_names() -> list[str]:
    return [name for name in nomadp.__all__ if name != "__version__"]


@cache
def parsed(module: ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))


def definition(found: Any) -> Definition:
    """Where a function or class is written, with its annotations as they were written."""
    module = importlib.import_module(found.__module__)
    for node in ast.walk(parsed(module)):
        if isinstance(node, Definition) and node.name == found.__name__:
            return node
    raise LookupError(f"no definition of {found.__name__} in {found.__module__}")


def signature(name: str, function: ast.FunctionDef) -> str:
    """As it is written, on several lines if it is long."""
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
    """At the commas that are outside of every bracket."""
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
    found, topic = {}, ""
    for name in public_names():
        topic = begins.get(name, topic)
        found[name] = topic
    return found


def linked(text: str) -> str:
    """Prose of a docstring as Markdown: names as code, public ones as links."""
    text = text.replace("``", "`")

    def turn(found: re.Match[str]) -> str:
        name = found[1]
        topic = topic_of().get(name)
        return f"[`{name}`]({topic}.md#{name.lower()})" if topic else found[0]

    return re.sub(r"(?<!\[)`(\w+)`", turn, text)


SECTION = re.compile(r"^(Args|Returns|Raises):\n((?:    .*\n?|\n)+)", re.MULTILINE)
HEADS = {"Args": "Parameters", "Returns": "Returns", "Raises": "Raises"}


def sections(doc: str) -> str:
    """The sections of a docstring (Google's style) as lists."""

    def turn(found: re.Match[str]) -> str:
        body = inspect.cleandoc("\n" + found[2])
        if found[1] == "Returns":
            return f"**Returns** {body}\n"
        entries = re.split(r"\n(?=\S)", body)
        lines = []
        for entry in entries:
            name, _, said = entry.partition(":")
            said = " ".join(said.split())
            shown = f"`{name}`" if found[1] == "Raises" else f"**`{name}`**"
            lines.append(f"- {shown}: {said}")
        return f"**{HEADS[found[1]]}**\n\n" + "\n".join(lines) + "\n"

    return SECTION.sub(turn, doc)


def prose(doc: str) -> str:
    """A docstring as Markdown, its examples as what one would type and see."""
    parts, place, doc = [], 0, sections(doc)
    for example in EXAMPLE.finditer(doc):
        parts.append(linked(doc[place : example.start()]))
        parts.append(f"```pycon\n{example.group()}\n```")
        place = example.end()
    return "".join([*parts, linked(doc[place:])]).strip() + "\n"


def of_class(found: type) -> str:
    """Its fields and its methods, those of its bases too, if they are ours and public."""
    lines = []
    for base in reversed(found.__mro__):
        if not base.__module__.startswith("nomadp"):
            continue
        body = definition(base).body
        for node in body:
            line = None
            if isinstance(node, ast.AnnAssign):
                line = field(node, said_after(node, body))
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                line = method(found, node)
            if line and line not in lines:
                lines.append(line)
    return "\n\n".join(lines) + "\n" if lines else ""


def said_after(node: ast.AnnAssign, body: list[ast.stmt]) -> str:
    """The text that stands below a field, which is how we document one."""
    following = body[body.index(node) + 1 :][:1]
    if following and isinstance(following[0], ast.Expr):
        text = getattr(following[0].value, "value", "")
        return inspect.cleandoc(text) if isinstance(text, str) else ""
    return ""


def field(node: ast.AnnAssign, said: str) -> str | None:
    named = ast.unparse(node.target)
    kind = ast.unparse(node.annotation)
    if named.startswith("_") or kind.startswith("ClassVar"):
        return None
    default = f" = {ast.unparse(node.value)}" if node.value is not None else ""
    if "field(" in default:
        default = ""
    return item(f"{named}: {kind}{default}", said)


def item(shown: str, said: str) -> str:
    """Of a list; indented by four, which both Markdown of forges and of the site understand."""
    text = "\n\n" + textwrap.indent(linked(said.strip()), "    ") if said.strip() else ""
    return f"- `{shown}`{text}"


def method(owner: type, node: ast.FunctionDef) -> str | None:
    said = inspect.getdoc(getattr(owner, node.name))
    if not said and owner in OBJECTS:
        return None
    if not said:
        raise LookupError(f"{owner.__name__}.{node.name} is public and has no docstring")
    decorated = {ast.unparse(each) for each in node.decorator_list}
    if decorated & {"property", "cached_property"}:
        returned = ast.unparse(node.returns) if node.returns else "Any"
        shown = f"{node.name}: {returned}"
    else:
        shown = re.sub(r"\s+", " ", signature(node.name, node))
        shown = shown.replace("( ", "(").replace(", )", ")")
    return item(shown, EXAMPLE.sub("", said))


def of_object(found: type) -> str:
    said = EXAMPLE.sub("", str(inspect.getdoc(found))).strip()
    head = f"## {found.__name__}\n\nFrom `{found.__module__}`. "
    return f"{head}{linked(said)}\n\n{of_class(found)}"


def of_mechanism(kind: type[nomadp.Mechanism]) -> str:
    """The options that `make_mechanism` takes for it, and their ranges."""
    text = [f"## `{kind.name}`", linked(str(inspect.getdoc(kind)))]
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("nomadp") and base is not nomadp.Mechanism:
            body = definition(base).body
            fields = [node for node in body if isinstance(node, ast.AnnAssign)]
            text += filter(None, (field(node, said_after(node, body)) for node in fields))
    return "\n\n".join(text) + "\n"


def of_name(name: str) -> str:
    found = getattr(nomadp, name)
    text = [f"## {name}\n"]
    if inspect.isfunction(found):
        shown = signature(f"nomadp.{name}", definition(found))  # type: ignore[arg-type]
        text.append(f"```python\n{shown}\n```\n")
    elif issubclass(found, Exception):
        bases = " and ".join(f"`{base.__name__}`" for base in found.__bases__)
        text.append(f"An exception, also {bases}; its `kind` is `{found.kind}`.\n")
    text.append(prose(str(inspect.getdoc(found))))
    if inspect.isclass(found) and not issubclass(found, Exception):
        text.append(of_class(found))
    return "\n".join(filter(None, text))


def index() -> str:
    """The list of topics, and of the names on each page."""
    parts = [ABOUT]
    for topic, (heading, _) in TOPICS.items():
        names = [name for name, page in topic_of().items() if page == topic]
        shown = ", ".join(f"[`{name}`](python/{topic}.md#{name.lower()})" for name in names)
        parts.append(f"- [{heading}](python/{topic}.md): {shown}")
    parts += [f"- [{heading}](python/{topic}.md)" for topic, heading in OTHERS.items()]
    return "\n".join(parts) + "\n"


def topic(name: str) -> str:
    """The page of one topic."""
    parts = [f"# {TOPICS[name][0]}\n"]
    parts += [of_name(each) for each, page in topic_of().items() if page == name]
    return "\n".join(parts).replace(f"]({name}.md#", "](#")


def options() -> str:
    kinds = [of_mechanism(kind) for kind in MECHANISMS.values()]
    return "\n".join([f"# {OTHERS['options']}\n", OPTIONS, *kinds])


def types() -> str:
    """What public names return or accept."""
    about = f"# {OTHERS['types']}\n\nWhat public names return or accept besides each other.\n"
    return "\n".join([about, *(of_object(found) for found in OBJECTS)])


def pages() -> dict[str, Callable[[], str]]:
    found: dict[str, Callable[[], str]] = {"reference/python.md": index}
    found |= {f"reference/python/{name}.md": partial(topic, name) for name in TOPICS}
    found |= {"reference/python/options.md": options, "reference/python/types.md": types}
    return found
