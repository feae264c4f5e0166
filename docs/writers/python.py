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
from nomadp.analysis.utility import Quality, Utility
from nomadp.answers.facts import Terms
from nomadp.audit.loss import Measurement
from nomadp.budget import Split, Step
from nomadp.client.ledger import Budget, TaskBudget
from nomadp.client.outbox import Receipt
from nomadp.datasets.city import City
from nomadp.engine.local import PerturbOptions
from nomadp.formats.point_files import ReadSummary, SnapSummary
from nomadp.formats.points import People
from nomadp.formats.presets import Reading
from nomadp.mechanisms import MECHANISMS
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.task import Task
from nomadp.reports.header import Header
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
    City, Reading, ReadSummary, SnapSummary, People, Split, Step, Zones, PerturbOptions, Header,
    Explanation, Utility, Quality, Measurement, Task, TaskBundle, Receipt, Budget, TaskBudget,
    Terms, Evaluation, Scores,
)  # fmt: skip
"""Types that public functions return or accept, and that are rarely imported."""

ALIASES = """## Names in signatures

| name | meaning |
|---|---|
| `AnyPath` | a path: text or an `os.PathLike` |
| `ArrowObject` | an object that streams to Arrow (`__arrow_c_stream__`), such as a data frame |
| `Source` | an `AnyPath` or an `ArrowObject` |
| `Paths` | one `Source`, or a sequence of them |
| `GeoObject` | an object with `__geo_interface__`, such as a GeoDataFrame |
| `Floats` | a NumPy array of 64-bit floats |
| `Ints`, `Indices` | a NumPy array of 64-bit integers |
| `Sectors` | a NumPy array of 8-bit unsigned integers |
| `ArrayLike` | anything that NumPy converts to an array |
| `Trajectory` | a NumPy array of location indices, in order |
| `Sequences` | a `TrajectorySet`, `Reports` or `SimulatedReports` |
| `AnyReports` | `Reports` or `SimulatedReports` |
| `RandomSource` | a `SystemRandom`, `KeyedRandom` or `SeededRandom` |
| `WordStream` | an endless stream of random 64-bit words; `next()` returns the next one |
| `Progress` | a function that is called with the number of units of work finished since its last call |
| `Make` | a function that makes a mechanism from a location set and an epsilon |
| `Choose` | how a program makes its random choices: a device draws one, the auditor enumerates all |
| `Part` | a program, and the secret that it reads |
"""  # noqa: E501

OPTIONS = """Options of [`make_mechanism`](mechanisms.md#make_mechanism) besides `epsilon` and
`locations`. `nomadp perturb` takes them as `--option NAME=VALUE`.
"""

ATTRIBUTES = ("trajectories", "lengths")
"""Public functions whose name in a docstring is nearly always that of an attribute."""

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


def signature(name: str, function: ast.FunctionDef, module: ModuleType) -> str:
    """The signature as written, on several lines if it is long."""
    inner = parameters(function.args, module)
    returned = f" -> {annotation(function.returns)}" if function.returns else ""
    text = f"{name}({', '.join(inner)}){returned}"
    if len(text) <= 88:
        return text
    lines = [f"{name}(", *(f"    {part}," for part in inner), f"){returned}"]
    return "\n".join(lines)


def parameters(arguments: ast.arguments, module: ModuleType) -> list[str]:
    """The parameters of a function without self, with the values of named defaults."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = len(positional) - len(arguments.defaults)
    defaults: list[ast.expr | None] = [*[None] * missing, *arguments.defaults]
    parts = [parameter(*pair, module) for pair in zip(positional, defaults, strict=True)]
    if positional and positional[0].arg in ("self", "cls"):
        parts = parts[1:]
    if arguments.vararg:
        parts.append("*" + parameter(arguments.vararg, None, module))
    elif arguments.kwonlyargs:
        parts.append("*")
    for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parts.append(parameter(*pair, module))
    if arguments.kwarg:
        parts.append("**" + parameter(arguments.kwarg, None, module))
    return parts


def parameter(argument: ast.arg, default: ast.expr | None, module: ModuleType) -> str:
    text = argument.arg
    if argument.annotation:
        text += f": {annotation(argument.annotation)}"
    if default is None:
        return text
    value = ast.unparse(default)
    if isinstance(default, ast.Name):  # its value tells a reader more, if it is a number
        constant = getattr(module, default.id)
        numbers = constant if isinstance(constant, tuple) else (constant,)
        if all(isinstance(number, int | float) for number in numbers):
            value = repr(constant)
    return f"{text} = {value}" if argument.annotation else f"{text}={value}"


def annotation(node: ast.expr) -> str:
    """A type as written, without the quotes of a forward reference."""
    quoted = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if quoted else ast.unparse(node)  # type: ignore[attr-defined]


@cache
def type_names() -> set[str]:
    return {kind.__name__ for kind in OBJECTS}


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
        topic = "types" if name in type_names() else topic_of().get(name)
        is_link = topic and name not in ATTRIBUTES
        return f"[`{name}`]({topic}.md#{name.lower()})" if is_link else match[0]

    # Names in bold are parameters.
    return re.sub(r"(?<![\[*])`(\w+)`", link, text)


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
    entries: dict[str, tuple[str, str]] = {}
    for base in reversed(owner.__mro__):
        if not base.__module__.startswith("nomadp"):
            continue
        body = definition(base).body
        for node in body:
            if isinstance(node, ast.AnnAssign):
                add(entries, field(node, docstring_after(node, body)))
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                add(entries, method(owner, node))
    return "\n\n".join(item(*entry) for entry in entries.values()) + "\n" if entries else ""


def add(entries: dict[str, tuple[str, str]], entry: tuple[str, str] | None) -> None:
    """Add a member by its name. If it is declared again without a text, it keeps its text."""
    if entry:
        name = re.split(r"\W", entry[0])[0]
        entries[name] = entry[0], entry[1] or entries.get(name, ("", ""))[1]


def docstring_after(node: ast.AnnAssign, body: list[ast.stmt]) -> str:
    """The string below a field, which documents it."""
    following = body[body.index(node) + 1 :][:1]
    if following and isinstance(following[0], ast.Expr):
        text = getattr(following[0].value, "value", "")
        return inspect.cleandoc(text) if isinstance(text, str) else ""
    return ""


def field(node: ast.AnnAssign, doc: str) -> tuple[str, str] | None:
    name = ast.unparse(node.target)
    kind = annotation(node.annotation)
    if name.startswith("_") or kind.startswith("ClassVar"):
        return None
    default = f" = {ast.unparse(node.value)}" if node.value is not None else ""
    if "field(" in default:
        default = ""
    return f"{name}: {kind}{default}", doc


def item(code: str, doc: str) -> str:
    """A list item. Its text is indented by four spaces, as every Markdown dialect requires."""
    text = "\n\n" + textwrap.indent(linked(doc.strip()), "    ") if doc.strip() else ""
    return f"- `{code}`{text}"


def method(owner: type, node: ast.FunctionDef) -> tuple[str, str] | None:
    doc = inspect.getdoc(getattr(owner, node.name))
    if not doc and owner in OBJECTS:
        return None
    if not doc:
        raise LookupError(f"{owner.__name__}.{node.name} is public and has no docstring")
    decorated = {ast.unparse(decorator) for decorator in node.decorator_list}
    if decorated & {"property", "cached_property"}:
        returned = annotation(node.returns) if node.returns else "Any"
        code = f"{node.name}: {returned}"
    else:
        module = importlib.import_module(getattr(owner, node.name).__module__)
        code = re.sub(r"\s+", " ", signature(node.name, node, module))
        code = code.replace("( ", "(").replace(", )", ")")
    return code, sections(EXAMPLE.sub("", doc))


def of_object(kind: type) -> str:
    doc = EXAMPLE.sub("", str(inspect.getdoc(kind))).strip()
    head = f"## {kind.__name__}\n\nFrom `{kind.__module__}`. "
    return f"{head}{linked(doc)}\n\n{of_class(kind)}"


def of_mechanism(kind: type[nomadp.Mechanism]) -> str:
    """The options of a mechanism, and their ranges."""
    text = [f"## `{kind.name}`", linked(str(inspect.getdoc(kind)))]
    entries: dict[str, tuple[str, str]] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("nomadp") and base is not nomadp.Mechanism:
            body = definition(base).body
            for node in body:
                if isinstance(node, ast.AnnAssign):
                    add(entries, field(node, docstring_after(node, body)))
    text += [item(*entry) for entry in entries.values()] or ["This mechanism has no options."]
    return "\n\n".join(text) + "\n"


def of_name(name: str) -> str:
    value = getattr(nomadp, name)
    text = [f"## {name}\n"]
    if inspect.isfunction(value):
        module = importlib.import_module(value.__module__)
        code = signature(f"nomadp.{name}", definition(value), module)  # type: ignore[arg-type]
        text.append(f"```python\n{code}\n```\n")
    elif issubclass(value, Exception):
        bases = " and ".join(f"`{base.__name__}`" for base in value.__bases__)
        text.append(f"An exception, derived from {bases}. Its `kind` is `{value.kind}`.\n")
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
    parts = [about, linked(ALIASES), *(of_object(kind) for kind in OBJECTS)]
    return "\n".join(parts).replace("](types.md#", "](#")


def pages() -> dict[str, Callable[[], str]]:
    writers: dict[str, Callable[[], str]] = {"reference/python.md": index}
    writers |= {f"reference/python/{name}.md": partial(topic, name) for name in TOPICS}
    writers |= {"reference/python/options.md": options, "reference/python/types.md": types}
    return writers
