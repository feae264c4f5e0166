"""docs/reference/typescript.md: the exported names of web/client, from its sources.

This needs no Node, because Prettier keeps the sources in one format: declarations begin at the
margin and members are indented by two spaces, and a body begins with `{` at the end of a line.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CLIENT = Path(__file__).resolve().parents[2] / "web" / "client"

ABOUT = """# TypeScript

Every exported name of `nomadp-client`. [The client's guide](../../web/client/README.md)
explains how to use them. Private members and bodies are not shown.
"""

LISTED = re.compile(r"^export (type )?\{(.*?)\} from \"(.+?)\";", re.DOTALL | re.MULTILINE)
WHOLE = re.compile(r"^export \* as (\w+) from \"(.+?)\";", re.MULTILINE)
DECLARED = re.compile(
    r"^export (?:declare )?(?:abstract )?(?:async )?"
    r"(?:class|function\*?|const|interface|type|enum) (\w+)",
    re.MULTILINE,
)
HIDDEN = re.compile(r"^  (?:(?:readonly |static |async |override )*[#_]|private |protected )")


class Name(NamedTuple):
    name: str
    module: Path


def entries() -> dict[str, Path]:
    """The source file of each entry point that a program can import."""
    package = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    return {
        package["name"] + key.removeprefix("."): CLIENT
        / value["types"].replace("./dist/", "src/").replace(".d.ts", ".ts")
        for key, value in package["exports"].items()
    }


def exported(source: Path) -> Iterator[Name]:
    """Every name that an entry point exports, and the module that declares it."""
    text = source.read_text(encoding="utf-8")
    for match in LISTED.finditer(text):
        module = beside(source, match[3])
        for part in match[2].split(","):
            if name := part.strip().removeprefix("type "):
                yield from declared_at(name, module)
    for match in WHOLE.finditer(text):
        yield Name(match[1], beside(source, match[2]))
    for match in DECLARED.finditer(text):
        yield Name(match[1], source)


def declared_at(name: str, module: Path) -> Iterator[Name]:
    """The module that declares a name, found by following re-exports."""
    if name in DECLARED.findall(module.read_text(encoding="utf-8")):
        yield Name(name, module)
    else:
        yield from (entry for entry in exported(module) if entry.name == name)


def beside(source: Path, target: str) -> Path:
    return (source.parent / target).resolve().with_suffix(".ts")


def declaration(name: str, module: Path) -> tuple[str, str]:
    """The doc comment of a name, and its declaration without bodies."""
    lines = module.read_text(encoding="utf-8").splitlines()
    starts = (k for k, line in enumerate(lines) if (m := DECLARED.match(line)) and m[1] == name)
    begin = next(starts)
    last = begin
    while not ends(lines, begin, last):
        last += 1
    body = lines[begin : last + 1]
    return comment_before(lines, begin), shown(body)


def ends(lines: list[str], begin: int, last: int) -> bool:
    line = lines[last]
    at_margin = not line.startswith((" ", ")")) or last == begin
    if last == begin:
        return line.endswith(";")
    return (
        line.rstrip() in ("}", "};", "]);", "] as const;", ");", "} as const;", "];")
        or (at_margin and line.endswith(";"))
        or (line.endswith(";") and lines[begin].endswith("="))
        or re.fullmatch(r"\) => .*;", line) is not None
    )


def shown(body: list[str]) -> str:
    head = body[0].removeprefix("export ")
    if head.startswith(("class", "abstract class")):
        return "\n".join([*class_head(body), *members(body), "}"])
    if head.startswith(("interface", "type", "enum")):
        return "\n".join([head, *body[1:]])
    if head.startswith("const"):
        value = "\n".join([head, *body[1:]])
        return value if len(body) <= 12 else head.split("=")[0].strip() + ";"
    lines = []
    for line in [head, *body[1:]]:
        lines.append(line.removesuffix(" {"))
        if line.endswith("{") and not line.startswith(" "):
            break
    return "\n".join(lines) + ";"


def class_head(body: list[str]) -> list[str]:
    lines = []
    for line in body:
        lines.append(line.removeprefix("export "))
        if line.endswith("{"):
            return lines
    return lines


def members(body: list[str]) -> Iterator[str]:
    """The public fields and signatures of a class, with their comments."""
    lines, place = body[len(class_head(body)) : -1], 0
    while place < len(lines):
        begin = place
        while lines[place].startswith(("  /**", "   *", "  //")) and place < len(lines) - 1:
            place += 1
        signature, place = member(lines, place)
        text = "\n".join(signature)
        # Skip private members, and lines without a declaration.
        if text.strip() and not HIDDEN.match(text):
            yield from lines[begin : place_of(lines, begin)]
            yield text


def place_of(lines: list[str], begin: int) -> int:
    """The first line after a comment."""
    while lines[begin].startswith(("  /**", "   *", "  //")):
        begin += 1
    return begin


def member(lines: list[str], begin: int) -> tuple[list[str], int]:
    """The signature of the member that begins here, and the index of the line after it."""
    signature, place = [], begin
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith("  ") and line[2:3] not in ("", " ") and line.endswith("{"):
            signature.append(line.removesuffix(" {").removesuffix(" =") + ";")
            while lines[place] != "  }" and lines[place] != "  };":
                place += 1
            return signature, place + 1
        if line.endswith("=>"):  # a field that is a function: its body ends at an empty line
            while place < len(lines) and lines[place].strip():
                place += 1
            return [line], place
        # Drop the value of a field whose type is declared.
        signature.append(re.sub(r"^(  [\w ]+: .*?) = .*;$", r"\1;", line))
        if not line.strip() or line.endswith(";") or line.endswith("{}"):
            return [part.replace(" {}", ";") for part in signature], place
    return signature, place


def comment_before(lines: list[str], place: int) -> str:
    last = place
    while place > 0 and lines[place - 1].startswith(("/**", " *")):
        place -= 1
    text = "\n".join(lines[place:last])
    text = re.sub(r"^/\*\* ?|^ \* ?|\s*\*/$", "", text, flags=re.MULTILINE).strip()
    return re.sub(r"^@throws (\w+)", r"Throws `\1`", text, flags=re.MULTILINE)


def module_comment(text: str) -> str:
    """The first comment of a module, if it has one line."""
    match = re.match(r"/\*\* (.*) \*/", text)
    return match[1] if match else ""


def of_name(name: str, module: Path) -> str:
    if name == module.stem:
        text = module.read_text(encoding="utf-8")
        parts = re.findall(r"^(/\*\* .* \*/\n)?export (const \w+.*?;)$", text, re.MULTILINE)
        doc, code = module_comment(text), "\n".join(map("".join, parts))
    else:
        doc, code = declaration(name, module)
    return "\n".join(
        filter(None, [f"### {name}\n", doc and doc + "\n", f"```ts\n{code}\n```\n"])
    )


def page() -> str:
    parts = [ABOUT]
    for entry, source in entries().items():
        parts.append(f"## `{entry}`\n")
        parts += [of_name(*name) for name in exported(source)]
    return "\n".join(parts)
