"""The exported names of web/client, from its sources: no Node is needed to read them.

Prettier keeps the sources in one form: a declaration begins at the margin, a member two
columns in, and what ends in `{` there has a body. That is all this relies on.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CLIENT = Path(__file__).resolve().parents[2] / "web" / "client"

ABOUT = """# TypeScript

Every exported name of `nomadp-client`, from its sources;
[the client](../../web/client/README.md) says how they belong together. What is behind `#` or
`private` is not shown, nor is the body of anything.
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
    """What a program may import, by its name, and the source behind it."""
    package = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    return {
        package["name"] + key.removeprefix("."): CLIENT
        / value["types"].replace("./dist/", "src/").replace(".d.ts", ".ts")
        for key, value in package["exports"].items()
    }


def exported(source: Path) -> Iterator[Name]:
    """Every name an entry exports, and the module that declares it."""
    text = source.read_text(encoding="utf-8")
    for found in LISTED.finditer(text):
        module = beside(source, found[3])
        for part in found[2].split(","):
            if name := part.strip().removeprefix("type "):
                yield from declared_at(name, module)
    for found in WHOLE.finditer(text):
        yield Name(found[1], beside(source, found[2]))
    for found in DECLARED.finditer(text):
        yield Name(found[1], source)


def declared_at(name: str, module: Path) -> Iterator[Name]:
    """Follow a name that is only passed on."""
    if name in DECLARED.findall(module.read_text(encoding="utf-8")):
        yield Name(name, module)
    else:
        yield from (each for each in exported(module) if each.name == name)


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
    kept = []
    for line in [head, *body[1:]]:
        kept.append(line.removesuffix(" {"))
        if line.endswith("{") and not line.startswith(" "):
            break
    return "\n".join(kept) + ";"


def class_head(body: list[str]) -> list[str]:
    kept = []
    for line in body:
        kept.append(line.removeprefix("export "))
        if line.endswith("{"):
            return kept
    return kept


def members(body: list[str]) -> Iterator[str]:
    """Of a class: fields and signatures, with their comments, those that may be called."""
    lines, place = body[len(class_head(body)) : -1], 0
    while place < len(lines):
        begin = place
        while lines[place].startswith(("  /**", "   *", "  //")) and place < len(lines) - 1:
            place += 1
        signature, place = member(lines, place)
        text = "\n".join(signature)
        # A constructor that is private says so; what has no name is not for callers.
        if text.strip() and not HIDDEN.match(text):
            yield from lines[begin : place_of(lines, begin)]
            yield text


def place_of(lines: list[str], begin: int) -> int:
    """The first line after a comment."""
    while lines[begin].startswith(("  /**", "   *", "  //")):
        begin += 1
    return begin


def member(lines: list[str], begin: int) -> tuple[list[str], int]:
    """The signature of the member that begins here, and the line after all of it."""
    signature, place = [], begin
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith("  ") and line[2:3] not in ("", " ") and line.endswith("{"):
            signature.append(line.removesuffix(" {") + ";")
            while lines[place] != "  }" and lines[place] != "  };":
                place += 1
            return signature, place + 1
        # A value that is not the only sign of a field's type says nothing to a caller.
        signature.append(re.sub(r"^(  [\w ]+: .*?) = .*;$", r"\1;", line))
        if not line.strip() or line.endswith(";") or line.endswith("{}"):
            return [each.replace(" {}", ";") for each in signature], place
    return signature, place


def comment_before(lines: list[str], place: int) -> str:
    last = place
    while place > 0 and lines[place - 1].startswith(("/**", " *")):
        place -= 1
    text = "\n".join(lines[place:last])
    return re.sub(r"^/\*\* ?|^ \* ?|\s*\*/$", "", text, flags=re.MULTILINE).strip()


def of_name(name: str, module: Path) -> str:
    if name == module.stem:
        text = module.read_text(encoding="utf-8")
        said, code = "", "\n".join(re.findall(r"^export (const \w+.*?;)$", text, re.MULTILINE))
    else:
        said, code = declaration(name, module)
    return "\n".join(
        filter(None, [f"### {name}\n", said and said + "\n", f"```ts\n{code}\n```\n"])
    )


def page() -> str:
    parts = [ABOUT]
    for entry, source in entries().items():
        parts.append(f"## `{entry}`\n")
        parts += [of_name(*name) for name in exported(source)]
    return "\n".join(parts)
